"""The trace page: whole, escaped, the same each time, with every quote, and beside another run; damage is told."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from agent.agent import Agent
from agent.cli.trace import trace, tree_of
from agent.settings import Settings
from agent.trace_page.evidence import Quote, pieces
from agent.trace_page.happened import happened
from agent.trace_page.machine import LAYOUT, drawing, edges
from agent.trace_page.page import page, run_of
from graphs.answering.contract import Answer
from prompts.errors import DataError, InputError
from support.machine_parts import Scripted, SearchTool, parts
from support.traces import read_trace
from tools.evidence import Citation, Evidence, Origin
from tools.store import ContentStore

NASTY = "<script>alert(1)</script> & \"x\" 'y' {{ 7*7 }} <img src=http://example.org/a.png onerror=alert(2)>"
CASE = "case: a cough for three days <b>bold</b>"


class NastyTool(SearchTool):
    """Finds what is written to break a page."""

    async def run(self, arguments: Any, context: Any) -> Any:
        artifact = await super().run(arguments, context)
        text = f"{arguments.query}: {NASTY}"
        bad = Evidence(
            id=f"library:nasty-{arguments.query.replace(' ', '-')}@0-{len(text)}",
            text=text,
            title=NASTY,
            kind="passage",
            origin=Origin.RETRIEVED,
        )
        rung = {"step": "rung", "rung": "strict", "query": f"{arguments.query}[tiab]", "why": NASTY, "count": 12}
        rest = {"ids": ["1", "2"], "seconds": 0.1, "translation": "", "warnings": [], "next": "stop: 12 found"}
        return artifact.model_copy(update={"evidence": [*artifact.evidence, bad], "strategy": [rung | rest]})


class Tags(HTMLParser):
    """Collects tags with their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Answer, Answer]:
    """Two runs of one case with a report, of which the second searches for something else."""
    home = tmp_path_factory.mktemp("home")
    answers = []
    for plan in ({1: ["croup"], 2: ["croup treatment"]}, {1: ["croup", "asthma"]}):
        script = Scripted(plan_of=plan)
        with Agent(Settings(home=home), parts=parts(script, NastyTool(log=script.log))) as agent:
            answers.append(agent.ask(CASE, report=True))
    return home, answers[0], answers[1]


def shown(home: Path, runs: Sequence[str], events: list[dict[str, Any]] | None = None) -> str:
    store = ContentStore(home / "texts.sqlite")
    try:
        made = [
            run_of(run, events or read_trace(home / "traces", run), store, prefix)
            for run, prefix in zip(runs, ("a-", "b-"), strict=False)
        ]
        return page(made[0], made[1] if len(made) > 1 else None)
    finally:
        store.close()


def tags(text: str) -> list[tuple[str, dict[str, str | None]]]:
    reader = Tags()
    reader.feed(text)
    return reader.seen


def test_no_text_becomes_markup_and_nothing_is_loaded_or_run(ran: tuple[Path, Answer, Answer]) -> None:
    text = shown(ran[0], [ran[1].run, ran[2].run])
    seen = tags(text)
    assert {"script", "img", "b", "iframe", "link", "object"} & {t for t, _ in seen} <= {"b"}
    assert not [a for _, attrs in seen for a in attrs if a.startswith("on") or a == "src"]
    assert all((attrs["href"] or "").startswith("#") for _, attrs in seen if "href" in attrs)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "{{ 7*7 }}" in unescape(text)
    assert "&lt;b&gt;bold&lt;/b&gt;" in text
    assert "default-src 'none'" in unescape(text)
    assert "url(http" not in text
    assert "Patient text." in text[: text.index("<main")]


def test_what_a_planner_was_told_of_a_call_is_shown(ran: tuple[Path, Answer, Answer]) -> None:
    home, answer, _ = ran
    events = read_trace(home / "traces", answer.run)
    next(e for e in events if e["kind"] == "tool")["remarks"] = ["These documents are not known: <b>pubmed:1</b>."]
    told = "told to the planner: These documents are not known: "
    assert f"{told}&lt;b&gt;pubmed:1&lt;/b&gt;." in shown(home, [answer.run], events)
    out = io.StringIO()
    Console(file=out, width=120).print(tree_of(answer.run, events))
    assert f"{told}<b>pubmed:1</b>." in out.getvalue()


def test_every_statement_leads_to_its_quote_in_its_source_and_back(ran: tuple[Path, Answer, Answer]) -> None:
    home, answer, _ = ran
    text = shown(home, [answer.run])
    ids = [attrs["id"] for _, attrs in tags(text) if "id" in attrs]
    assert len(set(ids)) == len(ids)
    assert {(attrs["href"] or "")[1:] for _, attrs in tags(text) if "href" in attrs} <= set(ids)
    told = [*answer.statements, *(s.statement for s in (answer.report.statements if answer.report else ()))]
    assert len(told) > len(answer.statements) > 2
    numbers = [f"S{n}" for n in range(1, len(answer.statements) + 1)]
    numbers += [f"R{n}" for n in range(1, len(told) - len(answer.statements) + 1)]
    for number, statement in zip(numbers, told, strict=True):
        assert f'<li id="a-{number}"' in text
        for n, citation in enumerate(statement.citations, 1):
            pattern = rf'<mark class="[^"]*\ba-{number}-{n}\b[^"]*">(.*?)</mark>'
            marked = "".join(re.findall(pattern, text, flags=re.DOTALL))
            assert unescape(marked) == citation.quote
            assert f"#a-{number}-{n}:target" in text


def test_the_same_run_gives_the_same_bytes_and_shows_what_happened(ran: tuple[Path, Answer, Answer]) -> None:
    home, answer, _ = ran
    text = shown(home, [answer.run])
    assert text == shown(home, [answer.run])
    assert len(text.encode()) < 2_000_000
    for part in ("look for croup treatment", "croup[tiab]", "stop: 12 found", "all stay", "scripted", "Round 2"):
        assert part in unescape(text), part
    assert text.count('class="node taken"') == 10  # of the eleven, all but respond
    assert "2 times" in text
    assert "No language model was called." in text


def test_two_runs_beside_each_other_are_marked_where_they_differ(ran: tuple[Path, Answer, Answer]) -> None:
    home, one, other = ran
    text = unescape(shown(home, [one.run, other.run]))
    rows = dict(re.findall(r'<tr><th scope="row">(\w[\w ]*).*?</th>(.*?)</tr>', text, flags=re.DOTALL))
    assert "◆ differs" in rows["path"]
    assert "same" in rows["gate"]
    assert "<li>croup treatment[tiab]</li>" in rows["queries"]
    assert "<li>asthma[tiab]</li>" in rows["queries"]
    assert "<li>croup[tiab]</li>" not in rows["queries"]
    assert "library:croup-treatment@" in rows["evidence quoted"]
    assert 'class="card only"' in text
    same = unescape(shown(home, [one.run, one.run]))
    assert "◆" not in same


def test_damage_and_what_is_gone_are_told_and_the_rest_is_shown(ran: tuple[Path, Answer, Answer]) -> None:
    home, answer, _ = ran
    events = read_trace(home / "traces", answer.run)
    broken = [{"kind": "damaged_line", "at": 0.0, "line": 3}]
    broken += [{**e, "seconds": "soon"} if e["kind"] == "tool" else e for e in events if e["kind"] != "selection"]
    text = unescape(shown(home, [answer.run], broken))
    assert "line 3 of the trace is damaged" in text
    assert "an event of kind tool is damaged" in text
    assert answer.statements[0].text in text
    session = answer.run.partition("/")[0]
    empty = ContentStore(home / "empty.sqlite")
    try:
        gone = unescape(page(run_of(f"{session}/1", events, empty)))
    finally:
        empty.close()
    assert "the answer: its text is not in the content store any more" in gone
    assert "look for croup" in gone


def test_the_command_writes_one_file_and_tells_a_slip(
    ran: tuple[Path, Answer, Answer],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    home, one, other = ran
    monkeypatch.setenv("ANAMNESIS_HOME", str(home))
    file = tmp_path / "run.html"
    trace(one.run, html=file, beside=other.run)
    assert file.read_text(encoding="utf-8") == shown(home, [one.run, other.run])
    assert file.stat().st_mode & 0o077 == 0
    assert "patient text" in capsys.readouterr().out
    slips = [(None, file, None), (one.run, None, other.run), (one.run, tmp_path, None), ("nobody/1", file, None)]
    for run, place, beside in [*slips, (one.run, file, "nobody/1"), (one.run, file / "x.html", None)]:
        with pytest.raises(InputError):
            trace(run, html=place, beside=beside)


def test_a_line_that_is_no_event_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    lines = ['{"kind": "run", "at": 1.0}', "12", '{"at": 3}', '["kind"]', '{"kind": "run"']
    (tmp_path / "s" / "1.jsonl").write_text("\n".join(lines))
    assert [e["kind"] for e in read_trace(tmp_path, "s/1")] == ["run", *["damaged_line"] * 4]
    nothing = page(run_of("s/1", read_trace(tmp_path, "s/1"), ContentStore(tmp_path / "t.sqlite")))
    assert nothing.count("of the trace is damaged") == 4


def test_a_run_that_was_cut_off_and_went_on_is_one_line_of_time() -> None:
    def event(kind: str, at: float, **data: Any) -> dict[str, Any]:
        return {"kind": kind, "at": at, **data}

    events = [
        event("run", 100.0),
        event("step_started", 100.0, step="triage"),
        event("step_finished", 101.0, step="triage", seconds=1.0, summary=""),
        event("step_started", 101.0, step="completeness_gate"),
        event("run", 5000.0),
        event("step_started", 5000.0, step="completeness_gate"),
        event("step_finished", 5002.0, step="completeness_gate", seconds=2.0, summary=""),
    ]
    seen = happened("s/1", events)
    assert seen.resumed == [1.0]
    assert [(s.step, s.started, s.cut_off) for s in seen.steps] == [
        ("triage", 0.0, False), ("completeness_gate", 1.0, True), ("completeness_gate", 1.0, False)
    ]  # fmt: skip
    assert seen.seconds == 3.0
    assert ("completeness_gate", "research") not in {line.edge for line in drawing(seen).lines if line.taken}
    none = {e["kind"]: e for e in events}["run"]
    assert happened("s/1", [none, {"kind": "gate", "at": "noon"}]).damaged == ["an event of kind gate is damaged"]


def test_every_node_of_the_machine_has_its_place_and_direct_answers_their_way() -> None:
    assert {name for edge in edges() for name in edge} == set(LAYOUT)
    steps = ("triage", "completeness_gate", "answer", "verify")
    events: list[dict[str, Any]] = [{"kind": "run", "at": 1.0}]
    for n, step in enumerate(steps):
        events.append({"kind": "step_started", "at": 1.0 + n, "step": step})
        events.append({"kind": "step_finished", "at": 1.9 + n, "step": step, "seconds": 0.9, "summary": ""})
    taken = {x.edge for x in drawing(happened("s/1", [*events, {"kind": "answered", "at": 9.0}])).lines if x.taken}
    way = ("__start__", *steps, "__end__")
    assert taken == set(pairwise(way))


@given(st.text(min_size=1, max_size=30), st.lists(st.tuples(st.integers(0, 35), st.integers(1, 36)), max_size=5))
def test_pieces_are_the_text_and_each_quote_is_its_slice(text: str, spans: list[tuple[int, int]]) -> None:
    source = Evidence(id="graph:starter/x", text=text, kind="entry", origin=Origin.KNOWLEDGE_GRAPH)
    quotes = [
        Quote(f"q{n}", "s", "S1", Citation(evidence_id=source.id, quote="q", start=a, end=b), exact=True)
        for n, (a, b) in enumerate(spans)
        if a < min(b, len(text))
    ]
    cut = pieces(source, quotes)
    assert "".join(p.text for p in cut) == text
    for q in quotes:
        assert "".join(p.text for p in cut if q in p.quotes) == text[q.citation.start : q.citation.end]
        assert sum(q in p.begin for p in cut) == 1


def test_kept_texts_that_would_not_fit_are_named(ran: tuple[Path, Answer, Answer]) -> None:
    home, answer, _ = ran

    class Lost:
        def get(self, key: str) -> str:
            raise DataError("gone", "ask again")

    events = read_trace(home / "traces", answer.run)
    store = ContentStore(home / "texts.sqlite")
    try:
        small = run_of(answer.run, events, store, room=400)
    finally:
        store.close()
    left = [v for v in small.values if v.text is None]
    assert left
    assert {v.why for v in left} == {"left out: the page has no room for it"}
    assert all(v.why == "not in the content store any more" for v in run_of(answer.run, events, Lost()).values)
    assert json.loads(next(v.text for v in small.values if v.name == "gate" and v.text))["reason"] == "scripted"
