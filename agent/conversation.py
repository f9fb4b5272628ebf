"""A session as a Python object: turns that know of each other, and the steps of a turn."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack

from pydantic import BaseModel, Field

from graphs.answering.contract import Answer
from tools.contract import FollowUpQuestion

if TYPE_CHECKING:
    from agent.agent import Agent

Options = dict[str, str] | None  # letter to text
Given = Sequence[str]  # texts given with a question
Replying = Callable[[FollowUpQuestion], Awaitable[str]]
"""Asks a question of whoever sent the message and waits for the reply; "" leaves it open."""


class Asked(NamedTuple):
    """A message with what came with it; see `Agent.ask`."""

    text: str
    session: str | None = None
    options: Options = None
    given: Given = ()
    report: bool = False
    owner: str = ""
    turn_key: str = ""
    replying: Replying | None = None
    documents: Sequence[str] = ()
    replaces: int = 0


class In(TypedDict, total=False):
    """What may come with a message in a session, by name; see `Agent.ask`."""

    options: Options
    given: Given
    report: bool
    turn_key: str
    replying: Replying | None
    documents: Sequence[str]
    replaces: int


class With(In, total=False):
    """What may come with a message, by name; see `Agent.ask`."""

    session: str | None
    owner: str


class Step(BaseModel):
    """A step of a turn, as it happens.

    ``status`` is ``started``, ``progress``, ``finished``, ``asks``, ``text`` or ``verified``. Of ``progress``,
    ``summary`` is what the tool does now, in the language of the turn. One that ``asks`` waits for a reply to the
    question in ``summary``, which is whole in ``data``. Of ``text``, ``text`` is the answer so far as a model writes
    it, whole each time: a draft that nothing has verified, which the answer replaces. Of ``verified``, ``text`` is what
    the answer's Markdown begins with and nothing takes back, and ``data`` holds its verified ``sentences``. Else
    ``data`` holds details of a finished step: ``gate``, ``differential``, ``evidence`` (see docs/server.md).
    """

    step: str
    status: str
    tool: str = ""
    summary: str = ""
    seconds: float = 0.0
    text: str = ""
    data: dict[str, Any] = Field(default_factory=dict)


class Session:
    """Turns that know of each other, in a session that outlives the program."""

    def __init__(self, agent: Agent, session: str, owner: str = "") -> None:
        self._agent = agent
        self._owner = owner
        self.id = session

    def ask(self, text: str, **asked: Unpack[In]) -> Answer:
        """Answer a message and wait for it; arguments as for `Agent.ask`."""
        return self._agent.ask(text, session=self.id, owner=self._owner, **asked)

    async def aask(self, text: str, **asked: Unpack[In]) -> Answer:
        """Answer a message."""
        return await self._agent.aask(text, session=self.id, owner=self._owner, **asked)

    def astream(self, text: str, **asked: Unpack[In]) -> AsyncIterator[Step | Answer]:
        """The steps of a turn as they happen, then its answer."""
        return self._agent.astream(text, session=self.id, owner=self._owner, **asked)

    def stream(self, text: str, **asked: Unpack[In]) -> Iterator[Step | Answer]:
        """The steps of a turn as they happen, then its answer, from synchronous code."""
        return self._agent.stream(text, session=self.id, owner=self._owner, **asked)

    def resume(self, replying: Replying | None = None) -> Answer:
        """Finish the turn that was cut off, or give the last answer once more."""
        return self._agent.resume(self.id, self._owner, replying)

    def delete(self) -> None:
        """Delete the session with all that it left."""
        self._agent.delete_session(self.id, self._owner)
