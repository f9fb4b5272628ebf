"""One contract for both planners, by rules and by a model over a real socket: a whole turn, round by round."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from graphs.planning.by_model import PlannerByModel
from graphs.planning.contract import MadeCall, PlannedCall, Planner
from graphs.planning.local import PlannerLocal
from support.planned_by_model import CASE, QUESTION, SEARCH, view
from support.planning_tools import SCHEMAS, five_tools, model_at
from support.scripted_model import Request, Scripted, serving, serving_by
from tools.contract import Outcome
from tools.evidence import Evidence, Origin

READ = ("retrieve_passages", {"query": "dose", "documents": ["library:croup"]})
FOUND = Evidence(id="library:croup@0-4", text="text", kind="monograph", origin=Origin.RETRIEVED)
ROUNDS = 3


def obedient(request: Request) -> Scripted:
    """Searches, reads and fills, then stops."""
    past = sum(m["role"] == "assistant" for m in request["messages"])
    return [Scripted(calls=[SEARCH]), Scripted(calls=[READ, ("fill_knowledge_gaps", {})]), Scripted("Enough.")][
        min(past, 2)
    ]


def restless(request: Request) -> Scripted:
    """Calls something new for ever, and something bad beside it."""
    past = len(request["messages"])
    return Scripted(calls=[("search_literature", {"query": f"croup {past}"}), ("dance", {})])


@pytest.fixture(params=["local", "obedient model", "restless model", "silent model", "failing model"])
def planner(request: pytest.FixtureRequest) -> Iterator[Planner]:
    local = PlannerLocal({"library:croup"}.__contains__)
    if request.param == "local":
        yield local
        return
    playing = {
        "obedient model": lambda: serving_by(obedient),
        "restless model": lambda: serving_by(restless),
        "silent model": lambda: serving(Scripted("Croup is treated with steroids.")),
        "failing model": lambda: serving(Scripted(status=503, body="oops")),
    }[request.param]
    with playing() as server:
        yield PlannerByModel(model_at(server.url, "research"), local, five_tools())


async def turn(planner: Planner, kind: str) -> list[list[PlannedCall]]:
    """The calls of every round, each call brought back as made; what no tool takes is refused."""
    rounds: list[list[PlannedCall]] = []
    made: tuple[MadeCall, ...] = ()
    for number in range(1, ROUNDS + 1):
        evidence = (FOUND,) if made else ()
        calls = await planner.plan(view(kind, number, made=made, evidence=evidence, calls_left=12 - len(made)))
        if not calls:
            break
        rounds.append(calls)
        made += tuple(
            MadeCall(
                round=number, tool=c.tool, arguments=c.arguments, result="a result", by=c.by,
                outcome=Outcome.OK if c.tool in SCHEMAS else Outcome.REFUSED,
            )
            for c in calls
        )  # fmt: skip
    return rounds


@pytest.mark.parametrize("kind", ["case", "evidence"])
def test_a_turn_searches_fills_gaps_once_and_ends(planner: Planner, kind: str) -> None:
    rounds = asyncio.run(turn(planner, kind))
    calls = [c for made in rounds for c in made if c.tool in SCHEMAS]
    tools = [c.tool for c in calls]
    assert "search_literature" in [c.tool for c in rounds[0]]
    assert tools.count("fill_knowledge_gaps") == 1
    assert tools[-1] == "fill_knowledge_gaps"
    assert tools.count("lookup_differential") == (kind == "case")
    for call in calls:
        SCHEMAS[call.tool].model_validate(call.arguments)
        assert call.reason
    keys = [(c.tool, json.dumps(c.arguments, sort_keys=True)) for c in calls]
    assert len(keys) == len(set(keys))
    looked = [c.arguments["case"] for c in calls if c.tool == "lookup_differential"]
    assert looked == ([CASE] if kind == "case" else [])
    assert all(
        c.arguments["question"] == (CASE if kind == "case" else QUESTION)
        for c in calls
        if c.tool == "fill_knowledge_gaps"
    )


def test_nothing_is_left_after_the_gaps_were_filled(planner: Planner) -> None:
    filled = MadeCall(
        round=2, tool="fill_knowledge_gaps", arguments={"question": QUESTION}, outcome=Outcome.OK, result=""
    )
    searched = filled.model_copy(update={"round": 1, "tool": SEARCH[0], "arguments": SEARCH[1], "by": "model"})
    assert asyncio.run(planner.plan(view(round=3, made=(searched, filled), evidence=(FOUND,)))) == []
