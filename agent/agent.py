"""The agent as a Python object: `ask`, `aask`, `astream`, sessions."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self, Unpack

from agent.configurations.telling import notices_of
from agent.conversation import Asked, Given, Options, Session, Step, With
from agent.given import given_evidence
from agent.loop import arun, run
from agent.messages import check_message
from agent.sessions import (
    Home,
    check_session_id,
    list_sessions,
    new_session_id,
    open_saver,
    purge_session,
    session_lock,
    typed_database_errors,
)
from agent.settings import Settings, load_settings, silence_telemetry
from agent.streams import awaited, waited
from agent.trace import TraceRecorder
from graphs.answering.contract import Answer
from graphs.context import Parts, TurnContext
from graphs.state import check_schema, new_turn
from prompts.errors import DataError, InputError
from prompts.metering import Meter, Usage, metered
from tools.contract import Notice, Severity
from tools.embedding_cache import unkept
from tools.store import ContentStore

if TYPE_CHECKING:
    from graphs.clinical import Machine

RECURSION = 60  # ours: far above what the bounded rounds can reach; a net, not a bound
DURABILITY = "sync"  # a finished node is on disk before the next begins


class Agent:
    """A medical evidence assistant over one data folder.

    Args:
        settings: the settings; None reads the environment.
        parts: judgements and tools to use instead of the assembled ones (for tests and experiments).
        overrides: single settings, for example ``home=...``.
    """

    def __init__(self, settings: Settings | None = None, *, parts: Parts | None = None, **overrides: Any) -> None:
        self.settings = settings or load_settings(**overrides)
        silence_telemetry(self.settings)
        self.home = Home(self.settings.home).prepare()
        self._store = ContentStore(self.home.texts)
        self._locks: dict[str, asyncio.Lock] = {}
        if parts is None:
            from agent.assembly import assemble

            parts = assemble(self.settings, self.home)
        self.parts = parts
        self._saver: Any = None
        self._machine: Machine = run(self._start())

    def ask(
        self,
        text: str,
        *,
        session: str | None = None,
        options: Options = None,
        given: Given = (),
        report: bool = False,
    ) -> Answer:
        """Answer a message and wait for it. Not to be called from a coroutine: use `aask` there.

        Args:
            text: a case or a question.
            session: the session to go on in; None opens a new one.
            options: letter to text, for a multiple-choice question.
            given: texts to answer from, for this turn (an abstract, a letter): see docs/answer.md. They go nowhere but
                to the configured model, and with them a question that is no case is answered from them alone.
            report: for a case, write a report beside the answer (`Answer.report`).

        Raises:
            InputError: for a message, a session id or a given text that cannot be taken.
        """
        return run(self._turn(Asked(text, session, options, given, report)))

    async def aask(self, text: str, **asked: Unpack[With]) -> Answer:
        """Answer a message; arguments as for `ask`."""
        return await arun(self._turn(Asked(text, **asked)))

    def astream(self, text: str, **asked: Unpack[With]) -> AsyncIterator[Step | Answer]:
        """The steps of a turn as they happen, then its answer; arguments as for `ask`."""
        return awaited(lambda emit: self._turn(Asked(text, **asked), emit))

    def stream(self, text: str, **asked: Unpack[With]) -> Iterator[Step | Answer]:
        """The steps of a turn as they happen, then its answer, from synchronous code; arguments as for `ask`."""
        return waited(lambda emit: self._turn(Asked(text, **asked), emit))

    def session(self, session: str | None = None, *, create: bool = True) -> Session:
        """A session by id, a new one without. ``create=False`` raises InputError for an id never used."""
        if session is not None:
            check_session_id(session)
            if not create and session not in self.sessions():
                raise InputError(f"There is no session {session}.", "`anamnesis sessions` lists them.")
        return Session(self, session or new_session_id())

    def sessions(self) -> list[str]:
        """Ids of all sessions, last used first."""
        return run(list_sessions(self._saver))

    def unfinished(self, session: str) -> bool:
        """Whether the session's last turn was cut off before its answer."""
        return run(self._unfinished(session))

    def resume(self, session: str) -> Answer:
        """Finish the turn that was cut off (no finished step runs again), or give its answer once more."""
        check_session_id(session)
        return run(self._resume(session, None))

    def delete_session(self, session: str) -> None:
        """Delete a session with its checkpoints, traces and texts."""
        self.session(session, create=False)
        with session_lock(self.home, session):
            run(purge_session(self.home, self._saver, self._store, session))

    def picture(self) -> str:
        """The machine as a Mermaid diagram."""
        return self._machine.get_graph().draw_mermaid()

    def close(self) -> None:
        """Close every file. The agent cannot be used afterwards."""
        run(self._stop())
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    async def _start(self) -> Machine:
        from graphs.clinical import clinical_graph

        self._saver = await open_saver(self.home)
        return clinical_graph(self.parts, self._saver)

    async def _stop(self) -> None:
        await self._saver.conn.close()

    async def _turn(self, asked: Asked, emit: Any = None) -> Answer:
        session = asked.session or new_session_id()
        text = check_message(asked.text, self.settings.max_characters)
        texts = given_evidence(asked.given, self.settings.max_characters)
        check_session_id(session)
        private = unkept() if texts else contextlib.nullcontext()
        async with self._held(session):
            snapshot = await self._machine.aget_state(_config(session))
            check_schema(snapshot.values)
            notices = [await self._finish_earlier(session)] if snapshot.next else []
            notices += notices_of(self.settings, text)
            turn = int(snapshot.values.get("turn", 0)) + 1
            key = self._store.put(session, text)
            keys = {e.id: self._store.put(session, e.model_dump_json()) for e in texts}
            begun = new_turn(turn, key, asked.options, notices, keys, report=asked.report)
            with private:  # vectors of given texts are not kept
                return await self._drive(session, turn, begun, emit)

    async def _finish_earlier(self, session: str) -> Notice:
        """Finish the turn that was cut off, so that it is not lost; one that cannot be finished does not block."""
        try:
            answer = await self._resume_held(session, None)
        except Exception as error:  # noqa: BLE001  it is told, and the session goes on
            lost = f"The turn before was cut off and could not be finished: {error}"
            return Notice(code="earlier_turn_lost", text=lost, severity=Severity.WARNING)
        text = f"The turn before was cut off; it has been finished now: {answer.text or 'no answer is given'}"
        return Notice(code="earlier_turn_finished", text=text)

    async def _resume(self, session: str, emit: Any) -> Answer:
        async with self._held(session):
            return await self._resume_held(session, emit)

    async def _resume_held(self, session: str, emit: Any) -> Answer:
        snapshot = await self._machine.aget_state(_config(session))
        if not snapshot.values:
            raise InputError(f"There is no session {session}.", "`anamnesis sessions` lists them.")
        check_schema(snapshot.values)
        turn = int(snapshot.values["turn"])
        if not snapshot.next:
            return self._answer(snapshot.values)
        spent = {role: Usage.model_validate(u) for role, u in snapshot.values.get("spent", {}).items()}
        return await self._drive(session, turn, None, emit, spent)

    async def _unfinished(self, session: str) -> bool:
        with typed_database_errors():
            return bool((await self._machine.aget_state(_config(session))).next)

    async def _drive(
        self,
        session: str,
        turn: int,
        given: dict[str, Any] | None,
        emit: Any,
        spent: Mapping[str, Usage] | None = None,
    ) -> Answer:
        run_id = f"{session}/{turn}"
        recorder = TraceRecorder(self.home.traces, run_id)
        if self.settings.config:
            recorder.event("configuration", name=self.settings.config)
        meter = Meter(self.settings.budget, self.settings.prices, recorder.event, spent)
        context = TurnContext(session, run_id, self._store, recorder, meter, listened_to=emit is not None)
        values: dict[str, Any] = {}
        machine: Any = self._machine  # its stream's type has one overload a mode; ours mixes two
        try:
            with metered(meter):
                async for mode, chunk in machine.astream(
                    given,
                    _config(session),
                    context=context,
                    stream_mode=["custom", "values"],
                    durability=DURABILITY,
                ):
                    if mode == "values":
                        values = chunk
                    elif emit is not None:
                        emit(Step.model_validate(chunk))
            answer = self._answer(values)
            recorder.event("answered", abstained=answer.abstained, statements=len(answer.statements))
        finally:
            recorder.close()
        return answer

    def _answer(self, values: dict[str, Any]) -> Answer:
        if not values.get("answer_key"):
            raise DataError("The session ended without an answer.", "Ask the question again.")
        return Answer.model_validate_json(self._store.get(values["answer_key"]))

    @contextlib.asynccontextmanager
    async def _held(self, session: str) -> AsyncIterator[None]:
        async with self._locks.setdefault(session, asyncio.Lock()):
            with session_lock(self.home, session), typed_database_errors():
                yield


def _config(session: str) -> Any:
    return {"configurable": {"thread_id": session}, "recursion_limit": RECURSION}
