"""Turns that run on the server: each goes on, and is stored, whether or not its client stays.

Whoever follows a turn gets all its steps so far, then the others as they happen, then its answer. A session has at most
one running turn in a process; a second message is refused with 409, not queued, because nobody could tell how long.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from agent.conversation import Given, Options, Step
from agent.loop import arun
from agent.server import logs
from agent.server.access import Caller
from agent.server.limits import Places
from agent.server.problems import Refusal, refusal_of
from agent.server.settings import ServerSettings
from agent.sessions.turns import other_message
from graphs.answering.contract import Answer
from prompts.errors import AnamnesisError
from tools.contract import FollowUpQuestion

if TYPE_CHECKING:
    from agent.agent import Agent

T = TypeVar("T")
TEXT = "text"  # status of a step that holds the draft so far
VERIFIED = "verified"  # status of a step that holds what stands of the answer
LOOK = 0.2  # ours: seconds between looks at whether a second signal came, and whether a question was replied to
REPLY = 120.0  # ours: seconds that a question waits for its reply; then the turn goes on without
GONE = 5.0  # ours: seconds after which it no longer waits for a client that nobody saw
RESUME = "POST /api/sessions/{session}/resume finishes it."


@dataclass(frozen=True)
class Question:
    """A message with what comes with it; ``key`` makes it be answered once, however often it is sent."""

    session: str
    text: str
    options: Options = None
    given: Given = ()
    report: bool = False
    key: str = ""
    asks: bool = False
    documents: Sequence[str] = ()
    replaces: int = 0


class Running:
    """A turn that runs. Iterate over it to follow it: steps, then the answer; raises Refusal when it fails."""

    def __init__(self, key: str, freed: Callable[[], None], text: str = "") -> None:
        self.key, self.text, self._freed = key, text.strip(), freed
        self.ended: Answer | Refusal | None = None
        self.task: asyncio.Task[None] | None = None
        self.stopped = False  # whoever asked wants no answer any more
        self._reply: Future[str] | None = None
        self._past: list[Step] = []
        self._followers: set[asyncio.Queue[Step | Answer | Refusal]] = set()

    def tell(self, step: Step) -> None:
        """Hand a step to every follower. Of drafts, which hold the whole text each, only the last is kept."""
        if step.status == TEXT:
            self._past = [past for past in self._past if past.status != TEXT]
        self._past.append(step)
        for follower in self._followers:
            follower.put_nowait(step)

    async def replying(self, _: FollowUpQuestion) -> str:
        """Wait for the reply to a question, as long as anybody follows; awaited on the agent's loop."""
        self._reply = Future()
        until = time.monotonic() + REPLY
        try:
            while time.monotonic() < until and (self._followers or time.monotonic() < until - REPLY + GONE):
                with contextlib.suppress(TimeoutError):
                    return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(self._reply)), LOOK)
            return ""
        finally:
            self._reply = None

    def reply(self, text: str) -> bool:
        """Give the reply; whether a question waited for one."""
        waiting = self._reply
        if waiting is None or waiting.done():
            return False
        waiting.set_result(text)
        return True

    def end(self, how: Answer | Refusal) -> None:
        """End it, once; what is to happen then comes before the followers are told."""
        if self.ended is None:
            self.ended = how
            self._freed()
            for follower in self._followers:
                follower.put_nowait(how)

    async def __aiter__(self) -> AsyncIterator[Step | Answer]:
        async for event in self.follow():
            if event is not None:
                yield event

    async def follow(self, every: float | None = None) -> AsyncIterator[Step | Answer | None]:
        """Follow it, with a None each time that nothing is told for ``every`` seconds."""
        queue: asyncio.Queue[Step | Answer | Refusal] = asyncio.Queue()
        for past in [*self._past, *([] if self.ended is None else [self.ended])]:
            queue.put_nowait(past)
        self._followers.add(queue)
        try:
            while True:
                event = await _next(queue, every)
                if isinstance(event, Refusal):
                    raise event
                yield event
                if isinstance(event, Answer):
                    return
        finally:
            self._followers.discard(queue)

    async def answer(self) -> Answer:
        """Wait for the answer; raises Refusal when it fails."""
        async for event in self:
            if isinstance(event, Answer):
                return event
        raise Refusal(500, "internal", "The turn ended without an answer.", RESUME)


class Turns:
    """The turns of a process.

    Args:
        agent: the agent. settings: limits and times.
    """

    def __init__(self, agent: Agent, settings: ServerSettings) -> None:
        self._agent, self._seconds = agent, settings.turn_seconds
        self.places = Places(settings.turns, settings.all_turns)
        self.closing = self._hurried = False
        self._running: dict[str, Running] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def ask(self, caller: Caller, question: Question) -> Running:
        """Start the turn of a message, or follow the one that runs with the same key. Needs the scope ``ask``.

        Raises:
            Refusal: 400 the key is another message's, 403, 409 another turn of the session runs, 429 or 503 no place is
                free, 503 the server stops.
        """
        caller.require("ask")
        running = self._running.get(question.session)
        if running is not None:
            return _same(running, question)
        asked: dict[str, Any] = {"options": question.options, "given": question.given, "report": question.report}
        asked |= {"session": question.session, "owner": caller.id, "turn_key": question.key}
        asked |= {"documents": question.documents, "replaces": question.replaces}
        if question.asks:
            asked["replying"] = lambda put: self._running[question.session].replying(put)
        return self._start(caller, question, lambda: self._agent.astream(question.text, **asked))

    def reply(self, caller: Caller, session: str, text: str) -> None:
        """Reply to the question at which the session's turn waits. Needs the scope ``ask``.

        Raises:
            Refusal: 409 no question waits.
        """
        caller.require("ask")
        running = self._running.get(session)
        if running is None or not running.reply(text):
            raise Refusal(409, "no_question", "No question waits for a reply.", "Send a message: POST .../turns.")

    async def resume(self, caller: Caller, session: str) -> Running:
        """Follow the session's running turn, or finish the one that was cut off, or give its last answer once more.

        Whoever sends the turn's message again under its key meanwhile follows it too.
        """
        caller.require("ask")
        last = await arun(self._agent.records.turn_rows.last(session))
        running = self._running.get(session)
        if running is not None:
            return running
        question = Question(session, last.asked, key=last.turn_key) if last else Question(session, "")
        return self._start(caller, question, lambda: self._agent.astream_resume(session, owner=caller.id))

    async def stop(self, caller: Caller, session: str) -> None:
        """Stop the session's turn, or what was cut off of it: its followers are told an answer that says so.

        Raises:
            Refusal: 409 another worker runs it.
        """
        caller.require("ask")
        running = self._running.get(session)
        if running is None or running.task is None:
            await self._agent.astop(session, caller.id)
            return
        running.stopped = True
        running.task.cancel()
        await running.answer()

    def runs(self, session: str) -> bool:
        """Whether a turn of the session runs in this process."""
        return session in self._running

    async def close(self, grace: float) -> int:
        """Take no more turns, let those that run go on for ``grace`` seconds, then stop them; returns how many.

        A stopped turn has its finished steps on disk and can be resumed.
        """
        self.closing = True
        until = asyncio.get_running_loop().time() + grace
        while self._tasks and not self._hurried and asyncio.get_running_loop().time() < until:
            await asyncio.wait(self._tasks, timeout=LOOK)
        left = [task for task in self._tasks if not task.done()]
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)
        return len(left)

    def hurry(self) -> None:
        """Give no more grace; to be called from a signal handler too."""
        self._hurried = True

    def _start(self, caller: Caller, question: Question, source: Callable[[], AsyncIterator[Step | Answer]]) -> Running:
        session = question.session
        if self.closing:
            raise stopping()
        give_back = self.places.take(caller.id)

        def freed() -> None:
            del self._running[session]
            give_back()

        running = self._running[session] = Running(question.key, freed, question.text)
        running.tell(Step(step="turn", status="started", data={"session": session}))
        driven = self._drive(running, source(), lambda: self._stopped(caller, session))
        task = running.task = asyncio.create_task(driven)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return running

    async def _stopped(self, caller: Caller, session: str) -> Answer | Refusal:
        """How a turn ends that was stopped."""
        try:
            return await self._agent.astop(session, caller.id)
        except AnamnesisError as error:
            return refusal_of(error)

    async def _drive(
        self,
        running: Running,
        source: AsyncIterator[Step | Answer],
        stopped: Callable[[], Awaitable[Answer | Refusal]],
    ) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                async for event in source:
                    running.end(event) if isinstance(event, Answer) else running.tell(event)
        except TimeoutError:
            what = f"The turn took longer than {self._seconds:g} s and was stopped."
            running.end(Refusal(504, "turn_timeout", what, RESUME))
        except asyncio.CancelledError:
            running.end(await stopped() if running.stopped else stopping())
        except AnamnesisError as error:
            running.end(refusal_of(error))
        except Exception as error:  # noqa: BLE001  the followers are told, the log says where
            logs.failure("A turn failed.", error)
            running.end(Refusal(500, "internal", "The turn failed.", RESUME))
        finally:
            running.end(Refusal(500, "internal", "The turn ended without an answer.", RESUME))


def _same(running: Running, question: Question) -> Running:
    """The turn that runs, where the question is its own once more."""
    if not question.key or running.key != question.key:
        what = "The session's turn before is not finished."
        raise Refusal(409, "session_busy", what, f"Wait for it; {RESUME}", retry_after=1)
    if running.text != question.text.strip():
        raise refusal_of(other_message())
    return running


async def _next(queue: asyncio.Queue[T], every: float | None) -> T | None:
    try:
        return await asyncio.wait_for(queue.get(), every)
    except TimeoutError:
        return None


def stopping() -> Refusal:
    """The answer while the server stops."""
    return Refusal(503, "stopping", "The server is stopping.", f"Try again soon. {RESUME}", retry_after=5)
