"""Sessions as files: stable JSON, readable Markdown, search strategies that can be run again."""

from __future__ import annotations

import html
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from typer.testing import CliRunner

from agent.agent import Agent
from agent.cli.app import app
from agent.loop import run
from agent.sessions import Review
from agent.sessions.document import as_docx
from agent.sessions.export import SessionExport
from agent.settings import Settings
from graphs.answering.contract import AnswerView, Draft
from prompts.errors import InputError
from support.machine_parts import Query, Scripted, SearchTool, parts
from tools.contract import ToolArtifact, ToolContext
from tools.evidence import Evidence, Origin, Statement, cite
from tools.literature.adapt_e.contract import PlannedTerm, SearchPlan
from tools.literature.ladder import Climb, Step
from tools.literature.strategy import (
    FoundDocument,
    Source,
    as_steps,
    load_strategy,
    make_strategy,
    strategies_of,
)
from tools.mirror.load import load_records
from tools.mirror.records import MeshHeading, MirrorRecord
from tools.references.contract import LACKING, NOT_HELD

NASTY = "<script>alert(1)</script> | *not bold* [x](javascript:alert) `code`\n# no heading\n1. no list"
STRATEGY = make_strategy(
    "croup?",
    SearchPlan(terms=(PlannedTerm(text="croup"),)),
    Climb(
        steps=(
            Step(
                rung="all terms", query='"croup"[tiab] AND steroid*', count=421, ids=("1", "2"), translation="t",
                warnings=(), seconds=0.1, next="enough",
            ),
        ),
        ids=("1", "2"),
    ),
    Source(kind="pubmed", name="https://eutils.ncbi.nlm.nih.gov"),
    20,
    at=datetime(2026, 3, 1, 12, 30, tzinfo=UTC),
)  # fmt: skip


class Searching(SearchTool):
    """Tells how it searched, and finds a text that would be markup."""

    async def run(self, arguments: Query, context: ToolContext) -> ToolArtifact:
        found = await super().run(arguments, context)
        background = Evidence(
            id="generated:abc", text="Written by a model.", kind="background", origin=Origin.GENERATED
        )
        library = {"step": "library", "documents": [{"id": "library:croup"}]}
        strategy = [library, *as_steps(STRATEGY), *as_steps(STRATEGY)]
        return found.model_copy(update={"strategy": strategy, "evidence": [*found.evidence, background]})


class Writing(Scripted):
    """Quotes a nasty source, and writes a sentence of its own beside it."""

    async def answer(self, view: AnswerView) -> Draft:
        source = Evidence(
            id=f"library:nasty@0-{len(NASTY)}", text=NASTY, title=NASTY, kind="passage", origin=Origin.RETRIEVED
        )
        quoted = Statement(text=NASTY, origin=Origin.RETRIEVED, citations=(cite(source, 0, len(NASTY)),))
        own = Statement(text="A sentence of its own.", origin=Origin.PARAMETRIC)
        return Draft(statements=(quoted, own), evidence=(source,))

    async def verify(self, draft: Draft, evidence: Any) -> Draft:
        return draft


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    script = Writing()
    with Agent(Settings(home=tmp_path), parts=parts(script, Searching(log=script.log))) as made:
        made.ask("case: my son coughs\n" + NASTY, session="s")
        made.ask("hello", session="s")
        run(made.records.review("s", 1, Review(verdict="corrected", correction=NASTY, reviewer="Dr B")))
        yield made


def test_strategies_come_back_whole_from_the_steps_of_a_tool() -> None:
    strategies, others = strategies_of([{"gap": "x"}, *as_steps(STRATEGY), {"step": "library"}, *as_steps(STRATEGY)])
    assert strategies == [STRATEGY, STRATEGY]
    assert others == [{"gap": "x"}, {"step": "library"}]


def test_json_holds_everything_and_is_stable(agent: Agent) -> None:
    text = run(agent.records.export("s"))
    whole = SessionExport.model_validate_json(text)
    assert list(json.loads(text)) == ["format", "schema_version", "program", "exported_at", "session", "turns"]
    assert whole.session == run(agent.records.get("s"))
    turns = run(agent.records.turns("s"))
    assert [t.answer for t in whole.turns] == [t.answer for t in turns]
    assert whole.turns[0].review == turns[0].review
    first, second = whole.turns[0].searches
    assert (first.tool, first.arguments, first.outcome) == ("search_literature", {"query": "croup"}, "ok")
    assert first.strategies == [STRATEGY, STRATEGY]
    assert first.steps == [{"step": "library", "documents": [{"id": "library:croup"}]}]
    assert first.found == ["library:croup@0-19", "generated:abc"]
    assert second.arguments == {"query": "croup treatment"}
    assert whole.turns[1].searches == []


def test_markdown_shows_every_text_as_it_is_and_nothing_as_markup(agent: Agent) -> None:
    text = run(agent.records.export("s", "markdown"))
    page = MarkdownIt("commonmark").enable("table").render(text)
    assert "<script" not in page
    assert "javascript:" not in page.replace("(javascript:alert)", "")
    assert "<em>not bold" not in page
    assert "<h1>no heading" not in page
    shown = html.unescape(page)
    assert shown.count("<script>alert(1)</script> | *not bold* [x](javascript:alert) `code`") >= 4
    for part in (
        "A sentence of its own. (not retrieved, not verified)",
        "Written by a model.",
        "Dr B",
        "a child",
        "1 of 2 statements",
    ):
        assert part in page, part
    for part in ('"croup"[tiab] AND steroid*', "421 in all", "2026-03-01 12:30 UTC", "library:croup"):
        assert part in shown, part
    assert page.count("<h1>") == 1
    assert page.count("<h2>") == 2


def test_another_format_is_refused(agent: Agent) -> None:
    with pytest.raises(InputError, match="xml"):
        run(agent.records.export("s", "xml"))


def test_an_export_without_what_was_searched_still_comes(agent: Agent) -> None:
    """The artefacts of an earlier version, or lost ones, cost the export their part and no more."""
    sql = "update turns set searches = ? where turn = 1"
    key = agent.database.texts.put("s", json.dumps([{"tool": "search_literature", "outcome": "ok", "key": "0" * 64}]))
    run(agent.database.execute((sql, (key,))))
    (search,) = SessionExport.model_validate_json(run(agent.records.export("s"))).turns[0].searches
    assert (search.tool, search.found) == ("search_literature", [])


@pytest.fixture
def command(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("ANAMNESIS_HOME", str(agent.home.root))

    def call(*arguments: str, stdin: str = "") -> str:
        done = CliRunner().invoke(app, ["sessions", *arguments], input=stdin, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    return call


def test_the_command_lists_shows_renames_and_reviews(command: Any, agent: Agent) -> None:
    agent.ask("Is ibuprofen safe in pregnancy?", session="risky")
    for listed in (command(), command("list")):
        assert [line.split()[0] for line in listed.splitlines()] == ["risky", "s"]
        assert "review asked" in listed.splitlines()[0]
        assert "review asked" not in listed.splitlines()[1]
    assert json.loads(command("list", "--json", "--limit", "1"))[0]["needs_review"] is True
    command("review", "risky", "1", "--verdict", "accepted", "--by", "Dr C")
    assert "review asked" not in command("list")
    command("rename", "risky", "Ibuprofen")
    assert "Ibuprofen" in command("list")
    shown = command("show", "s")
    for part in ("1 > case: my son coughs", "A sentence of its own.", "2 > hello", "Review: corrected by Dr B"):
        assert part in shown
    assert len(json.loads(command("show", "s", "--json"))["turns"]) == 2


def test_the_command_exports_to_files_whole_or_not_at_all(command: Any, tmp_path: Path) -> None:
    out, folder = tmp_path / "s.json", tmp_path / "strategies"
    command("export", "s", "--format", "json", "--out", str(out), "--strategies", str(folder))
    assert SessionExport.model_validate_json(out.read_text()).session.id == "s"
    assert out.stat().st_mode & 0o077 == 0
    assert sorted(f.name for f in folder.iterdir()) == [f"turn-1-search-{n}.json" for n in (1, 2, 3, 4)]
    assert load_strategy(folder / "turn-1-search-1.json") == STRATEGY
    assert command("export", "s").startswith("# case: my son coughs")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        command("export", "s", "--out", str(tmp_path / "file" / "s.md"))


def test_the_command_exports_what_is_cited_for_a_reference_manager(command: Any, agent: Agent, tmp_path: Path) -> None:
    csl = tmp_path / "s.json"
    said = command("export", "s", "--format", "csl-json", "--out", str(csl))
    (item,) = json.loads(csl.read_text())
    assert (item["id"], item["type"], item["source"]) == ("library:nasty", "document", "Anamnesis starter library")
    assert item["title"] == NASTY
    assert "1 reference." in said
    assert json.loads(run(agent.records.export("s", "csl-json", turn=2))) == []
    assert run(agent.records.export("s", "nbib")) == ""
    assert "nbib holds PubMed's records alone: 1 documents were left out" in command("export", "s", "--format", "nbib")
    with pytest.raises(InputError, match="no turn 9"):
        command("export", "s", "--turn", "9")


def test_a_turn_and_a_session_are_word_documents_that_show_every_text_as_it_is(
    command: Any, agent: Agent, tmp_path: Path
) -> None:
    docx = pytest.importorskip("docx")
    command("export", "s", "--turn", "1", "--format", "docx", "--out", str(tmp_path / "turn.docx"))
    turn = docx.Document(str(tmp_path / "turn.docx"))
    lines = [p.text for p in turn.paragraphs]
    assert turn.paragraphs[0].style.name == "Heading 1"
    assert lines[0] == " ".join(f"case: my son coughs {NASTY}".split())
    assert "A sentence of its own. (not retrieved, not verified)" in lines
    assert "<script>alert(1)</script> | *not bold* [x](javascript:alert) `code`" in "\n".join(lines)
    assert any("no medical advice" in line and "turn 1" in line for line in lines)
    assert sum(p.style.name.startswith("Heading") for p in turn.paragraphs) == 2, "the question and the review"
    assert turn.core_properties.author == "Anamnesis"
    assert "You may ask" not in lines
    whole = docx.Document(io.BytesIO(run(agent.records.document("s"))))
    said = "\n".join(p.text for p in whole.paragraphs)
    assert '"croup"[tiab] AND steroid*' in said
    assert any(
        "421" in cell.text or "duplicates" in cell.text for t in whole.tables for c in t.columns for cell in c.cells
    )
    with pytest.raises(InputError, match="Word document"):
        command("export", "s", "--format", "docx")


def test_lists_quotations_and_what_xml_cannot_hold_are_written() -> None:
    docx = pytest.importorskip("docx")
    text = "> **Stop** *now*\n\n3. three\n   - `deep`\n4. four\x0b\uffff\n\n[link](https://x.org) ![alt](y.png)  \nend"
    read = docx.Document(io.BytesIO(as_docx(text, "t\x00itle")))
    lines = [p.text for p in read.paragraphs]
    assert lines == ["Stop now", "3.\tthree", "•\tdeep", "4.\tfour", "link (https://x.org) alt\nend"]
    indents = [p.paragraph_format.left_indent or 0 for p in read.paragraphs]
    assert indents[0] == indents[1] == indents[3] > indents[4] == 0
    assert indents[2] == pytest.approx(2 * indents[0], rel=0.01)  # Word counts in twentieths of a point
    assert [(r.text, bool(r.bold), bool(r.italic)) for r in read.paragraphs[0].runs if r.text.strip()] == [
        ("Stop", True, False), ("now", False, True),
    ]  # fmt: skip
    assert read.core_properties.title == "title"


def test_a_full_text_of_a_search_is_cited_by_the_record_that_pubmed_sent(agent: Agent) -> None:
    from agent.sessions.export import references_of

    text = "It helped."
    copy = Evidence(id=f"pmc:PMC9@0-{len(text)}", text=text, title="T", kind="article", origin=Origin.RETRIEVED)
    whole = SessionExport.model_validate_json(run(agent.records.export("s")))
    answer = whole.turns[0].answer
    assert answer is not None
    said = Statement(text=text, origin=Origin.RETRIEVED, citations=(cite(copy, 0, len(text)),))
    answer = answer.model_copy(update={"evidence": [copy], "statements": [said]})
    found = FoundDocument(id="pubmed:77", rank=1, hits=(), text="pmc:PMC9")
    search = (
        whole.turns[0]
        .searches[0]
        .model_copy(update={"strategies": [STRATEGY.model_copy(update={"documents": (found,)})]})
    )
    turn = whole.turns[0].model_copy(update={"answer": answer, "searches": [search]})
    away = agent.settings.literature.model_copy(update={"mirror": agent.settings.home / "away"})
    told = run(references_of([turn], away))
    assert len(told.references) == 1
    assert "may be lacking" in told.told
    assert told.failed in told.references[0].notes[0], "why stands in the reference itself, for a manager to show"
    collected = run(references_of([turn], agent.settings.literature))
    assert collected.told == ""
    (reference,) = collected.references
    assert reference.notes == (f"{LACKING} {NOT_HELD}",)
    assert (reference.id, reference.pmid, reference.pmcid, reference.doi) == ("pubmed:77", "77", "PMC9", "")
    record = MirrorRecord(
        pmid="77",
        title="T.",
        abstract="It helped.\nMuch.",
        mesh=(MeshHeading(name="Croup"),),
    )
    load_records(agent.settings.home / "mirror", [record], source="test")
    here = agent.settings.literature.model_copy(update={"mirror": agent.settings.home / "mirror"})
    (full,) = run(references_of([turn], here)).references
    assert (full.id, full.abstract, full.subjects) == ("pubmed:77", "It helped.\nMuch.", ("Croup",))


def test_the_command_deletes_and_expires(command: Any, agent: Agent) -> None:
    agent.ask("croup?", session="t")
    run(agent.database.execute(("update sessions set updated = '2020-01-01' where id = 't'", ())))
    assert command("expire", "--days", "30") == "Session t is deleted.\n"
    with pytest.raises(InputError, match="KEEP_DAYS"):
        command("expire")
    with pytest.raises(InputError, match="correction"):
        command("review", "s", "1", "--verdict", "accepted", "--correction", "x")
    command("delete", "s")
    assert command() == ""
