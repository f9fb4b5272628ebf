"""The local planner: its plan by kind and round, valid arguments, no call twice."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

from graphs.planning.contract import PlannedCall, ResearchView
from graphs.planning.local import PlannerLocal, leading_terms, specific_question
from prompts import tool_arguments
from support.ranked import ranked
from tools.contract import Differential, Finding, Outcome
from tools.evidence import Evidence, Origin

SCHEMAS: dict[str, type[BaseModel]] = {
    "search_literature": tool_arguments.SearchLiterature,
    "retrieve_passages": tool_arguments.RetrievePassages,
    "lookup_differential": tool_arguments.LookupDifferential,
    "fill_knowledge_gaps": tool_arguments.FillKnowledgeGaps,
    "find_answered_question": tool_arguments.FindAnsweredQuestion,
}
CASE = "46M with burning behind the breastbone after meals for months. No weight loss."
QUESTION = "Do antibiotics help otherwise healthy adults with acute bronchitis?"
KNOWN = {"library:gerd", "library:stable-angina", "library:antibiotics-acute-bronchitis"}


FINDINGS = (
    Finding(id="cough", name="cough", clause="cough", score=0.9),
    Finding(id="heartburn", name="heartburn", clause="burning", score=0.8),
    Finding(id="weight-loss", name="weight loss", clause="no weight loss", present=False),
    Finding(name="something", clause="something"),
)
RANKED = Differential(
    findings=FINDINGS,
    ranking=(
        ranked("gerd", 0.7, findings_for=("heartburn",)),
        ranked("rare-thing", 0.1, name="rare thing"),
        ranked("stable-angina", 0.05, name="stable angina"),
    ),
)


def evidence(id: str, origin: Origin = Origin.RETRIEVED) -> Evidence:
    return Evidence(id=id, text="text", kind="monograph", origin=origin)


def view(kind: str, round: int, question: str = CASE, **more: Any) -> ResearchView:
    return ResearchView(
        question=question, kind=kind, language=more.pop("language", "en"), round=round, rounds_left=3 - round, **more
    )


def plan(seen: ResearchView) -> list[PlannedCall]:
    calls = asyncio.run(PlannerLocal(KNOWN.__contains__).plan(seen))
    for call in calls:
        SCHEMAS[call.tool].model_validate(call.arguments)
        assert call.reason
    return calls


def tools(calls: list[PlannedCall]) -> list[str]:
    return [call.tool for call in calls]


def test_a_case_first_looks_up_and_searches_by_leading_findings() -> None:
    calls = plan(view("case", 1, differential=RANKED))
    assert tools(calls) == ["lookup_differential", "search_literature"]
    assert calls[0].arguments["case"] == CASE
    assert calls[1].arguments["terms"] == ["gerd", "heartburn", "cough"]
    assert calls[1].arguments["limit"] == 8


def test_a_case_that_asks_something_also_looks_for_an_answered_question() -> None:
    calls = plan(view("case", 1, CASE + " Can I take antacids every day?"))
    assert calls[-1].tool == "find_answered_question"
    assert calls[-1].arguments["question"] == "Can I take antacids every day?"


@pytest.mark.parametrize(
    "text",
    ["What is most likely?", "What could it be?", "Likely cause?", "What is the differential?", "最可能是什么问题?",
     "Had a temp on the first day.", "When he cries it is worse."],
)  # fmt: skip
def test_what_every_case_asks_is_no_question_of_its_own(text: str) -> None:
    assert specific_question(f"{CASE} {text}") == ""


def test_then_the_documents_of_leading_diseases_that_exist_are_read() -> None:
    calls = plan(view("case", 2, differential=RANKED, evidence=(evidence("library:gerd@0-4"),)))
    assert tools(calls) == ["retrieve_passages", "retrieve_passages"]
    assert calls[0].arguments["documents"] == ["library:gerd", "library:stable-angina"]
    assert calls[1].arguments["documents"] == ["library:gerd"]
    assert "treated" in calls[1].arguments["query"]


def test_gaps_are_filled_once_what_was_found_has_been_read() -> None:
    found = (evidence("library:gerd@0-4"),)
    done = (("search_literature", Outcome.OK), ("retrieve_passages", Outcome.OK))
    for kind, question in (("case", CASE), ("evidence", QUESTION)):
        third = plan(view(kind, 3, question, differential=RANKED, evidence=found, outcomes=done))
        assert tools(third) == ["fill_knowledge_gaps"]
    filled = (*done, ("fill_knowledge_gaps", Outcome.OK))
    assert plan(view("case", 3, differential=RANKED, evidence=found, outcomes=filled)) == []


def test_without_such_documents_the_best_ones_found_are_read() -> None:
    only_rare = Differential(ranking=(ranked("rare-thing", 0.9, name="rare thing"),))
    found = (evidence("library:gerd@0-4"), evidence("pubmed:1@0-4"), evidence("library:gerd@9-13"))
    calls = plan(view("case", 2, differential=only_rare, evidence=found))
    assert calls[0].arguments["documents"] == ["library:gerd"]


def test_gaps_are_only_filled_after_something_was_retrieved() -> None:
    graph = evidence("graph:starter/gerd", Origin.KNOWLEDGE_GRAPH)
    assert "fill_knowledge_gaps" not in tools(plan(view("case", 2, differential=RANKED, evidence=(graph,))))
    assert plan(view("case", 3, differential=RANKED, evidence=(graph,))) == []


def test_an_evidence_question_searches_then_reads() -> None:
    calls = plan(view("evidence", 1, QUESTION))
    assert tools(calls) == ["find_answered_question", "search_literature"]
    assert all(QUESTION in c.arguments.values() for c in calls)
    found = (evidence("library:antibiotics-acute-bronchitis@0-4"),)
    calls = plan(view("evidence", 2, QUESTION, evidence=found))
    assert tools(calls) == ["retrieve_passages"]
    assert calls[0].arguments["documents"] == ["library:antibiotics-acute-bronchitis"]


def test_documents_that_cannot_be_read_are_not_asked_for() -> None:
    calls = plan(view("evidence", 2, QUESTION, evidence=(evidence("pubmed:1@0-4"),)))
    assert tools(calls) == ["fill_knowledge_gaps"]


def test_multiple_choice_searches_with_its_options() -> None:
    options = {"A": "aspirin", "B": "warfarin"}
    calls = plan(view("multiple_choice", 1, "Which drug prevents stroke in atrial fibrillation?", options=options))
    assert tools(calls) == ["search_literature", "find_answered_question"]
    assert "warfarin" in calls[0].arguments["query"]
    assert "warfarin" not in calls[1].arguments["question"]


def test_a_stem_with_a_patient_is_also_looked_up() -> None:
    stem = "A 54-year-old man has crushing chest pain and sweating. What is the best first test?"
    calls = plan(view("multiple_choice", 1, stem, options={"A": "ECG", "B": "EEG"}))
    assert calls[-1].tool == "lookup_differential"
    assert calls[1].arguments["question"] == "What is the best first test?"


def test_nothing_found_is_tried_once_more_wider_and_only_once() -> None:
    nothing = ("search_literature", Outcome.NOTHING_FOUND)
    retry = plan(view("evidence", 2, QUESTION, outcomes=(nothing,)))
    assert tools(retry) == ["search_literature"]
    assert retry[0].arguments["limit"] > 8
    assert retry[0].arguments != plan(view("evidence", 1, QUESTION))[1].arguments
    assert plan(view("evidence", 3, QUESTION, outcomes=(nothing, nothing))) == []


@pytest.mark.parametrize("outcome", [Outcome.NOTHING_FOUND, Outcome.UNAVAILABLE])
def test_a_failed_search_is_retried_in_the_third_round(outcome: Outcome) -> None:
    seen = view("case", 3, differential=RANKED, outcomes=(("search_literature", outcome),))
    assert tools(plan(seen)) == ["search_literature"]


def test_research_ends_when_the_search_gave_something() -> None:
    assert plan(view("case", 3, differential=RANKED, outcomes=(("search_literature", Outcome.OK),))) == []
    assert plan(view("case", 4, differential=RANKED, outcomes=(("search_literature", Outcome.UNAVAILABLE),))) == []


@pytest.mark.parametrize("kind", ["case", "evidence", "multiple_choice"])
@pytest.mark.parametrize("question", [CASE, QUESTION, "男,45岁,咳嗽三天。需要吃药吗?", "x" * 30_000, "?!"])
def test_no_call_is_made_twice_and_every_argument_is_valid(kind: str, question: str) -> None:
    seen: list[str] = []
    outcomes: tuple[tuple[str, Outcome], ...] = ()
    for number in range(1, 5):
        calls = plan(view(kind, number, question, outcomes=outcomes, options={"A": "one", "B": "two"}))
        seen += [repr((c.tool, sorted(c.arguments.items()))) for c in calls]
        outcomes += tuple((c.tool, Outcome.NOTHING_FOUND) for c in calls)
    assert len(seen) == len(set(seen))


def test_terms_are_names_of_findings_never_the_narrative() -> None:
    terms = leading_terms(RANKED)
    assert set(terms) <= {"gerd", "heartburn", "cough"}
    assert leading_terms(None) == []
