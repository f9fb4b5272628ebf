"""What a turn's searches know of works that were found twice stands in its answer, for what the answer shows."""

from __future__ import annotations

from pathlib import Path

from agent.agent import Agent
from agent.settings import Settings
from support.machine_parts import Query, SearchTool, parts
from tools.contract import ToolArtifact, ToolContext
from tools.evidence import SameWork
from tools.literature.adapt_e.contract import SearchPlan
from tools.literature.ladder import Climb
from tools.literature.strategy import Source, as_steps, make_strategy

SHOWN = SameWork(ids=("library:croup", "pubmed:2"), why="same DOI", preprints=("pubmed:2",))
ELSEWHERE = SameWork(ids=("pubmed:3", "pubmed:4"), why="same DOI")


class Searched(SearchTool):
    """Finds one text for any query, and in its first search works that were found twice."""

    async def run(self, arguments: Query, context: ToolContext) -> ToolArtifact:
        artifact = await super().run(arguments, context)
        if arguments.query != "croup":
            return artifact
        climbed = Climb(ids=("2", "3", "4"))
        strategy = make_strategy("q", SearchPlan(), climbed, Source(kind="pubmed", name="x"), 20)
        first = strategy.documents[0].model_copy(update={"id": "library:croup"})
        found = {"documents": (first, *strategy.documents), "same_work": (SHOWN, ELSEWHERE)}
        return artifact.model_copy(update={"strategy": as_steps(strategy.model_copy(update=found))})


def test_an_answer_carries_the_works_of_what_it_shows(tmp_path: Path) -> None:
    with Agent(Settings(home=tmp_path), parts=parts(tool=Searched())) as agent:
        assert agent.ask("croup?").same_work == [SHOWN]
        assert agent.ask("hello").same_work == []
