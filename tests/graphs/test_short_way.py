"""The short way: one call for a question that a stored one answers, the long way for all else."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from graphs.planning.contract import MadeCall, PlannedCall, ResearchView
from graphs.planning.local import PlannerShortWay
from tools.contract import Outcome
from tools.evidence import Evidence, Origin

LONG = [PlannedCall(tool="search_literature", arguments={}, reason="long")]
LONG_ROUNDS: list[int] = []


class Long:
    async def plan(self, view: ResearchView) -> list[PlannedCall]:
        LONG_ROUNDS.append(view.round)
        return LONG


def made(round: int, tool: str) -> MadeCall:
    return MadeCall(round=round, tool=tool, arguments={}, outcome=Outcome.OK, result="")


FOUND = (Evidence(id="own:a@0-4", text="Help", kind="text", origin=Origin.RETRIEVED),)
SECOND: dict[str, Any] = {"round": 2, "made": (made(1, "find_answered_question"),), "evidence": FOUND}


def planned(answered: bool, kept: bool = True, **view: Any) -> list[str]:
    given = {"question": "Do statins help?", "kind": "evidence", "language": "en", "round": 1, "rounds_left": 2, **view}

    async def keeps(view: ResearchView) -> bool:
        return kept and view.evidence == FOUND

    planner = PlannerShortWay(Long(), lambda _: answered, keeps)
    return [call.tool for call in asyncio.run(planner.plan(ResearchView(**given)))]


def test_what_is_answered_needs_one_call_and_one_round() -> None:
    assert planned(True) == ["find_answered_question"]
    assert planned(True, **SECOND) == []


def test_the_long_way_is_taken_where_nothing_is_kept_of_what_the_short_one_found() -> None:
    assert planned(True, kept=False, **SECOND) == ["search_literature"]
    assert planned(True, **{**SECOND, "evidence": ()}) == ["search_literature"]
    later = (*SECOND["made"], made(2, "search_literature"))
    assert planned(True, kept=False, **{**SECOND, "round": 3, "made": later}) == ["search_literature"]
    assert LONG_ROUNDS[-3:] == [1, 1, 2]  # the first round of the long way is its first


@pytest.mark.parametrize("kind", ["case", "multiple_choice", "follow_up"])
def test_nothing_but_a_question_of_evidence_goes_the_short_way(kind: str) -> None:
    assert planned(True, kind=kind) == ["search_literature"]


def test_what_is_not_answered_goes_the_long_way() -> None:
    assert planned(False) == planned(False, round=2) == ["search_literature"]
