"""Conversations with the agent for an evaluation: each in a session of its own that is deleted afterwards."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

from agent.agent import Agent
from agent.assembly import assemble
from agent.sessions import Home, new_session_id
from agent.settings import Settings
from evals.agent_runs import cached
from graphs.answering.contract import Answer
from prompts.errors import InputError

Talk = Callable[[Sequence[str]], list[Answer]]
"""Says messages one after the other in one fresh session; the answers in order."""


@contextlib.contextmanager
def talking(settings: Settings) -> Iterator[Talk]:
    """The assembled local agent over the settings' data folder, with evaluation texts encoded only once."""
    home = Home(settings.home).prepare()
    with Agent(settings, parts=assemble(settings, home, wrap=lambda e: cached(e, home))) as agent:
        yield lambda messages: _talk(agent, messages)


def _talk(agent: Agent, messages: Sequence[str]) -> list[Answer]:
    session = f"eval-{new_session_id()}"
    try:
        return [agent.ask(message, session=session) for message in messages]
    finally:
        with contextlib.suppress(InputError):  # a turn that failed at once left no session
            agent.delete_session(session)
