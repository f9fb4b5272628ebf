"""How an answer was found, out of its trace: places with their hits, what is not used and the whole reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.agent import Agent
from agent.loop import run
from agent.settings import Settings
from agent.trace_page.evidence import HowFound, how_found
from support.machine_parts import Query, Scripted, SearchTool, parts
from tools.contract import ToolArtifact, ToolContext
from tools.evidence import Evidence, Origin

FAR = "covers no requirement; closest is 'a requirement that is told in a great many words, so that no line holds it'"


class Searching(SearchTool):
    """Finds one text in the library and one in PubMed, of which it leaves another out."""

    async def run(self, arguments: Query, context: ToolContext) -> ToolArtifact:
        found = await super().run(arguments, context)
        paper = Evidence(id="pubmed:7@0-4", text="Text", title="Paper", kind="abstract", origin=Origin.RETRIEVED)
        strategy: list[dict[str, Any]] = [
            {"step": "library", "documents": [{"id": e.id} for e in found.evidence]},
            {"step": "rung", "rung": "all", "query": "croup[tiab]", "count": 12, "ids": ["7", "8"]},
            {
                "step": "records", "source": {"kind": "mirror", "name": "ours"}, "documents": [{"id": "pubmed:7"}],
                "excluded": [{"id": "pubmed:8", "reason": "retracted_work"}], "failure": "cut short",
            },
        ]  # fmt: skip
        return found.model_copy(update={"evidence": [*found.evidence, paper], "strategy": strategy})


class Choosing(Scripted):
    """Takes what the library has, and says at length why not the rest."""

    async def select(self, *given: Any) -> Any:
        chosen = await super().select(*given)
        kept = [k for k in chosen.kept if k.evidence_id.startswith("library:")]
        dropped = [{"evidence_id": "pubmed:7@0-4", "reason": FAR}]
        return type(chosen).model_validate({**chosen.model_dump(), "kept": kept, "dropped": dropped})


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    script = Choosing()
    with Agent(Settings(home=tmp_path), parts=parts(script, Searching(log=script.log))) as made:
        yield made


def told(agent: Agent, name: str = "s/1") -> HowFound:
    return how_found(name, run(agent.traces.events(name)), agent.database.texts)


def test_places_tell_their_searches_and_hits_and_what_failed(agent: Agent) -> None:
    agent.ask("croup?", session="s")
    library, mirror = told(agent).places
    assert (library.place, library.searches, library.hits, library.failed) == ("library", 2, 2, "")
    assert library.queries == ["croup", "croup treatment"], "what was searched for, each text once"
    assert (mirror.place, mirror.name, mirror.searches, mirror.hits) == ("mirror", "ours", 2, 1)
    assert (mirror.failed, mirror.queries) == ("cut short", ["croup[tiab]"])


def test_what_is_not_used_is_told_with_its_whole_reason_and_what_is_used_is_not(agent: Agent) -> None:
    answer = agent.ask("croup?", session="s")
    paper, *excluded = told(agent).unused
    assert (paper.id, paper.title, paper.fate) == ("pubmed:7", "Paper", "not_selected")
    assert paper.reasons == [f"dropped: {FAR}"], "nothing is cut off"
    assert {(u.id, u.fate, *u.reasons) for u in excluded} == {("pubmed:8", "excluded", "retracted work")}
    cited = {c.evidence_id.split("@")[0] for s in answer.statements for c in s.citations}
    assert cited
    assert not cited & {u.id for u in told(agent).unused}


def test_what_was_done_is_there_in_order_whenever_it_is_asked(agent: Agent) -> None:
    agent.ask("croup?", session="s")
    done = told(agent).done
    assert [d.tool or d.step for d in done if d.tool or d.step in ("triage", "verify")] == [
        "triage", "search_literature", "search_literature", "verify",
    ]  # fmt: skip
    assert "2 pieces of evidence" in next(d.summary for d in done if d.tool)
    agent.ask("hello", session="s")
    assert told(agent, "s/2").done[0].step == "triage"
    assert told(agent, "s/2").places == []
