"""Bad, repeated, missing and endless calls of a planning model: mended once, stopped, or planned for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphs.planning.by_model import read
from prompts.endpoint import Call
from prompts.metering import BudgetError, Meter
from prompts.model_settings import Budget
from support.planned_by_model import CASE, FOUND, GAPS, QUESTION, SEARCH, local, made, plan, tools, view
from support.planning_tools import SCHEMAS
from support.scripted_model import Scripted, serving
from tools.contract import Outcome

BAD = {
    "no JSON": [("search_literature", '{"query": "croup"')],
    "wrong schema": [("search_literature", {"query": ["croup"]})],
    "unknown field": [("search_literature", {"query": "croup", "why": "because"})],
    "unknown tool": [("search the web!", {"query": "croup"})],
    "nested beyond reason": [("search_literature", '{"query":' * 50_000 + "1" + "}" * 50_000)],
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_go_back_once_with_what_to_mend(name: str) -> None:
    with serving(Scripted(calls=BAD[name]), Scripted(calls=[SEARCH])) as server:
        calls = plan(server, view())
    assert [c.arguments for c in calls] == [SEARCH[1]]
    call, told = server.requests[1]["messages"][-2:]
    assert told["content"].startswith("Error: ")
    assert told["tool_call_id"] == call["tool_calls"][0]["id"]
    assert set(call["tool_calls"][0]["function"]["name"]) <= set("abcdefghijklmnopqrstuvwxyz_-")


def test_good_calls_beside_a_bad_one_are_kept_and_what_stays_bad_is_left_for_the_tool_to_refuse() -> None:
    bad = ("retrieve_passages", {"documents": 7})
    again = [("Search_Literature", {}), SEARCH, bad]
    with serving(Scripted(calls=[SEARCH, bad]), Scripted(calls=again)) as server:
        calls = plan(server, view())
    assert tools(calls) == ["search_literature", "Search_Literature", "retrieve_passages"]
    assert calls[2].arguments == {"documents": 7}
    assert "will be made" in server.requests[1]["messages"][-2]["content"]
    assert len(server.requests) == 2


@pytest.mark.parametrize("name", BAD)
def test_what_is_bad_twice_is_planned_locally_and_noted(name: str) -> None:
    meter = Meter()
    with serving(Scripted(calls=BAD[name])) as server:
        calls = plan(server, view(), meter)
    assert calls == local(view())
    assert [note.role for note in meter.fallen_back] == ["research"]
    assert len(server.requests) == 2


def test_slips_that_lose_nothing_are_set_right_without_asking() -> None:
    slips = {"query": "croup", "terms": "croup, dexamethasone", "limit": 900}
    gaps = {"requirements": [f"point {n}" for n in range(15)]}
    with serving(Scripted(calls=[("search_literature", slips), ("fill_knowledge_gaps", gaps)])) as server:
        search, filled = plan(server, view(round=2, made=(FOUND,)))
    assert search.arguments == {"query": "croup", "terms": ["croup", "dexamethasone"], "limit": 50}
    assert len(filled.arguments["requirements"]) == 10
    assert filled.arguments["question"] == QUESTION
    assert len(server.requests) == 1


def test_identical_calls_are_stopped_and_the_model_is_told() -> None:
    same = ("search_literature", {**SEARCH[1], "query": "Dexamethasone  in croup", "limit": 8})
    with serving(Scripted(calls=[same]), Scripted("Enough.")) as server:
        assert plan(server, view(round=2, made=(FOUND,))) == []
    assert "made before" in server.requests[1]["messages"][-1]["content"]
    with serving(Scripted(calls=[same, GAPS, GAPS])) as server:
        assert tools(plan(server, view(round=2, made=(FOUND,)))) == ["fill_knowledge_gaps"]
    assert len(server.requests) == 1


def test_what_was_refused_may_be_asked_for_again() -> None:
    refused = made("fill_knowledge_gaps", {"question": QUESTION}, Outcome.REFUSED)
    with serving(Scripted(calls=[GAPS])) as server:
        assert tools(plan(server, view(round=2, made=(FOUND, refused)))) == ["fill_knowledge_gaps"]


@pytest.mark.parametrize("said", [Scripted("It helps."), Scripted(""), Scripted("<think>Hm.</think>")])
def test_a_model_that_searches_for_nothing_is_replaced_in_that_round(said: Scripted) -> None:
    meter = Meter()
    with serving(said) as server:
        calls = plan(server, view("case"), meter)
    assert calls == local(view("case"))
    assert meter.fallen_back[0].what == "The language model searched for nothing."


def test_a_case_that_was_only_looked_up_is_searched_for_locally() -> None:
    looked = made("lookup_differential", {"case": CASE})
    meter = Meter()
    with serving(Scripted("Enough.")) as server:
        calls = plan(server, view("case", 2, made=(looked,)), meter)
    assert "search_literature" in tools(calls)
    assert len(meter.fallen_back) == 1


@pytest.mark.parametrize(
    ("fault", "asked"),
    [
        (Scripted(status=500, body="oops"), 1),
        (
            Scripted(status=400, body='{"error": {"message": "no tools"}}'),
            2,
        ),  # once without requiring a call
    ],
)
def test_after_a_failure_the_turn_is_planned_locally_without_asking_again(fault: Scripted, asked: int) -> None:
    meter = Meter()
    with serving(fault) as server:
        first = plan(server, view(), meter)
        so_far = tuple(made(c.tool, c.arguments).model_copy(update={"by": c.by}) for c in first)
        second = plan(server, view(round=2, made=so_far), meter)
    assert first == local(view())
    assert second == local(view(round=2, made=so_far))
    assert len(server.requests) == asked
    assert len(meter.fallen_back) == 1


def test_research_ends_after_the_gaps_and_the_last_round_asks_no_model() -> None:
    filled = made("fill_knowledge_gaps", {})
    with serving(Scripted(calls=[SEARCH])) as server:
        assert plan(server, view(round=2, made=(FOUND, filled))) == []
        read_on = FOUND.model_copy(update={"round": 2, "tool": "retrieve_passages", "arguments": {"query": "dose"}})
        last = plan(server, view(round=3, made=(FOUND, read_on)))
    assert last == local(view(round=3, made=(FOUND, read_on)))
    assert server.requests == []


def test_a_spent_budget_ends_research_and_before_the_first_search_costs_no_answer() -> None:
    with serving(Scripted(calls=[SEARCH])) as server:
        spent = Meter(Budget(calls=1))
        plan(server, view(), spent)
        with pytest.raises(BudgetError):
            plan(server, view(round=2, made=(FOUND,)), spent)
        assert plan(server, view(), spent) == local(view())
    assert len(server.requests) == 1


ARGUMENTS = st.dictionaries(
    st.sampled_from(["query", "terms", "limit", "case", "documents", "requirements", "question", "other"]),
    st.none() | st.text(max_size=30) | st.integers() | st.lists(st.text(max_size=10), max_size=15),
)
CALLS = st.lists(
    st.builds(Call, st.just(""), st.sampled_from([*SCHEMAS, "other"]), ARGUMENTS, st.sampled_from(["", "no JSON"])),
    max_size=6,
)


@given(CALLS)
def test_whatever_is_written_what_is_planned_fits_its_schema_and_is_new(calls: list[Call]) -> None:
    results = read(calls, "", SCHEMAS, view(made=(FOUND,)))
    assert len(results) == len(calls)
    planned = [r.planned for r in results if r.planned is not None]
    for call in planned:
        SCHEMAS[call.tool].model_validate(call.arguments)
        assert call.reason
    keys = [(c.tool, repr(SCHEMAS[c.tool].model_validate(c.arguments))) for c in planned]
    assert len(keys) == len(set(keys))
    assert all(r.wrong for r in results if r.planned is None)
