"""Turns of an evaluation leave nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.agent import Agent
from agent.settings import Settings
from evals import sessions
from prompts.errors import InputError
from support.machine_parts import parts


@pytest.fixture
def asking(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripted machine in place of the assembled one."""
    monkeypatch.setattr(sessions, "assemble", lambda settings, home, wrap, *_, **__: parts())


@pytest.mark.usefixtures("asking")
def test_the_session_of_a_turn_is_gone_when_it_is_answered(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    with sessions.asking(settings) as ask:
        answer = ask("what helps in croup")
        assert answer.statements
        assert answer.session.startswith("eval-")
    with Agent(settings, parts=parts()) as agent:
        assert agent.sessions() == []
    assert not (tmp_path / "traces" / answer.session).exists()


@pytest.mark.usefixtures("asking")
def test_turns_know_nothing_of_each_other(tmp_path: Path) -> None:
    with sessions.asking(Settings(home=tmp_path)) as ask:
        first, second = ask("case one"), ask("case two")
    assert first.session != second.session
    assert (first.turn, second.turn) == (1, 1)


@pytest.mark.usefixtures("asking")
def test_a_refused_message_says_why_and_not_that_its_session_is_missing(tmp_path: Path) -> None:
    with sessions.asking(Settings(home=tmp_path)) as ask, pytest.raises(InputError, match="empty"):
        ask("   ")


def test_users_sessions_stay(tmp_path: Path, asking: None) -> None:
    settings = Settings(home=tmp_path)
    with Agent(settings, parts=parts()) as agent:
        agent.ask("case mine", session="mine")
    with sessions.asking(settings) as ask:
        ask("case of an evaluation")
    with Agent(settings, parts=parts()) as agent:
        assert agent.sessions() == ["mine"]
