"""The short way in the machine: what the selector would drop is no answer, and the long way is taken."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent.questions import short_way
from agent.settings import Settings
from graphs.kads.contract import Dropped, Selection, SelectionContext
from graphs.planning.contract import MadeCall, ResearchView
from support.machine_parts import Scripted, parts
from tools.contract import Outcome
from tools.evidence import Evidence, Origin
from tools.questions.settings import QuestionSettings

FOUND = Evidence(id="own:a@0-4", text="Help", kind="text", origin=Origin.RETRIEVED)
CALL = MadeCall(round=1, tool="find_answered_question", arguments={}, outcome=Outcome.OK, result="")


class DropsAll(Scripted):
    async def select(
        self,
        question: str,
        requirements: Sequence[str],
        candidates: Sequence[Evidence],
        limit: int,
        context: SelectionContext | None = None,
    ) -> Selection:
        dropped = tuple(Dropped(evidence_id=e.id, reason="off the subject") for e in candidates)
        return Selection(requirements=tuple(requirements), kept=(), dropped=dropped, generated_share=0)


@pytest.mark.parametrize(("drops", "calls"), [(False, 0), (True, 1)])
def test_what_the_selector_drops_is_searched_for_the_long_way(drops: bool, calls: int) -> None:
    settings = Settings(questions=QuestionSettings(short_way=True))
    machine = replace(parts(), selector=DropsAll() if drops else Scripted())
    planner = short_way(machine, settings, cast(Any, SimpleNamespace(answers=lambda _: True))).planner
    view = ResearchView(
        question="evidence", kind="evidence", language="en", round=2, rounds_left=1, evidence=(FOUND,), made=(CALL,)
    )
    assert len(asyncio.run(planner.plan(view))) == calls
