"""Every pattern that looks through a text takes about twice as long for twice the text, whatever it is made of."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import agent
import graphs
import prompts
import tools
from tools.text.sentences import without_gaps

ROOT = Path(__file__).parent.parent
ROOMS: tuple[ModuleType, ...] = (agent, graphs, prompts, tools)
DEEP = 5  # layers of mappings and lists that hold patterns
LOADS = {"_opened", "_chat", "library", "answered"}  # cached functions that open an agent, a model, all pages
FRAGMENTS = [
    *(
        "1",
        "(",
        "- ",
        "a",
        "A",
        "1.",
        "a-",
        "@a",
        "a.b ",
        "[1] ",
        "<a ",
        '"a',
        "a:b;",
        "--",
        ", and ",
        "not ",
        "我胸口疼，",
    ),
    *("SOB HTN DM2 ", "Na 126 K 5.9 ", "BP 120/80, HR 90; ", "(AB) ", "no fever or chills and ", "He has chest pain. "),
    *(
        "头痛，发烧，",
        "can I take aspirin with warfarin ",
        " of the",
        "p = 0.0",
        " (95% CI 1.1-1.2) ",
        "http://a",
        "12 mg ",
    ),
]
THROUGH = ("search", "finditer", "findall", "sub", "split")
FEW = 1  # of them at every run of the tests; `make test-slow` goes through all
SHORT, LONG = 1_000, 2_000
GROWTH, LEAST, MOST = 3.0, 0.001, 0.3  # by the square gives four; seconds below which growth is not told; at 20,000


@cache
def patterns() -> dict[str, re.Pattern[str]]:
    """Every pattern of the rooms that something searches with, by where it stands."""
    found: dict[tuple[str, int], tuple[str, re.Pattern[str]]] = {}
    for module in _modules():
        for name, value in list(vars(module).items()):
            for place, pattern in _held(_made(module, name, value), name, DEEP):
                if _searches(module.__name__, place):
                    found.setdefault((pattern.pattern, pattern.flags), (f"{module.__name__}.{place}", pattern))
    return dict(found.values())


def _modules() -> Iterator[ModuleType]:
    for room in ROOMS:
        for info in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            try:
                yield importlib.import_module(info.name)
            except ImportError:  # an extra that is not installed
                continue


def _made(module: ModuleType, name: str, value: Any) -> Any:
    """What a cached function without arguments gives, the value itself otherwise."""
    if not hasattr(value, "cache_info") or value.__module__ != module.__name__ or name in LOADS:
        return value
    needed = [p for p in inspect.signature(value).parameters.values() if p.default is p.empty]
    return value if needed else value()


def _held(value: Any, place: str, depth: int) -> Iterator[tuple[str, re.Pattern[str]]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield place, value
    elif depth and isinstance(value, dict):
        for key, item in value.items():
            yield from _held(item, f"{place}.{key}", depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _held(item, place, depth - 1)


@cache
def _used(module: str) -> tuple[set[str], set[str]]:
    """Names of patterns, and keys of mappings of them, that a module holds against the head of a text, and those that
    it looks for all through one; of another module's those that it alone uses."""
    source = inspect.getsource(importlib.import_module(module))
    used = re.findall(r"(\w+)(?:\(\))?(?:\[\"([\w-]+)\"\])?\.(\w+)\(", source)
    head = {key or name for name, key, way in used if way in ("match", "fullmatch")}
    return head, {key or name for name, key, way in used if way in THROUGH}


@cache
def _parts() -> set[str]:
    """Names of expressions that others are made of."""
    files = [path for room in ROOMS for path in (ROOT / room.__name__).rglob("*.yaml")]
    return {name for path in files for name in re.findall(r"<(\w+)>", path.read_text(encoding="utf-8"))}


def _searches(module: str, place: str) -> bool:
    """Whether a pattern may be looked for all through a text: not one that only the head of a text is held against, nor
    a part of others."""
    head, through = _used(module)
    last = place.rpartition(".")[2]
    return last in through or (last not in head and last not in _parts())


def _seconds(pattern: re.Pattern[str], fragment: str, most: int) -> float:
    text = without_gaps(("pain" + fragment * most)[: most - 5] + " pain!")
    started = time.process_time()
    for _ in pattern.finditer(text):
        pass
    return time.process_time() - started


def slow(fragment: str, seconds: Callable[[re.Pattern[str], str, int], float] = _seconds) -> list[str]:
    """The patterns whose time on texts of a fragment grows by the square or worse, and matters at 20,000 characters."""
    found = []
    for place, pattern in patterns().items():
        short = seconds(pattern, fragment, SHORT)
        if short < LEAST:
            continue
        ratio = min(seconds(pattern, fragment, LONG) / seconds(pattern, fragment, SHORT) for _ in range(3))
        if ratio > GROWTH and short * (20_000 / SHORT) ** 2 > MOST:
            found.append(place)
    return found


@pytest.mark.parametrize(
    "fragment", [pytest.param(f, marks=() if n < FEW else pytest.mark.slow) for n, f in enumerate(FRAGMENTS)]
)
def test_no_pattern_takes_four_times_as_long_for_twice_the_text(fragment: str) -> None:
    assert slow(fragment) == []


def test_patterns_are_found_and_a_bad_one_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(patterns()) > 500
    bad = re.compile(r"\d+x")
    monkeypatch.setitem(patterns(), "here.BAD", bad)
    assert slow("1", lambda p, f, most: 1e-8 * most**2 if p is bad else 1e-6 * most) == ["here.BAD"]
    assert _seconds(bad, "1", LONG) > 0.0
