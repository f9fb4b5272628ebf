"""The fixed order of tools of a published method: each step once, with valid arguments, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from pydantic import BaseModel, ValidationError

from graphs.planning.contract import PlannedCall, ResearchView
from graphs.planning.fixed import TOOLS, PipelineSettings, PlannerFixed, uses
from prompts import tool_arguments
from tools.contract import Outcome
from tools.evidence import Evidence, Origin

SCHEMAS: dict[str, type[BaseModel]] = {
    "search_literature": tool_arguments.SearchLiterature,
    "retrieve_passages": tool_arguments.RetrievePassages,
    "lookup_differential": tool_arguments.LookupDifferential,
    "fill_knowledge_gaps": tool_arguments.FillKnowledgeGaps,
    "find_answered_question": tool_arguments.FindAnsweredQuestion,
}
FOUND = Evidence(id="library:croup@0-5", text="croup", kind="condition", origin=Origin.RETRIEVED)
ELSEWHERE = Evidence(id="pubmed:1@0-5", text="croup", kind="abstract", origin=Origin.RETRIEVED)


def plan(steps: Sequence[str], done: Sequence[str] = (), kind: str = "evidence", **more: object) -> list[PlannedCall]:
    view = ResearchView.model_validate(
        {
            "question": "Do steroids help in croup?",
            "kind": kind,
            "language": "en",
            "round": len(done) + 1,
            "rounds_left": 1,
            "outcomes": [(tool, Outcome.OK) for tool in done],
            **more,
        }
    )
    settings = PipelineSettings(steps=tuple(steps), documents=7, passages=4, questions=2)
    return asyncio.run(PlannerFixed(settings).plan(view))


def test_steps_are_made_in_their_order_each_once() -> None:
    steps = ["search_literature", "fill_knowledge_gaps + find_answered_question"]
    made: list[str] = []
    rounds = []
    while calls := plan(steps, made):
        rounds.append([c.tool for c in calls])
        made += rounds[-1]
    assert rounds == [["search_literature"], ["fill_knowledge_gaps", "find_answered_question"]]


def test_a_case_alone_is_looked_up() -> None:
    both = ["lookup_differential + search_literature"]
    assert [c.tool for c in plan(both, kind="case")] == ["lookup_differential", "search_literature"]
    assert [c.tool for c in plan(both)] == ["search_literature"]
    assert plan(["lookup_differential"]) == []


def test_what_a_search_found_is_read_wherever_it_lies_and_a_first_reading_names_nothing() -> None:
    after = plan(["search_literature", "retrieve_passages"], ["search_literature"], evidence=[FOUND, ELSEWHERE, FOUND])
    assert after[0].arguments == {
        "query": "Do steroids help in croup?",
        "limit": 4,
        "documents": ["library:croup", "pubmed:1"],
    }
    assert plan(["search_literature", "retrieve_passages"], ["search_literature"], evidence=[]) == []
    assert "documents" not in plan(["retrieve_passages"])[0].arguments


def test_the_arguments_are_those_of_the_tools_and_options_are_searched_for() -> None:
    long = "Does it help? " * 5000
    for tool in TOOLS:
        (call,) = plan([tool], kind="case", question=long, options={"A": "dexamethasone"})
        SCHEMAS[tool].model_validate(call.arguments)
    (search,) = plan(["search_literature"], kind="multiple_choice", options={"A": "dexamethasone"})
    assert (search.arguments["query"], search.arguments["limit"]) == ("Do steroids help in croup? dexamethasone", 7)


def test_only_the_tools_of_the_order_are_offered_and_an_unknown_one_is_named() -> None:
    assert uses(PipelineSettings(steps=("search_literature",)), TOOLS) == ["search_literature"]
    assert uses(PipelineSettings(), TOOLS) == list(TOOLS)
    with pytest.raises(ValidationError, match="read_mind"):
        PipelineSettings(steps=("search_literature + read_mind",))
