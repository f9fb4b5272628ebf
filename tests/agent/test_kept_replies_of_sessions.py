"""Replies kept for sessions by the assembled agent: a turn asked again asks no model, and deletion leaves no word."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from agent.agent import Agent
from agent.models import kept_replies, open_models
from agent.sessions import Home
from agent.settings import load_settings
from prompts.errors import InputError
from support.homes import linked
from support.model_player import play
from support.scripted_model import serving_by

QUESTION = "Does dexamethasone help Quibblewort's croup?"
SPLIT = b"Quibblewort"


def test_a_turn_asked_again_asks_no_model_and_a_deleted_session_is_nowhere(built_home: Path, tmp_path: Path) -> None:
    home = linked(built_home, tmp_path / "home")
    with serving_by(play) as server:
        literature = {"live": "off", "mirror": None}
        settings = load_settings(
            home=home, model="m", model_cache="session", literature=literature, OPENAI_BASE_URL=server.url
        )
        with Agent(settings) as agent:
            first = agent.ask(QUESTION, session="one")
            asked = len(server.requests)
            again = agent.ask(QUESTION, session="two")
            made = [s.text for s in first.statements], [s.text for s in again.statements]
            assert len(server.requests) == asked == first.usage.model_calls
            assert (again.usage.model_calls, again.usage.session.cached > 0) == (0, True)
            assert made[0] == made[1]
            assert SPLIT in _all(home)
            agent.delete_session("one")
            agent.ask(QUESTION, session="two")
            agent.delete_session("two")
    assert SPLIT not in _all(home)


def _all(home: Path) -> bytes:
    """Every byte of the replies, with the log beside them."""
    return b"".join(f.read_bytes() for f in home.glob("replies.sqlite*"))


def test_replies_are_not_kept_beside_sessions_of_a_database(tmp_path: Path) -> None:
    given = {"home": tmp_path, "model": "m", "model_cache": "session"}
    settings = load_settings(**given).model_copy(update={"database": SecretStr("postgresql://u:p@h/d")})
    with pytest.raises(InputError, match="files only"):
        open_models(settings, Home(tmp_path))


@pytest.mark.parametrize(
    ("cache", "told"),
    [("off", ""), ("session", "in replies.sqlite, until"), ("evaluation", "evaluation_replies.sqlite")],
)
def test_doctor_tells_where_replies_are_kept(cache: str, told: str, tmp_path: Path) -> None:
    kept = kept_replies(load_settings(home=tmp_path, model="m", model_cache=cache), Home(tmp_path))
    assert told in kept
    assert bool(kept) == bool(told)


def test_nothing_is_kept_by_default(tmp_path: Path) -> None:
    models = open_models(load_settings(home=tmp_path, model="m"), Home(tmp_path))
    assert models is not None
    assert not (tmp_path / "replies.sqlite").exists()
