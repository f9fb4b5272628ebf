"""The token bucket and the places, by themselves; and what a follower of a turn gets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.conversation import Step
from agent.server.access import LOCAL
from agent.server.limits import BURST, MINUTE, Places, Rate
from agent.server.problems import Refusal
from agent.server.settings import ServerSettings
from agent.server.turns import Question, Running, Turns
from graphs.answering.contract import Answer


@given(a_minute=st.integers(1, 1000), waits=st.lists(st.floats(0, 30), max_size=80))
def test_no_more_passes_than_the_burst_and_the_rate_allow(a_minute: int, waits: list[float]) -> None:
    moment, passed = 0.0, 0
    rate = Rate(a_minute, lambda: moment)
    for wait in waits:
        moment += wait
        try:
            rate.take("key")
            passed += 1
        except Refusal as refused:
            moment += (refused.retry_after or 0) * 1.000001 + 1e-9
            rate.take("key")  # what was said holds
            passed += 1
    assert passed <= max(1.0, a_minute / BURST) + moment * a_minute / MINUTE + 1e-6


def test_places_are_given_back_once() -> None:
    places = Places(each=1, all=2)
    give_back = places.take("a")
    with pytest.raises(Refusal, match="turns running"):
        places.take("a")
    other = places.take("b")
    with pytest.raises(Refusal, match="full"):
        places.take("c")
    give_back()
    give_back()
    other()
    assert places.taken == 0


def test_a_follower_who_comes_late_misses_no_step_and_gets_one_draft() -> None:
    async def followed() -> tuple[list[Step | Answer], list[Step | Answer], int]:
        freed: list[int] = []
        turn = Running("", lambda: freed.append(1))
        early = asyncio.create_task(_all(turn))
        await asyncio.sleep(0)
        turn.tell(Step(step="triage", status="finished"))
        turn.tell(Step(step="answer", status="text", text="A"))
        turn.tell(Step(step="answer", status="text", text="A fact"))
        late = asyncio.create_task(_all(turn))
        await asyncio.sleep(0)
        turn.tell(Step(step="answer", status="finished"))
        turn.end(Answer(question="?", kind="case", language="en"))
        turn.end(Refusal(500, "internal", "too late"))
        return await early, await late, len(freed)

    early, late, freed = asyncio.run(followed())
    assert [e.text for e in early[:-1] if isinstance(e, Step)] == ["", "A", "A fact", ""]
    assert [e.text for e in late[:-1] if isinstance(e, Step)] == ["", "A fact", ""]
    assert isinstance(early[-1], Answer)
    assert early[-1] == late[-1]
    assert freed == 1


async def _all(turn: Running) -> list[Step | Answer]:
    return [event async for event in turn]


def test_a_stop_waits_for_turns_until_it_is_hurried() -> None:
    class Slow:
        async def astream(self, text: str, **asked: Any) -> AsyncIterator[Step | Answer]:
            yield Step(step="triage", status="started")
            await asyncio.sleep(0.6 if text == "short" else 60)
            yield Answer(question=text, kind="case", language="en")

    async def stopped(*, hurry: bool) -> tuple[float, dict[str, str]]:
        turns = Turns(cast(Any, Slow()), ServerSettings())
        running = {text: turns.ask(LOCAL, Question(text, text)) for text in ("short", "long")}
        await asyncio.sleep(0)
        began = asyncio.get_running_loop().time()
        if hurry:
            asyncio.get_running_loop().call_later(0.1, turns.hurry)
        assert await turns.close(grace=1.2) == (2 if hurry else 1)
        with pytest.raises(Refusal, match="stopping"):
            turns.ask(LOCAL, Question("another", "another"))
        took = asyncio.get_running_loop().time() - began
        ended = {text: turn.ended for text, turn in running.items()}
        return took, {text: how.code if isinstance(how, Refusal) else "answered" for text, how in ended.items()}

    took, ended = asyncio.run(stopped(hurry=False))
    assert took >= 1.2
    assert ended == {"short": "answered", "long": "stopping"}
    took, ended = asyncio.run(stopped(hurry=True))
    assert took < 0.6
    assert ended == {"short": "stopping", "long": "stopping"}
