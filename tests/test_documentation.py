"""The documentation: a place for every page, no broken link, nothing loaded from outside, and blocks that are true."""

from __future__ import annotations

import ast
import importlib
import json
import re
import shlex
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
import yaml

from agent.cli.app import MOVED, LazyCommand, app
from evals.commands import register
from support.browser import chromium, window

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    p.relative_to(ROOT).as_posix()
    for p in [*(ROOT / "docs").glob("*.md"), *map(ROOT.joinpath, ("README.md", "CONTRIBUTING.md", "SECURITY.md"))]
)
BLOCK = re.compile(r"^( *)```([\w{}-]*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`(anamnesis [a-z][^`]*)`")
STAND_IN = re.compile(r"[A-Z][A-Z_0-9.]*|\.\.\.")  # ID, FILE, N: to be replaced by the reader
CHAPTERS = ["Start", "Use", "Trust", "Methods", "Operate", "Develop"]


class Block(NamedTuple):
    """A block of a page."""

    page: str
    language: str
    text: str


def blocks() -> Iterator[Block]:
    """Every fenced block of the documentation."""
    for page in PAGES:
        for _, language, text in BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
            yield Block(page, language, text)


def command_lines() -> Iterator[tuple[str, str]]:
    """Page and arguments of each call of `anamnesis` in a block; a remark behind it is not part of it."""
    for block in blocks():
        if block.language not in ("", "bash"):
            continue
        for line in block.text.replace("\\\n", " ").splitlines():
            found = re.match(r"\s*(?:[A-Z_0-9]+=\S+ )*anamnesis ((?![-:])[a-z].*)", line)
            if found and not re.match(r"  +", line):
                yield block.page, re.split(r" {3,}|  #| [|<>] |;   ", found[1])[0]


def inline_commands() -> Iterator[tuple[str, str]]:
    """Page and arguments of each call that a sentence names; it may leave out what it does not speak of."""
    for page in PAGES:
        for call in INLINE.findall((ROOT / page).read_text(encoding="utf-8")):
            yield page, re.split(r" [|<>] ", call.removeprefix("anamnesis "))[0]


@cache
def top() -> Any:
    """The command with all that `evals` adds."""
    register(app)
    return typer.main.get_command(app)


def mistake_in(arguments: str, *, whole: bool) -> str:
    """What is wrong with the arguments of a call, "" when nothing is.

    Args:
        whole: nothing that the command needs may be missing.
    """
    words = shlex.split(re.sub(r"[\[\]]", "", arguments))
    command, named = top(), "anamnesis"
    while words and hasattr(command, "get_command") and not words[0].startswith("-"):
        name = words.pop(0).rstrip(",")
        if command is top() and not whole and name in MOVED:  # a sentence may use an old name as long as it works
            name, *rest = MOVED[name].split()
            words[:0] = rest
        found = command.get_command(None, name)
        if found is None:
            return f"{named} has no command {name}" + (", it was moved" if name in MOVED else "")
        command, named = found.imported() if isinstance(found, LazyCommand) else found, f"{named} {name}"
    context = command.context_class(command, info_name=named, resilient_parsing=not whole)
    try:
        values, _, _ = command.make_parser(context).parse_args(list(words))
        for parameter in command.params:
            _check(parameter, context, values.get(parameter.name), whole=whole)
    except Exception as error:  # noqa: BLE001 - click's own, by any of its copies
        return f"{named}: {getattr(error, 'message', error)}"
    return ""


def _check(parameter: Any, context: Any, value: Any, *, whole: bool) -> None:
    given = [v for v in (value if isinstance(value, list | tuple) else [value]) if v is not None]
    if whole and parameter.required and not given and not hasattr(context.command, "get_command"):
        raise ValueError(f"{parameter.name} is missing")
    if given and not any(STAND_IN.fullmatch(str(v)) or "|" in str(v) or "..." in str(v) for v in given):
        parameter.process_value(context, value)


def test_every_command_of_a_block_exists_with_its_options_and_values() -> None:
    calls = list(command_lines())
    assert len(calls) > 80
    wrong = [(page, call, mistake_in(call, whole=True)) for page, call in calls]
    assert [row for row in wrong if row[2]] == []


def test_every_command_that_a_sentence_names_exists_with_its_options() -> None:
    calls = list(inline_commands())
    assert len(calls) > 60
    wrong = [(page, call, mistake_in(call, whole=False)) for page, call in calls]
    assert [row for row in wrong if row[2]] == []


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("library ad x", "no command ad"),
        ("bench", "was moved"),
        ("ask hello --sesion x", "sesion"),
        ("sessions export", "session is missing"),
        ("sessions export ID --format pdf", "pdf"),
        ("search x --limit many", "valid integer"),
        ("sessions export ID --turn N --format ris", ""),
    ],
)
def test_a_command_that_there_is_not_is_told(call: str, told: str) -> None:
    assert told in mistake_in(call, whole=True)
    assert bool(told) == bool(mistake_in(call, whole=True))


def test_blocks_of_data_and_of_python_are_sound() -> None:
    for block in blocks():
        if block.language == "yaml":
            list(yaml.safe_load_all(block.text))
        elif block.language == "json":
            for line in [block.text] if block.text.count("\n{") == 0 else block.text.splitlines():
                json.loads(line)
        elif block.language == "python":
            for node in ast.walk(ast.parse(block.text)):
                if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] in (
                    "agent",
                    "anamnesis",
                    "tools",
                ):
                    module = importlib.import_module(str(node.module))
                    assert [a.name for a in node.names if not hasattr(module, a.name)] == [], block.page


def test_every_task_of_make_that_a_block_names_is_there() -> None:
    tasks = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    named = {t for b in blocks() for t in re.findall(r"^\s*(?:[A-Z_]+=\S+ )*make ([a-z-]+)", b.text, flags=re.M)}
    assert named
    assert named <= tasks


def test_every_page_stands_once_in_a_chapter() -> None:
    index = (ROOT / "docs" / "index.md").read_text()
    listed = re.findall(r"```\{toctree\}\n:caption: (.*?)\n\n(.*?)```", index, flags=re.DOTALL)
    assert [caption for caption, _ in listed] == CHAPTERS
    names = [re.sub(r".*<(.*)>", r"\1", line) for _, lines in listed for line in lines.split("\n") if line]
    pages = [name for name in names if not name.startswith("../")]
    assert sorted(pages) == sorted(Path(p).stem for p in PAGES if p.startswith("docs/") and p != "docs/index.md")


class Loads(HTMLParser):
    """Addresses that a page loads when it is opened: scripts, styles, images, frames; a link is not one."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the element loads."""
        values = dict(attrs)
        rel = values.get("rel") or ""
        if tag != "a" and not (tag == "link" and rel in ("canonical", "next", "prev", "index", "search", "author")):
            self.found += [v for n, v in attrs if v and n in ("src", "href", "srcset", "data", "poster", "action")]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly; skips where Sphinx or its theme is not installed."""
    for name in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(name)
    from sphinx.cmd.build import build_main

    place = tmp_path_factory.mktemp("documentation")
    told = place / "warnings"
    folders = ["-c", str(ROOT / "docs"), "-d", str(place / "trees"), str(ROOT), str(place / "site")]
    assert (build_main(["-q", "-E", "-w", str(told), *folders]), told.read_text()) == (0, "")
    return place / "site"


def test_the_site_names_nothing_to_load_from_outside(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > len(PAGES)
    for page in pages:
        loads = Loads()
        loads.feed(page.read_text(encoding="utf-8"))
        assert [a for a in loads.found if re.match(r"(?:[a-z]+:)?//", a)] == [], page.name
    for style in site.rglob("*.css"):
        assert re.findall(r"(?:url\(|@import\s*)['\"]?\s*(?:https?:)?//[^)]*", style.read_text(encoding="utf-8")) == []


def test_a_browser_asks_for_nothing_outside_and_finds_a_page_by_a_word(site: Path) -> None:
    with chromium() as running, window(running) as opened:
        for page in ("docs/index.html", "docs/answer.html", "README.html"):
            opened.page.goto(f"file://{site}/{page}")
        assert opened.errors == []
        opened.page.goto(f"file://{site}/search.html?q=colchicine")  # from a file it shows no excerpts, which is told
        opened.page.wait_for_selector("#search-results li a")
        assert any(
            "exports.html" in a.get_attribute("href") for a in opened.page.query_selector_all("#search-results a")
        )
        assert opened.outside() == []
