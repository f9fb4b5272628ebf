"""The agent as a Python object: `ask`, `aask`, `astream`, sessions."""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import queue
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from typing import Any, Self, TypeVar, Unpack

from agent.conversation import Asked, Given, Options, Replying, Session, Step, With
from agent.loop import arun, run, running_loop, submit
from agent.sessions.contract import Database
from agent.sessions.documents import Documents
from agent.sessions.home import Home
from agent.sessions.ids import UnknownSession, check_session_id, new_session_id
from agent.sessions.locks import Locks
from agent.sessions.opening import open_database
from agent.sessions.records import Records
from agent.sessions.traces import Traces
from agent.settings import Settings, check_names, load_settings
from agent.telemetry.contract import open_telemetry
from agent.turns import TurnRunner
from graphs.answering.contract import Answer
from graphs.context import Parts
from prompts.errors import InputError

# The steps of a turn on the background loop, handed to whoever waits for them on another loop or in another thread.
LETTING_GO = 5.0  # ours: seconds; a turn that is stopped ends at its next await

Turn = Callable[[Callable[[Step], None]], Coroutine[Any, Any, Answer]]
"""Starts a turn that tells each of its steps."""


async def awaited(turn: Turn) -> AsyncIterator[Step | Answer]:
    """The steps of a turn as they happen, then its answer, on the caller's loop.

    Whoever stops listening stops the turn, and goes on when it has let go of its session and its files.
    """
    events: asyncio.Queue[Step] = asyncio.Queue()
    here = asyncio.get_running_loop()

    def emit(step: Step) -> None:
        here.call_soon_threadsafe(events.put_nowait, step)

    ended = asyncio.Event()

    async def whole() -> Answer:
        try:
            return await turn(emit)
        finally:
            with contextlib.suppress(RuntimeError):  # the caller's loop is closed: nobody waits
                here.call_soon_threadsafe(ended.set)

    future = submit(whole())
    done = asyncio.wrap_future(future)
    try:
        while not done.done() or not events.empty():
            getter = asyncio.ensure_future(events.get())
            either: set[asyncio.Future[Any]] = {getter, done}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if getter.done():
                yield getter.result()
            else:
                getter.cancel()
        yield done.result()
    finally:
        if future.cancel():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), LETTING_GO)


def waited(turn: Turn) -> Iterator[Step | Answer]:
    """The same, in a thread without a loop."""
    events: queue.SimpleQueue[Step | None] = queue.SimpleQueue()
    future = submit(turn(events.put))
    future.add_done_callback(lambda _: events.put(None))
    try:
        while (event := events.get()) is not None:
            yield event
        yield future.result()
    finally:
        future.cancel()


def may_wait(asynchronous: str) -> None:
    """Raise InputError where to wait would hold up an event loop, which may be what the turn waits for.

    A cell of IPython may: notebooks run all of them inside a loop.
    """
    if running_loop() is not None and not hasattr(builtins, "__IPYTHON__"):
        raise InputError("An event loop runs in this thread, which the call would stop.", f"Use {asynchronous}.")


T = TypeVar("T")


class Agent:
    """A medical evidence assistant over one data folder.

    Args:
        settings: the settings; None reads the environment.
        parts: judgements and tools to use instead of the assembled ones (for tests and experiments).
        say: is told how far the first use is, which builds what is slow to build.
        everything: what only some messages need is built now too, not when the first of them asks for it.
        overrides: single settings, for example ``home=...``, in place of ``settings``.

    It is closed by ``with``, ``async with``, `close` or `aclose`. Any thread and any event loop may use it; a process
    that was forked from this one makes its own.

    Attributes:
        records: the sessions' records (`Records`). Its methods are async and run on the agent's own loop:
            ``agent.run(agent.records.list())``, in a coroutine ``await agent.arun(agent.records.list())``.
        database: where sessions are kept.
        documents: what users put into their sessions; awaited as ``records`` are.
        traces: what their turns did; awaited as ``records`` are.
        telemetry: where an operator follows turns; off unless the settings name an endpoint.
    """

    records: Records
    documents: Documents
    database: Database
    traces: Traces

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        parts: Parts | None = None,
        say: Callable[[str], None] = lambda _: None,
        everything: bool = False,
        **overrides: Any,
    ) -> None:
        check_names(overrides)
        if settings is not None and overrides:
            both = f"Settings are given, and {', '.join(overrides)} beside them."
            raise InputError(both, "Give all of it to Settings(...), or all of it to Agent(...).")
        if settings is not None and not isinstance(settings, Settings):
            by_name = 'Give Agent(Settings(...)), or each by its name: Agent(home="...").'
            raise InputError("The settings are no Settings.", by_name)
        self._settings = settings or load_settings(**overrides)
        self.home = Home(self.settings.home).prepare()
        if parts is None:
            from agent.assembly import assemble

            parts = assemble(self.settings, self.home, say=say, everything=everything)
        self.parts = parts
        self._machine: Any = None
        self.telemetry = open_telemetry(self.settings, [tool.name for tool in parts.tools])
        try:
            self._turns: TurnRunner = run(self._start())
        except BaseException:
            self.telemetry.close()
            raise

    @property
    def settings(self) -> Settings:
        """The settings; others that are set later hold from the next turn on for budget, prices and lengths alone."""
        return self._settings

    @settings.setter
    def settings(self, settings: Settings) -> None:
        self._settings = self._turns.settings = settings

    def ask(
        self,
        text: str,
        *,
        session: str | None = None,
        options: Options = None,
        given: Given = (),
        report: bool = False,
        owner: str = "",
        turn_key: str = "",
        replying: Replying | None = None,
        documents: Sequence[str] = (),
        replaces: int = 0,
    ) -> Answer:
        """Answer a message and wait for it. A coroutine uses `aask`.

        Args:
            text: a case or a question.
            session: the session to go on in; None opens a new one.
            options: letter to text, for a multiple-choice question.
            given: texts to answer from, for this turn (an abstract, a letter): see docs/answer.md. They go nowhere but
                to the configured model, and with them a question that is no case is answered from them alone.
            report: for a case, write a report beside the answer (`Answer.report`).
            owner: whose session it is; another owner's is refused as an unknown one is.
            turn_key: an idempotency key. A second call with it in the same session gives the first call's answer,
                finished where it was cut off, and runs nothing again.
            replying: asks a question of whoever sent the message and waits for the reply. With it the next best
                question is asked before a case is researched (LangGraph's ``interrupt``); without it nothing waits.
            documents: ids of documents of the session (`agent.documents`) to answer from, as ``given`` texts are.
            replaces: the session's last turn, which the message takes the place of: that turn goes with its answer, as
                though it had not been said. One that a clinician has reviewed stays.

        Raises:
            InputError: for a message, a session id or a given text that cannot be taken; in a coroutine; after
                `close`; in a process that was forked since.
        """
        may_wait("`await agent.aask(...)`")
        taken = Asked(text, session, options, given, report, owner, turn_key, replying, documents, replaces)
        return run(self._turns.take(taken))

    async def aask(self, text: str, **asked: Unpack[With]) -> Answer:
        """Answer a message; arguments as for `ask`."""
        return await arun(self._turns.take(Asked(text, **asked)))

    def astream(self, text: str, **asked: Unpack[With]) -> AsyncIterator[Step | Answer]:
        """The steps of a turn as they happen, then its answer; arguments as for `ask`."""
        return awaited(lambda emit: self._turns.take(Asked(text, **asked), emit))

    def stream(self, text: str, **asked: Unpack[With]) -> Iterator[Step | Answer]:
        """The steps of a turn as they happen, then its answer, from synchronous code; arguments as for `ask`."""
        may_wait("`agent.astream(...)`")
        return waited(lambda emit: self._turns.take(Asked(text, **asked), emit))

    def session(self, session: str | None = None, *, create: bool = True, owner: str = "") -> Session:
        """A session by id, a new one without. ``create=False`` raises InputError for an id never used."""
        if session is not None:
            check_session_id(session)
            if not create:
                run(self.records.get(session, owner))
        return Session(self, session or new_session_id(), owner)

    def sessions(self) -> list[str]:
        """Ids of all sessions, last used first."""
        return run(self.records.ids())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do work of `records`, `documents` or `traces`, and wait for it; in a coroutine await `arun`."""
        return run(work)

    async def arun(self, work: Coroutine[Any, Any, T]) -> T:
        """The same, awaited."""
        return await arun(work)

    # A session of another owner is refused as one that is not there, here as by `ask`; ``owner=None`` takes any.

    def unfinished(self, session: str, owner: str | None = "") -> bool:
        """Whether the session's last turn was cut off before its answer."""
        try:
            return run(self.records.get(session, owner)).unfinished
        except UnknownSession:
            return False

    def resume(self, session: str, owner: str | None = "", replying: Replying | None = None) -> Answer:
        """Finish the turn that was cut off (no finished step runs again), or give its answer once more.

        ``replying``: as for `ask`, for a question at which the turn waits; without it the question is left open.
        """
        may_wait("`await agent.aresume(...)`")
        return run(self._turns.resume(session, owner, None, replying))

    async def aresume(self, session: str, owner: str | None = "", replying: Replying | None = None) -> Answer:
        """The same, awaited."""
        return await arun(self._turns.resume(session, owner, None, replying))

    def astream_resume(
        self, session: str, owner: str | None = "", replying: Replying | None = None
    ) -> AsyncIterator[Step | Answer]:
        """The steps that were left of the turn as they happen, then its answer."""
        return awaited(lambda emit: self._turns.resume(session, owner, emit, replying))

    def stop(self, session: str, owner: str | None = "") -> Answer:
        """End the turn that was cut off without an answer; its message is kept and counts no more."""
        may_wait("`await agent.astop(...)`")
        return run(self._turns.stop(session, owner))

    async def astop(self, session: str, owner: str | None = "") -> Answer:
        """The same, awaited."""
        return await arun(self._turns.stop(session, owner))

    def delete_session(self, session: str, owner: str | None = "") -> None:
        """Delete a session with its checkpoints, traces, texts, records and reviews."""
        run(self.records.delete(check_session_id(session), owner))

    def picture(self) -> str:
        """The machine as a Mermaid diagram."""
        return str(self._machine.get_graph().draw_mermaid())

    def close(self) -> None:
        """Close every file, and deliver what telemetry is left. The agent cannot be used afterwards."""
        try:
            run(self.database.close())
        finally:
            self.telemetry.close()

    async def aclose(self) -> None:
        """The same, awaited."""
        await asyncio.to_thread(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    async def _start(self) -> TurnRunner:
        from graphs.clinical import clinical_graph

        self.database = await open_database(self.settings, self.home)
        try:
            locks = Locks(self.database, self.settings.sessions.wait)
            self.records = Records(self.database, self.home, locks, self.settings.literature, self.parts.document)
            self.documents = Documents(self.database, self.records, self.home, self.parts.passages)
            self.traces = Traces(self.database, self.home)
            await self.records.open()
            self._machine = clinical_graph(self.parts, self.database.saver)
        except BaseException:
            await self.database.close()
            raise
        kept = self.records, self.documents
        return TurnRunner(self.settings, self.home, self.database, *kept, locks, self._machine, self.telemetry)
