"""What is known of a session, and the database that keeps it.

`SessionRecord`, `TurnRecord`, `Review` and `Feedback` are public.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, model_validator

from graphs.answering.contract import Answer
from prompts.errors import InputError
from tools.store import TextStore

LONGEST_TITLE = 200  # ours: characters; a title is a line, not a text
LONGEST_REASON = 2_000  # ours: why an answer helped is a few sentences
LONGEST_CORRECTION = 20_000  # ours: as long as a message may be

Statement = tuple[str, tuple[Any, ...]]  # SQL with ``?`` placeholders, and its parameters
Row = tuple[Any, ...]
Release = Callable[[], Awaitable[None]]  # gives a lock back


class SessionRecord(BaseModel):
    """A session as it is listed.

    Attributes:
        owner: id of the key that it belongs to; "" for the command line and for Python without a server.
        title: the first words of its first message, until it is renamed.
        created, updated: when it was made, and when its last turn began or ended (UTC, ISO 8601).
        turns: how many messages it holds.
        unfinished: its last turn was cut off before the answer.
        needs_review: an answer asks for a clinician's review and has none.
    """

    model_config = ConfigDict(extra="forbid")

    id: str
    owner: str = ""
    title: str = ""
    created: str
    updated: str
    turns: int = 0
    unfinished: bool = False
    needs_review: bool = False


class Review(BaseModel):
    """What a clinician says of an answer.

    Attributes:
        correction: what the answer should say; only, and always, with the verdict ``corrected``.
        reviewer: the name that the review is given under.
        at: when (UTC, ISO 8601); "" until it is kept.
    """

    model_config = ConfigDict(extra="forbid")

    verdict: Literal["accepted", "corrected", "rejected"]
    correction: str = Field(default="", max_length=LONGEST_CORRECTION)
    reviewer: str = Field(default="", max_length=LONGEST_TITLE)
    at: str = ""

    @model_validator(mode="after")
    def _corrected_says_how(self) -> Review:
        if bool(self.correction.strip()) != (self.verdict == "corrected"):
            raise ValueError("a correction belongs to the verdict `corrected`, and to no other")
        return self


class Feedback(BaseModel):
    """Whether an answer helped whoever asked, and why; ``at`` as in a review."""

    model_config = ConfigDict(extra="forbid")

    helpful: bool
    reason: str = Field(default="", max_length=LONGEST_REASON)
    at: str = ""


class TurnRecord(BaseModel):
    """A turn: the message, and its answer, which is None while it runs, or when it was cut off."""

    model_config = ConfigDict(extra="forbid")

    turn: int
    asked: str
    asked_at: str
    answer: Answer | None = None
    answered_at: str = ""
    review: Review | None = None
    feedback: Feedback | None = None


class InUse:
    """Whether a database may be used: it is open, and in the process that opened it.

    Threads and connections do not outlive a fork; what waits for them in the child would wait for ever.
    """

    def __init__(self) -> None:
        self._process = os.getpid()
        self._open = True

    @property
    def here(self) -> bool:
        """Whether this is the process that opened it."""
        return self._process == os.getpid()

    def check(self) -> None:
        """Raise InputError where it may not be used."""
        if not self.here:
            raise InputError("This agent was made before the process was forked.", "Make a new Agent in the child.")
        if not self._open:
            raise InputError("The agent is closed.", "Make a new Agent.")

    def end(self) -> bool:
        """Note that it is closed; whether there is anything to close here."""
        was, self._open = self._open, False
        return was and self.here


class Database(Protocol):
    """Where sessions are kept: SQLite files of the data folder, or PostgreSQL. One contract test holds both."""

    @property
    def saver(self) -> Any:
        """LangGraph's checkpointer."""

    @property
    def texts(self) -> TextStore:
        """The content store, called synchronously."""

    @property
    def shared(self) -> bool:
        """Whether workers on other machines reach it too."""

    @property
    def in_use(self) -> InUse:
        """Whether it may be used."""

    async def execute(self, *statements: Statement) -> list[list[Row]]:
        """Carry out statements in one transaction; the rows of each. What it returns is durable.

        Raises:
            InputError: it is closed, or another process opened it.
        """

    async def try_lock(self, session: str) -> Release | None:
        """Hold a session against every other process, also of other machines on the same database.

        The lock goes with the process that holds it. None when another one holds it.
        """

    async def checkpointed(self) -> list[tuple[str, str]]:
        """Every session that has checkpoints, with the id of the last."""

    async def thin(self, session: str) -> None:
        """Delete the checkpoints behind the last one, when a turn has ended: nothing goes back to them."""

    async def forget(self, session: str) -> None:
        """Delete the session's checkpoints and texts, so that no file of ours holds a word of them."""

    async def scrub(self, *texts: str) -> None:
        """Take what was deleted from the records out of the files too; ``texts`` are what was deleted."""

    async def check(self) -> None:
        """Raise DataError or ServiceError when it cannot be used."""

    def faults(self) -> AbstractContextManager[None]:
        """Turns the driver's errors into DataError and ServiceError with advice."""

    async def close(self) -> None:
        """Close every file and connection, once."""
