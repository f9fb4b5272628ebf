"""The tool `ask`: a turn of a session, its steps as progress; and where turns run, on a terminal or on the server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Protocol, TypeVar

import anyio

from agent.mcp.arguments import Ask
from agent.mcp.callers import Caller
from prompts.errors import ServiceError

if TYPE_CHECKING:
    from agent.agent import Agent
    from agent.conversation import Step
    from graphs.answering.contract import Answer

T = TypeVar("T")
Report = Callable[[float, str], Awaitable[None]]
"""Tells progress: how many steps have ended, and a line about the last one."""


class TimedOutError(ServiceError):
    """A call took longer than the server allows."""


class Place(Protocol):
    """Where turns and calls run. What it refuses, it refuses with an AnamnesisError."""

    @property
    def seconds(self) -> float | None:
        """How long a call of one of the five tools may take; None for ever."""

    def turn(self, agent: Agent, asked: Ask, session: str, caller: Caller) -> AsyncIterator[Step | Answer]:
        """The steps of a turn, then its answer."""

    def call(self, caller: Caller) -> AbstractContextManager[object]:
        """Holds a place for a call of one of the five tools."""


class Here:
    """Turns of a terminal's user: no limits; a turn that its client cancels stops, and can be resumed."""

    seconds: float | None = None

    def turn(self, agent: Agent, asked: Ask, session: str, caller: Caller) -> AsyncIterator[Step | Answer]:
        """The steps of a turn, then its answer."""
        return agent.astream(
            asked.message,
            session=session,
            options=asked.options,
            given=asked.given,
            report=asked.report,
            owner=caller.id,
        )

    def call(self, caller: Caller) -> AbstractContextManager[object]:
        """Nothing is held."""
        del caller
        return nullcontext()


async def ask(agent: Agent, asked: Ask, caller: Caller, place: Place, report: Report) -> Answer:
    """A turn. One that was cut off can go on: the next message in its session finishes it first.

    Raises:
        InputError: a message that cannot be taken; a session that is unknown, or another's.
        ServiceError: the server has no place for it, or it took too long.
    """
    from agent.conversation import Step
    from agent.sessions import new_session_id

    session = await known(agent, asked.session, caller) if asked.session is not None else new_session_id()
    await report(0, f"session {session}")
    done = 0
    async for event in place.turn(agent, asked, session, caller):
        if not isinstance(event, Step):
            return event
        if event.status == "finished":
            done += 1
            await report(done, line(event))
    raise RuntimeError("a turn ended without an answer")  # a turn always ends with one


async def known(agent: Agent, session: str, caller: Caller) -> str:
    """The session's id; raises InputError for one that is unknown or another's, which cannot be told apart."""
    from agent.loop import arun
    from agent.sessions import check_session_id

    await arun(agent.records.get(check_session_id(session), caller.id))
    return session


async def within(seconds: float | None, work: Awaitable[T]) -> T:
    """What the work gives; raises TimedOutError when it takes longer. None waits for ever."""
    with anyio.move_on_after(seconds):
        return await work
    raise TimedOutError(f"This took longer than {seconds:g} s and was stopped.", "Ask for less at once.")


def line(step: Step) -> str:
    """A finished step in a line."""
    name = f"{step.step}: {step.tool}" if step.tool else step.step
    return f"{name} ({step.seconds:.2f} s) {step.summary}".strip()
