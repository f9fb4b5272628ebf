"""Turns of the agent for an evaluation: each in a session of its own that is deleted afterwards."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from agent.agent import Agent
from agent.assembly import assemble, open_encoder
from agent.sessions import Home, new_session_id
from agent.settings import Settings
from evals.encoder import EvalEncoder
from graphs.answering.contract import Answer
from prompts.errors import InputError
from tools.embedding_cache import CachedEncoder


class Ask(Protocol):
    """Asks one message in a fresh session."""

    def __call__(self, text: str, options: Mapping[str, str] | None = None, given: Sequence[str] = ()) -> Answer:
        """The answer; the session is gone when it returns."""


@contextlib.contextmanager
def asking(settings: Settings, *, keep: bool = True) -> Iterator[Ask]:
    """The assembled local agent over the settings' data folder, with evaluation texts encoded only once.

    ``keep=False`` keeps no vector of a query, as for a user: what an evaluation of time asks for.
    """
    home = Home(settings.home).prepare()
    parts = assemble(settings, home, wrap=(lambda e: cached(e, home)) if keep else None)
    with Agent(settings, parts=parts) as agent:
        yield lambda text, options=None, given=(): _ask(agent, text, options, given)


def cached(encoder: CachedEncoder, home: Home) -> EvalEncoder:
    """An encoder that keeps the query vectors of evaluation texts under the data folder."""
    return EvalEncoder(encoder, home.cache / "evaluations")


def evaluation_encoders(settings: Settings, home: Home) -> tuple[CachedEncoder, EvalEncoder]:
    """The agent's own encoder, and the same with query vectors kept."""
    encoder = open_encoder(settings, home)
    return encoder, cached(encoder, home)


def _ask(agent: Agent, text: str, options: Mapping[str, str] | None, given: Sequence[str]) -> Answer:
    session = f"eval-{new_session_id()}"
    try:
        return agent.ask(text, session=session, options=dict(options) if options else None, given=given)
    finally:
        with contextlib.suppress(InputError):  # a turn that failed at once left no session
            agent.delete_session(session)
