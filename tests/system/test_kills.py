"""Workers killed with -9 at every point of a turn, and several workers on one database."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from agent.agent import Agent
from agent.loop import run
from agent.sessions import SessionBusy
from agent.settings import Settings
from prompts.errors import InputError
from support.machine_parts import Scripted, parts
from support.session_worker import CHECKPOINTS, STOPS, lines, wait_for, worker

Place = dict[str, Any]
TURN = [
    "triage", "gate", "plan 1", "tool croup", "plan 2", "tool croup treatment", "plan 3", "select", "filter",
    "answer", "verify",
]  # fmt: skip
FEW = [
    "before the record", "after the record", "before checkpoint 1", "after the first checkpoint", "before checkpoint 6",
    "select", f"before checkpoint {CHECKPOINTS}", "before the end", "after the end",
]  # fmt: skip
TEXT = "A fact about croup. A fact about croup treatment."


def agent_of(place: Place, script: Scripted | None = None, **more: Any) -> Agent:
    return Agent(Settings(**place, **more), parts=parts(script))


def kill(process: Any) -> None:
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("place", "stop"),
    [
        ("sqlite", "select"),
        ("postgres", "before checkpoint 6"),
        *(pytest.param("sqlite", stop, marks=pytest.mark.slow) for stop in FEW if stop != "select"),
        *(
            pytest.param("postgres", stop, marks=pytest.mark.slow)
            for stop in FEW[2:8:2]
            if stop != "before checkpoint 6"
        ),
    ],
    indirect=["place"],
)
def test_a_turn_killed_anywhere_is_neither_lost_nor_answered_twice(place: Place, tmp_path: Path, stop: str) -> None:
    killed_and_resumed(place, tmp_path, stop)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, CHECKPOINTS + 1))
def test_a_turn_killed_before_any_of_its_checkpoints_goes_on(place: Place, tmp_path: Path, number: int) -> None:
    killed_and_resumed(place, tmp_path, f"before checkpoint {number}")


def killed_and_resumed(place: Place, tmp_path: Path, stop: str) -> None:
    with agent_of(place) as agent:
        agent.ask("hello", session="s")
    log = tmp_path / "log"
    pause = {"select": 600.0} if stop == "select" else {}
    asked = {"text": "croup?", "session": "s", "turn_key": "k", "options": None}
    with worker(place, log, pause, stop if stop in STOPS else "", **asked) as process:
        wait_for(log, stop)
        kill(process)
    before = [line for line in lines(log) if line not in STOPS]

    script = Scripted()
    with agent_of(place, script, sessions={"wait": 60}) as agent:
        recorded = run(agent.records.get("s"))
        assert recorded.turns == (1 if stop == "before the record" else 2)
        assert recorded.unfinished == (stop not in ("before the record", "after the end"))
        if recorded.unfinished:
            assert run(agent.records.turns("s"))[1].asked == "croup?"
            assert agent.resume("s").text == TEXT
        answer = agent.ask("croup?", session="s", turn_key="k")
        turns = run(agent.records.turns("s"))
        state = run(agent._machine.aget_state({"configurable": {"thread_id": "s"}})).values
    assert (answer.turn, answer.text) == (2, TEXT)
    assert [t.answer.turn for t in turns if t.answer] == [1, 2]
    assert [(m["role"], m["turn"]) for m in state["messages"]] == [
        ("user", 1), ("assistant", 1), ("user", 2), ("assistant", 2),
    ]  # fmt: skip
    assert TURN in (before + script.log, before[:-1] + script.log), "only the step that was cut off may run again"


def test_a_killed_first_turn_of_a_session_with_given_texts_starts_again_whole(place: Place, tmp_path: Path) -> None:
    log = tmp_path / "log"
    asked = {"text": "croup?", "session": "new", "given": ["A given text."], "options": {"A": "yes", "B": "no"}}
    with worker(place, log, {}, "after the record", report=True, **asked) as process:
        wait_for(log, "after the record")
        kill(process)
    script = Scripted()
    with agent_of(place, script, sessions={"wait": 60}) as agent:
        assert agent.sessions() == ["new"]
        agent.resume("new")
        state = run(agent._machine.aget_state({"configurable": {"thread_id": "new"}})).values
    assert state["options"] == {"A": "yes", "B": "no"}
    assert state["report"] is True
    assert len(state["given"]) == 1


def test_a_second_worker_is_refused_while_a_turn_runs_and_goes_on_when_it_was_killed(
    place: Place, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    at_once = agent_of(place, sessions={"wait": 0})
    with worker(place, log, {"select": 600.0}, text="croup?", session="s") as process, at_once as agent:
        wait_for(log, "select")
        for refused in (lambda: agent.ask("croup?", session="s"), lambda: agent.delete_session("s")):
            with pytest.raises(SessionBusy) as caught:
                refused()
            assert isinstance(caught.value, InputError)
        assert run(agent.records.expire(1e-9)) == []
        assert agent.ask("hello", session="another").turn == 1
        assert run(agent.records.get("s")).unfinished
        kill(process)
    with agent_of(place, sessions={"wait": 60}) as agent:  # the server notices the death in a moment
        assert agent.resume("s").text == TEXT
        assert agent.ask("hello", session="s").turn == 2


def test_a_second_worker_waits_where_that_is_set(place: Place, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with (
        worker(place, log, {"select": 1.0}, text="croup?", session="s") as process,
        agent_of(place, sessions={"wait": 60}) as agent,
    ):
        wait_for(log, "select")
        answer = agent.ask("hello", session="s")
        process.join(30)
    assert (answer.turn, answer.notices[0].code) == (2, "small_talk")
    assert lines(log)[-1] == "answered 1"
