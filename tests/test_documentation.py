"""The documentation: a place for every page, no broken link, nothing loaded from outside, and blocks that are true."""

from __future__ import annotations

import ast
import gzip
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
from typer.testing import CliRunner, Result

from agent.cli.app import MOVED, LazyCommand, app
from evals.commands import register
from support.browser import chromium, window
from support.homes import linked
from support.mirror_xml import EXAMPLE

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    p.relative_to(ROOT).as_posix()
    for p in [*(ROOT / "docs").glob("*.md"), *map(ROOT.joinpath, ("README.md", "CONTRIBUTING.md", "SECURITY.md"))]
)
BLOCK = re.compile(r"^( *)```([\w{}-]*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`(anamnesis [a-z][^`]*)`")
STAND_IN = re.compile(r"[A-Z][A-Z_0-9.]*|\.\.\.")  # ID, FILE, N: to be replaced by the reader
CHAPTERS = ["Start", "Use", "Trust", "Methods", "Operate", "Develop"]
TRANSCRIPT = re.compile(r'`anamnesis (ask "[^`]*")` with PubMed switched off:\n\n```\n(.*?)```', re.DOTALL)
VARIES = re.compile(r"\d{4}-\d\d-\d\d|[0-9a-f]{16}/1|\d+\.\d+ s")  # days, ids and times of a transcript

LONGEST = 30  # words of a sentence
STOP = re.compile(r'(?<=[.!?:;])\s+(?=[A-Z"“(])|:\s')

# What is run of the blocks, in this order in one data folder, and a part of what it prints. ID and RUN are those of
# the README's transcript, which comes first and whose session is gone on with.
RUN = {
    "chat --session ID": "Nitrates such as glyceryl trinitrate",
    "chat --ask": "Describe a patient's case or ask a medical question",
    "sessions": "He is on sildenafil",
    "sessions show ID": "2 > Why?",
    'sessions rename ID "Mrs A, cough"': "is now called: Mrs A, cough",
    "sessions export ID --format markdown --out a.md": "",
    "sessions export ID --format json --out a.json --strategies searches/": "0 search strategies in searches",
    "sessions export ID --turn 2 --format ris --out a.ris": "2 references.",
    "sessions export ID --format ris --out session.ris": "2 references.",
    "sessions export ID --turn 2 --format csl-json --out answer.json": "2 references.",
    "sessions export ID --turn 1 --format docx --out answer.docx": "",
    'sessions review ID 2 --verdict corrected --correction "..." --by "Dr B"': "corrected by Dr B",
    "sessions changes ID": "none has changed",
    "trace": "verdict no",
    "trace RUN": "completeness_gate",
    "trace RUN --json": '"kind": "run"',
    "trace RUN --html run.html": "It holds patient text",
    "trace RUN --html two.html --beside RUN2": "It holds patient text",
    "sessions expire --days 90": "",
    "sessions delete ID": "is deleted",
    "calculate": "CKD-EPI 2021",
    'calculate egfr creatinine="140 µmol/L" age=60 sex=male': "50 mL/min/1.73 m²",
    'calculate curb-65 urea="9 mmol/L" --case "A confused 70-year-old man, RR 32, BP 85/50"': "CURB-65: 5 points",
    "calculate cha2ds2-vasc --case - --json": '"value": 4.0',
    'ask "What is the CHA2DS2-VASc of a 76-year-old woman with hypertension and diabetes?"': "5 to 9 with what",
    'ask "Does early mobilisation help after a stroke?" --references stroke.ris': "1 reference.",
    "mirror import pubmed26n*.xml.gz": "2 records in the mirror",
    "mirror status": "2020-03-06",
    "mirror export all.jsonl.gz": "2 records in all.jsonl.gz",
    'search "statins in dementia" --report prisma.md --references refs.ris': "dementia",
    'search "colchicine in pericarditis" --references found.bib': "pericarditis",
    "completion bash": "complete",
    "completion zsh": "compdef",
    "completion fish": "complete --command anamnesis",
    "index status": "No collection was built",
    "index embeddings status": "No vectors were imported",
    'icd10 "1. acute MI; 2. T2DM, hypertension. No evidence of PE. s/p stroke"': "I21",
    "kg show GERD": "K21.9",
    "kg stats": "650  L3 diseases",
    "knowledge list": "openfda",
    "knowledge show openfda": "US Food and Drug Administration",
    "library list": "There are no documents of your own yet",
    "library check": "There are no documents of your own yet",
    "doctor": "third-party telemetry: off",
    'dev reader read "Is amoxicillin safe in glandular fever?" '
    '"Amoxicillin and ampicillin are avoided in glandular fever."': "refutes 0.9",
    'keys create "Dr Adams" --scope ask --scope review --expires 90d': "ana_",
}
PYTHON_RUN = {"README.md": "smaller trials", "docs/python.md": "", "docs/calculators.md": "Centor score: 2 points"}
TYPED = {
    "chat --session ID": "Why?\n",
    "chat --ask": "Hello\n",
    "calculate cha2ds2-vasc --case - --json": "A 76-year-old woman with hypertension",
}
# What is only parsed, and why: a test that runs the command in its own way, or what it would need.
PARSED = {
    r"serve( --.*)?|mcp( --.*)?|mirror serve": "serves until it is stopped",
    r"library (add|remove) ~.*": "tests/agent/test_library_command.py",
    r"knowledge (add|update|remove) .*": "tests/agent/test_knowledge_command.py",
    r"index (build|search|delete) .*": "tests/agent/test_index_command.py",
    r"questions .*": "tests/agent/test_questions_command.py",
    r"kg (show( --case .*)?|check.*|export .*|import .*|build .*)": "tests/agent/test_kg_command.py",
    r"search (\"Does colchicine .*|'\"atrial .*|\"PMID: .*|--rerun .*)": "tests/agent/test_search_command.py",
    r"sessions changes ID --turn 2 .*": "tests/agent/test_answer_changes.py",
    r"dev passages FILE .*": "tests/agent/test_passages_command.py",
    r"icd10 (TEXT|\"慢).*": "tests/agent/test_icd10_command.py",
    r'(ask|search) "\.\.\.".*': "its message is the reader's",
    r"mirror import desc2026\.xml|index embeddings import FOLDER": "its files are NLM's",
    r'ask "Do SGLT2 inhibitors .*': "needs a built collection of PubMed",
    r'ask "Do antibiotics help .*': "needs a language model",
    r"eval .*|dev gate .*|dev reader (?!read ).*": "takes minutes to hours, or data and labels of the reader's",
}


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


def told(page: str) -> Iterator[str]:
    """The sentences of a page: its blocks and tables left out, a piece of code and what a link shows as one word."""
    text = BLOCK.sub("", (ROOT / page).read_text(encoding="utf-8"))
    text = re.sub(r"`[^`]*`", "x", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text))
    for part in re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.)\s", text):
        if not part.lstrip().startswith(("|", "#")):
            yield from STOP.split(" ".join(part.split()))


@pytest.mark.parametrize("page", PAGES)
def test_no_sentence_is_longer_than_a_reader_holds(page: str) -> None:
    assert [sentence for sentence in told(page) if len(sentence.split()) > LONGEST] == []


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


@pytest.fixture(scope="module")
def home(built_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that is the data folder and where commands run, PubMed off, with the file that they import."""
    folder = linked(built_home, tmp_path_factory.mktemp("documented") / "home")
    (folder / "pubmed26n0001.xml.gz").write_bytes(gzip.compress(EXAMPLE))
    with pytest.MonkeyPatch.context() as set_for_it:
        set_for_it.chdir(folder)
        set_for_it.setenv("ANAMNESIS_HOME", str(folder))
        set_for_it.setenv("ANAMNESIS_LITERATURE__LIVE", "off")
        yield folder


def called(call: str, home: Path, typed: str = "") -> Result:
    """A command run in this process, with what is typed; a search is of the mirror in the data folder."""
    top()
    words = [str(f) for word in shlex.split(call) for f in (sorted(Path().glob(word)) if "*" in word else [word])]
    mirror = {"ANAMNESIS_LITERATURE__MIRROR": str(home / "mirror")} if words[0] == "search" else None
    return CliRunner().invoke(app, words, input=typed, env=mirror)


@pytest.fixture(scope="module")
def printed(home: Path) -> dict[str, Result]:
    """Every call that is run, in order."""
    asked, _ = transcript()
    first = called(asked, home)
    ((run, session),) = re.findall(r"run (([0-9a-f]{16})/1)$", first.stdout, re.MULTILINE)
    stand_ins = {"ID": session, "RUN": run, "RUN2": f"{session}/2"}
    filled = {c: re.sub(r"\b(ID|RUN2?)\b", lambda m: stand_ins[m[1]], c) for c in RUN}
    return {asked: first, **{c: called(filled[c], home, TYPED.get(c, "")) for c in RUN}}


def transcript() -> tuple[str, str]:
    """The README's example: the call, and what it says is printed."""
    found = TRANSCRIPT.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert found is not None
    return found[1], found[2]


def test_the_transcript_of_the_readme_is_what_is_printed(printed: dict[str, Result]) -> None:
    asked, told = transcript()
    plain = (" ".join(VARIES.sub("_", text).split()) for text in (printed[asked].stdout, told))
    assert next(plain) == next(plain)


@pytest.mark.parametrize("call", RUN)
def test_a_command_of_a_block_does_what_it_says(call: str, printed: dict[str, Result]) -> None:
    done = printed[call]
    assert done.exit_code == 0, (done.output, done.exception)
    assert RUN[call] in done.stdout + done.stderr
    for written in re.findall(r"--(?:out|html|report|references|export) (\S+\.\w+)", call):
        assert Path(written).stat().st_size > 0


@pytest.mark.parametrize("page", PYTHON_RUN)
@pytest.mark.usefixtures("home")
def test_a_block_of_python_runs_as_it_stands(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(next(b.text for b in blocks() if (b.page, b.language) == (page, "python")), names)  # noqa: S102 - the page's own
    if page == "docs/python.md":
        names["agent"].close()
        assert names["answer"].statements
    assert PYTHON_RUN[page] in capsys.readouterr().out


def test_every_command_of_a_block_is_run_or_says_why_not() -> None:
    calls = {call.strip() for _, call in command_lines()}
    reasons = {call: [why for pattern, why in PARSED.items() if re.fullmatch(pattern, call)] for call in calls}
    assert {c: r for c, r in reasons.items() if len(r) != (c not in RUN)} == {}
    assert set(RUN) <= calls
    assert [p for p in PARSED if not any(re.fullmatch(p, c) for c in calls)] == []
    assert [w for w in PARSED.values() if w.startswith("tests/") and not (ROOT / w).is_file()] == []


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
