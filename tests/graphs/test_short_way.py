"""The short way: one call for a question that a stored one answers, the long way for all else."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from graphs.planning.contract import PlannedCall, ResearchView
from graphs.planning.short_way import PlannerShortWay

LONG = [PlannedCall(tool="search_literature", arguments={}, reason="long")]


class Long:
    async def plan(self, view: ResearchView) -> list[PlannedCall]:
        return LONG


def planned(answered: bool, **view: Any) -> list[str]:
    given = {"question": "Do statins help?", "kind": "evidence", "language": "en", "round": 1, "rounds_left": 2, **view}
    planner = PlannerShortWay(Long(), lambda _: answered)
    return [call.tool for call in asyncio.run(planner.plan(ResearchView(**given)))]


def test_what_is_answered_needs_one_call_and_one_round() -> None:
    assert planned(True) == ["find_answered_question"]
    assert planned(True, round=2) == []


@pytest.mark.parametrize("kind", ["case", "multiple_choice", "follow_up"])
def test_nothing_but_a_question_of_evidence_goes_the_short_way(kind: str) -> None:
    assert planned(True, kind=kind) == ["search_literature"]


def test_what_is_not_answered_goes_the_long_way() -> None:
    assert planned(False) == planned(False, round=2) == ["search_literature"]
