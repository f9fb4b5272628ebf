"""Nothing that rules or networks are made from repeats a text that they are judged on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
UNSEEN = ROOT / "evals" / "data" / "unseen"
EXAMPLES = (
    ROOT / "tools" / "reading" / "examples",
    ROOT / "tools" / "reading" / "known",
    ROOT / "graphs" / "triage" / "examples",
    ROOT / "tools" / "knowledge_graph" / "starter" / "wordings",
)
OTHERS = ("strangers", "effects/medevidence_dev.jsonl", "effects/kqa_dev.jsonl", "medquad/liveqa_dev.jsonl")
WORD, HAN = re.compile(r"\w+"), re.compile(r"[\u4e00-\u9fff]")
SHORTEST = 5  # words, or twice as many Chinese characters: shorter ones coincide ("does it itch")
# What is asked, said or told in a row of others; ids, labels, names and reasons are not.
SAID = frozenset("text q question messages lay clinical zh say title message summary nist_paraphrase".split())
PARTS = frozenset({"marks", "findings", "changes", "facts"})  # of a row of ours: cut out of its text


def strings(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key.casefold(), value
    for name, part in value.items() if isinstance(value, dict) else ():
        yield from strings(part, name)
    for part in value if isinstance(value, list) else ():
        yield from strings(part, key)


def normal(text: str) -> str:
    """The words of a text; "" for a short one."""
    words = " ".join(WORD.findall(text.casefold()))
    return words if len(words.split()) >= SHORTEST or len(HAN.findall(words)) >= 2 * SHORTEST else ""


def rows(path: Path) -> Iterator[Any]:
    yield from (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip())


@pytest.fixture(scope="module")
def ours() -> dict[str, str]:
    """Each text of the examples, normalised, with its file."""
    found = {
        normal(text): str(path.relative_to(ROOT))
        for folder in EXAMPLES
        for path in sorted(folder.glob("*.jsonl"))
        for row in rows(path)
        for key, text in strings(row)
        if key not in PARTS
    }
    assert len(found) > 50_000
    return {text: file for text, file in found.items() if text}


def repeated(ours: dict[str, str], paths: list[Path]) -> list[str]:
    """Which files of ours repeat which of theirs; their texts are not told."""
    assert paths
    said = {(path.name, normal(text)) for path in paths for row in rows(path) for k, text in strings(row) if k in SAID}
    assert len(said) > len(paths)
    return sorted(f"{ours[text]} repeats {name}" for name, text in said if text in ours)


def test_no_example_repeats_a_text_that_nobody_who_wrote_it_saw(ours: dict[str, str]) -> None:
    assert repeated(ours, sorted(UNSEEN.glob("*.jsonl"))) == []


@pytest.mark.parametrize("name", OTHERS)
def test_no_example_repeats_a_text_of_others(ours: dict[str, str], name: str) -> None:
    path = DATA / name
    if not path.exists():
        pytest.skip("the evaluation data are not beside this checkout (../shared/data)")
    assert repeated(ours, sorted(path.glob("*.jsonl")) if path.is_dir() else [path]) == []
