"""A turn that is stopped, and a last message that another takes the place of: the session goes on as without it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.agent import Agent
from agent.loop import run
from agent.sessions import Feedback, Review
from agent.settings import Settings
from prompts.errors import InputError
from support.machine_parts import Scripted, parts


@pytest.fixture
def script() -> Scripted:
    return Scripted()


@pytest.fixture
def agent(tmp_path: Path, script: Scripted) -> Iterator[Agent]:
    with Agent(Settings(home=tmp_path), parts=parts(script)) as made:
        yield made


def cut(agent: Agent, text: str, step: str, **asked: Any) -> None:
    """Ask, and go away at a step."""

    async def asks() -> None:
        steps = agent.astream(text, session="s", **asked)
        async for told in steps:
            if getattr(told, "step", "") == step:
                break
        await steps.aclose()  # type: ignore[attr-defined]

    asyncio.run(asks())


def heard(script: Scripted) -> list[str]:
    """What the machine knows of as said before the last message."""
    return list([v for v in script.views if hasattr(v, "messages")][-1].messages)


def state(agent: Agent) -> dict[str, Any]:
    """The machine's session-scoped values, what is blank left out."""
    values: dict[str, Any] = run(agent._machine.aget_state({"configurable": {"thread_id": "s"}})).values
    named = ("turn", "case_key", "facts_key", "subject", "findings", "evidence", "asked", "offered", "last_answer_key")
    return {name: values[name] for name in named if values.get(name)}


@pytest.mark.parametrize("step", ["triage", "research", "collect", "answer"])
@pytest.mark.parametrize("before", [[], ["case: a barking cough"]])
def test_a_stopped_turn_is_kept_and_counts_no_more(
    agent: Agent, script: Scripted, before: list[str], step: str
) -> None:
    for text in before:
        agent.ask(text, session="s")
    held = state(agent)
    cut(agent, "case: a rach on the legs", step)
    stopped = agent.stop("s")
    assert stopped.abstained
    assert [n.code for n in stopped.notices] == ["stopped"]
    assert state(agent) == held
    assert not run(agent.records.get("s")).unfinished
    assert agent.stop("s") == stopped
    assert agent.resume("s") == stopped
    after = agent.ask("case: a rash on the legs", session="s")
    assert heard(script) == before
    assert [n.code for n in after.notices] == [], "the stopped turn was finished first"
    turns = run(agent.records.turns("s"))
    assert [t.asked for t in turns] == [*before, "case: a rach on the legs", "case: a rash on the legs"]
    assert turns[-2].answer == stopped


@pytest.mark.parametrize("before", [[], ["case: a barking cough"], ["case: a barking cough", "yes"]])
def test_a_last_message_is_replaced_as_though_it_had_not_been_said(
    agent: Agent, script: Scripted, before: list[str]
) -> None:
    for text in before:
        agent.ask(text, session="s")
    held, last = state(agent), len(before) + 1
    agent.ask("case: a rach", session="s")
    run(agent.records.feedback("s", last, Feedback(helpful=False, reason="a slip")))
    for text in ("case: a rush", "case: a rash"):
        answer = agent.ask(text, session="s", replaces=last)
        assert answer.turn == last
        assert heard(script) == before
    turns = run(agent.records.turns("s"))
    assert [t.asked for t in turns] == [*before, "case: a rash"]
    assert turns[-1].answer == answer
    assert turns[-1].feedback is None
    assert run(agent.records.get("s")).title == [*before, "case: a rash"][0]
    events = run(agent.traces.events(f"s/{last}"))
    assert [e["kind"] for e in events].count("run") == 1, "the trace holds another turn too"
    assert set(held.get("evidence", {})) <= set(state(agent)["evidence"])


def test_a_turn_that_was_cut_off_or_stopped_is_replaced_too(agent: Agent, script: Scripted) -> None:
    cut(agent, "case: a rach", "research")
    first = agent.ask("case: a rush", session="s", replaces=1)
    assert [n.code for n in first.notices] == []
    cut(agent, "case: it ichtes", "research")
    agent.stop("s")
    agent.ask("case: it itches", session="s", replaces=2, turn_key="k")
    assert heard(script) == ["case: a rush"]
    again = agent.ask("case: it itches", session="s", replaces=2, turn_key="k")
    assert again.turn == 2
    assert len(run(agent.records.turns("s"))) == 2


def test_only_the_last_turn_is_replaced_and_none_that_a_clinician_has_reviewed(agent: Agent) -> None:
    agent.ask("croup?", session="s")
    agent.ask("case: a cough", session="s")
    for turn in (1, 3):
        with pytest.raises(InputError, match="not the last turn"):
            agent.ask("croup!", session="s", replaces=turn)
    with pytest.raises(InputError, match="not the last turn"):
        agent.ask("croup!", session="another", replaces=1)
    run(agent.records.review("s", 2, Review(verdict="accepted")))
    with pytest.raises(InputError, match="reviewed"):
        agent.ask("case: a cold", session="s", replaces=2)
    assert [t.asked for t in run(agent.records.turns("s"))] == ["croup?", "case: a cough"]
    with pytest.raises(InputError, match="no message"):
        agent.stop(run(agent.records.create()).id)


def test_what_a_stopped_turn_has_spent_stays_spent() -> None:
    from graphs.state import kept, undone

    spent = {"calls": 2, "cost": 0.5}
    now = {"turn": 2, "spent_before": spent, "spent": {"answer": {"calls": 1, "cost": 0.25}}, "answer_key": ""}
    back = undone(kept({"turn": 1, "spent_before": spent}), now)
    assert (back["spent_before"]["calls"], back["spent_before"]["cost"]) == (3, 0.75)
    assert undone(kept({}), now | {"answer_key": "k"})["spent_before"]["calls"] == 2
