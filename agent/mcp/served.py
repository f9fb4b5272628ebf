"""Turns on the server: with its places and times, and stored whether or not the client stays, as those of its API."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, cast

from agent.mcp.asking import TimedOutError
from agent.mcp.callers import Caller, ScopeError
from agent.server.problems import Refusal
from agent.server.turns import Question, stopping
from prompts.errors import AnamnesisError, InputError, ServiceError

if TYPE_CHECKING:
    from agent.agent import Agent
    from agent.conversation import Step
    from agent.mcp.arguments import Ask
    from agent.server.turns import Turns
    from graphs.answering.contract import Answer

FORBIDDEN, NOT_FOUND, BUSY, BAD, LATE = 403, 404, 409, 400, 504  # statuses of the server's refusals
KINDS: dict[int, type[AnamnesisError]] = {
    FORBIDDEN: ScopeError,
    NOT_FOUND: InputError,
    BUSY: InputError,
    BAD: InputError,
    LATE: TimedOutError,
}


class Served:
    """Turns of the server's own kind.

    Args:
        turns: the server's. seconds: how long a call may take.
    """

    def __init__(self, turns: Turns, seconds: float) -> None:
        self._turns = turns
        self.seconds: float | None = seconds

    def turn(self, agent: Agent, asked: Ask, session: str, caller: Caller) -> AsyncIterator[Step | Answer]:
        """The steps of a turn, then its answer."""
        del agent  # the server's turns have it
        return self._turn(asked, session, caller)

    def call(self, caller: Caller) -> AbstractContextManager[object]:
        """A place for a call, as for a turn."""
        return self._call(caller)

    async def _turn(self, asked: Ask, session: str, caller: Caller) -> AsyncIterator[Step | Answer]:
        question = Question(session, asked.message, asked.options, asked.given, asked.report)
        with _told():
            async for event in self._turns.ask(cast(Any, caller), question):
                yield event

    @contextmanager
    def _call(self, caller: Caller) -> Iterator[None]:
        with _told():
            if self._turns.closing:
                raise stopping()
            give_back = self._turns.places.take(caller.id)
        try:
            yield
        finally:
            give_back()


@contextmanager
def _told() -> Iterator[None]:
    """What the server refuses becomes a typed error."""
    try:
        yield
    except Refusal as refusal:
        raise KINDS.get(refusal.status, ServiceError)(refusal.what, refusal.advice) from None
