"""Turns as the machine runs them: recorded before the first step, finished when they were cut off, each only once."""

from __future__ import annotations

import contextlib
import inspect
import time
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from langgraph.types import Command

from agent.conversation import Asked, Replying, Step
from agent.messages import check_kinds, check_message, check_options, check_statements, given_evidence
from agent.sessions.contract import Database
from agent.sessions.documents import Documents
from agent.sessions.home import Home
from agent.sessions.ids import check_session_id, new_session_id
from agent.sessions.locks import Locks
from agent.sessions.records import Records
from agent.sessions.traces import Traces
from agent.sessions.turns import Begun, TurnRow, calls_of, check_turn_key, other_message
from agent.settings import Settings, untraced
from agent.telemetry.contract import Telemetry
from agent.trace import TraceRecorder
from graphs.answering.contract import Answer
from graphs.answering.notices import notice
from graphs.context import TurnContext
from graphs.state import check_schema, kept, undone
from graphs.triage.contract import Kind
from prompts.errors import DataError, InputError
from prompts.metering import Meter, Usage, metered
from tools.contract import FollowUpQuestion, Notice, Severity
from tools.embedding_cache import unkept
from tools.files import DiskFullError
from tools.messages import messages
from tools.notices import noted
from tools.text.language import language_of

if TYPE_CHECKING:
    from graphs.clinical import Machine


RECURSION = 60  # ours: far above what the bounded rounds can reach; a net, not a bound
DURABILITY = "sync"  # a finished node is on disk before the next begins

Emit = Callable[[Step], None] | None


class TurnRunner:
    """Runs the turns of all sessions. All of it is awaited on the agent's loop.

    The record of a turn is kept before its first step, with all that started it, and again with its answer. So a kill
    leaves one of four things, and `_finish` goes on from each: a record alone, a record and a machine in mid-turn, a
    machine that has ended without its record, or both ended.
    """

    def __init__(
        self,
        settings: Settings,
        home: Home,
        database: Database,
        records: Records,
        documents: Documents,
        locks: Locks,
        machine: Machine,
        telemetry: Telemetry,
    ) -> None:
        self.settings = settings
        self._home = home
        self._database = database
        self._records = records
        self._rows = records.turn_rows
        self._documents = documents
        self._locks = locks
        self._machine = machine
        self.telemetry = telemetry
        self._traces = Traces(database, home)

    async def take(self, asked: Asked, emit: Emit = None) -> Answer:
        """Answer a message; see `Agent.ask`."""
        check_kinds(asked)
        text = check_message(asked.text, self.settings.max_characters)
        check_options(asked.options, self.settings.max_characters)
        given = given_evidence(asked.given, self.settings.max_characters)
        turn_key = check_turn_key(asked.turn_key)
        session = check_session_id(asked.session) if asked.session is not None else new_session_id()
        async with self._held(session):
            await self._records.may_enter(session, asked.owner)
            last = await self._rows.last(session)
            earlier = await self._rows.keyed(session, turn_key)
            if earlier is not None:
                return await self._again(session, earlier, last, text, emit, asked.replying)
            given += await self._documents.evidence(session, asked.documents, text)
            replaced = await self._taken_back(session, last, asked.replaces) if asked.replaces else None
            last = None if replaced else last
            language = language_of(text)
            notices = [await self._finish_earlier(session, last, language)] if last and not last.answer_key else []
            notices += notices_of(self.settings, text)
            before = replaced.turn - 1 if replaced else last.turn if last else 0
            reached, case = await self._reached(session)
            if case:
                check_statements(text, "The case so far, with this message,", case)
            turn = max(reached, before) + 1
            asks = asked.replying is not None
            begun = Begun(
                text=text, options=asked.options, given=given, report=asked.report, asks=asks, notices=notices
            )
            await self._records.enter(session, asked.owner)
            row = await self._rows.begin(session, turn, begun, turn_key, replaced)
            if replaced:
                await self._traces.forget(f"{session}/{turn}")
                await self._database.scrub(replaced.asked)
            return await self._start(session, row, emit, asked.replying)

    async def resume(
        self, session: str, owner: str | None = None, emit: Emit = None, replying: Replying | None = None
    ) -> Answer:
        """Finish the session's last turn where it was cut off, or give its answer once more.

        A question that it waits at is asked again, and left open where nobody can reply.
        """
        async with self._held(check_session_id(session)):
            await self._records.get(session, owner)
            last = await self._rows.last(session)
            if last is None:
                raise InputError(f"Session {session} holds no message yet.", "Ask something in it first.")
            return await self._finish(session, last, emit, replying)

    async def stop(self, session: str, owner: str | None = None) -> Answer:
        """End the turn that was cut off without an answer: the record says so, and its message counts no more.

        Gives the last answer where the turn has ended already.
        """
        async with self._held(check_session_id(session)):
            await self._records.get(session, owner)
            last = await self._rows.last(session)
            if last is None:
                raise InputError(f"Session {session} holds no message yet.", "Ask something in it first.")
            if last.answer_key:
                return self._answer(last.answer_key)
            await self._rewind(session, last.turn)
            answer = stopped(session, last)
            key = self._database.texts.put(session, answer.to_json())
            await self._rows.end(session, last.turn, key, asks_review=False)
            return answer

    async def _taken_back(self, session: str, last: TurnRow | None, turn: int) -> TurnRow:
        """The session's last turn, which another message is to replace: the machine is as it was before it.

        Raises:
            InputError: it is not the last turn, a clinician has reviewed it, or an older program wrote it.
        """
        advice = "Send the message without replacing one."
        if last is None or last.turn != turn:
            raise InputError(f"Turn {turn} is not the last turn of the session.", advice)
        if await self._records.reviewed(session, turn):
            raise InputError("A clinician has reviewed the answer, so that it stays.", advice)
        await self._rewind(session, turn)
        return last

    async def _rewind(self, session: str, turn: int) -> None:
        """Take the machine back to where it was before a turn; nothing is to do where it never took the message in."""
        values = (await self._machine.aget_state(_config(session))).values
        check_schema(values)
        if int(values.get("turn", 0)) < turn:
            return
        if not values.get("before_key"):
            what = "An older program wrote the turn, so that it cannot be taken back."
            raise InputError(what, "Send the message without replacing one.")
        update = undone(self._database.texts.get(values["before_key"]), values)
        await self._machine.aupdate_state(_config(session), update, as_node="respond")
        await self._database.thin(session)

    async def _again(
        self, session: str, earlier: TurnRow, last: TurnRow | None, text: str, emit: Emit, replying: Replying | None
    ) -> Answer:
        """The answer of the turn that was begun under the same key, finished now where it was cut off."""
        if earlier.asked != text:
            raise other_message()
        if not earlier.answer_key and last is not None and last.turn != earlier.turn:
            raise DataError("The turn of this key was cut off, and could not be finished.", "Ask again with a new key.")
        return await self._finish(session, earlier, emit, replying)

    async def _finish_earlier(self, session: str, last: TurnRow, language: str) -> Notice:
        """Finish the turn that was cut off, so that it is not lost; one that cannot be finished does not block."""
        try:
            with self._database.faults():
                answer = await self._finish(session, last, None)
        except DiskFullError:  # it can be finished when there is room
            raise
        except Exception as error:  # noqa: BLE001  it is told, and the session goes on
            return noted("earlier_turn_lost", language, Severity.WARNING, detail=error)
        return noted("earlier_turn_finished", language, detail=answer.text or messages(language)["answer.none"])

    async def _finish(self, session: str, row: TurnRow, emit: Emit, replying: Replying | None = None) -> Answer:
        """Bring a turn to its answer, from wherever it was cut off; no finished step runs again.

        Whether the machine has ended is told by its tasks. `next` leaves out a step whose results were written and
        whose checkpoint was not.
        """
        if row.answer_key:
            return self._answer(row.answer_key)
        snapshot = await self._machine.aget_state(_config(session))
        values = snapshot.values
        check_schema(values)
        if int(values.get("turn", 0)) < row.turn and row.begun:  # the machine never took the message in
            return await self._start(session, row, emit, replying)
        if not snapshot.tasks:  # it ended, and its record was not written
            return await self._end(session, row.turn, values)
        spent = {role: Usage.model_validate(u) for role, u in values.get("spent", {}).items()}
        private = bool(values.get("given")) or '"given":[{' in row.begun
        return await self._drive(session, row.turn, None, emit, spent, private=private, replying=replying)

    async def _start(self, session: str, row: TurnRow, emit: Emit, replying: Replying | None = None) -> Answer:
        begun = row.start()
        now = (await self._machine.aget_state(_config(session))).values
        before = self._database.texts.put(session, kept(now))
        state = begun.state(self._database.texts, session, row.turn, before)
        return await self._drive(session, row.turn, state, emit, private=bool(begun.given), replying=replying)

    async def _reached(self, session: str) -> tuple[int, str]:
        """The last turn that the machine knows of, and the case that was told until then.

        Raises:
            DataError: the state is another version's.
        """
        values = (await self._machine.aget_state(_config(session))).values
        check_schema(values)
        key = values.get("case_key", "")
        return int(values.get("turn", 0)), self._database.texts.get(key) if key else ""

    async def _drive(
        self,
        session: str,
        turn: int,
        state: dict[str, Any] | None,
        emit: Emit,
        spent: Mapping[str, Usage] | None = None,
        *,
        private: bool,
        replying: Replying | None,
    ) -> Answer:
        """Run the machine to its end. ``private``: vectors of given texts are not kept."""
        with self.telemetry.turn(session, turn) as follower:
            recorder = TraceRecorder(self._home.traces, f"{session}/{turn}", follower)
            return await self._recorded(recorder, session, turn, state, emit, spent, private=private, replying=replying)

    async def _recorded(
        self,
        recorder: TraceRecorder,
        session: str,
        turn: int,
        state: dict[str, Any] | None,
        emit: Emit,
        spent: Mapping[str, Usage] | None,
        *,
        private: bool,
        replying: Replying | None,
    ) -> Answer:
        run_id = f"{session}/{turn}"
        if self.settings.config:
            recorder.event("configuration", name=self.settings.config)
        meter = Meter(self.settings.budget, self.settings.prices, recorder.event, spent, session)
        context = TurnContext(session, run_id, self._database.texts, recorder, meter, listened_to=emit is not None)
        values: dict[str, Any] = {}
        machine: Any = self._machine  # its stream's type has one overload a mode; ours mixes two
        given: Any = state
        try:
            with untraced(self.settings), metered(meter), unkept() if private else contextlib.nullcontext():
                while True:
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
                    question = None if values.get("answer_key") else await self._asked(session)
                    if question is None:
                        break
                    said = await _reply(question, emit, meter, replying, self.settings.max_characters)
                    given = Command(resume={"reply": said})
            answer = await self._end(session, turn, values)
            recorder.event("answered", abstained=answer.abstained, statements=len(answer.statements))
        finally:
            recorder.close()
            await self._traces.keep(run_id)
        return answer

    async def _asked(self, session: str) -> FollowUpQuestion | None:
        """The question at which the machine waits."""
        tasks = (await self._machine.aget_state(_config(session))).tasks
        waiting = [asked.value for task in tasks for asked in task.interrupts]
        return FollowUpQuestion.model_validate(waiting[0]) if waiting else None

    async def _end(self, session: str, turn: int, values: dict[str, Any]) -> Answer:
        """The answer that the machine ended with, on record."""
        key = str(values.get("answer_key", ""))
        if not key:
            raise DataError("The session ended without an answer.", "Ask the question again.")
        answer = self._answer(key)
        calls = calls_of(values.get("calls", []))
        searches = self._database.texts.put(session, calls) if calls else ""
        await self._rows.end(session, turn, key, asks_review=bool(answer.review_reasons), searches=searches)
        await self._rows.retitle(session, turn, answer.superseded)
        await self._database.thin(session)
        return answer

    def _answer(self, key: str) -> Answer:
        return Answer.model_validate_json(self._database.texts.get(key))

    @contextlib.asynccontextmanager
    async def _held(self, session: str) -> AsyncIterator[None]:
        async with self._locks.held(session):
            with self._database.faults():
                yield


async def _reply(question: FollowUpQuestion, emit: Emit, meter: Meter, replying: Replying | None, limit: int) -> str:
    """The client's reply, "" at once where it cannot give one. The time is not the turn's.

    Raises:
        InputError: for what is no reply, or one above ``limit`` characters; the question then waits for another.
    """
    if replying is None:
        return ""
    if emit is not None:
        asked = question.model_dump(mode="json")
        emit(Step(step="completeness_gate", status="asks", summary=question.text, data={"question": asked}))
    started = time.monotonic()
    try:
        replied = replying(question)
        if not inspect.isawaitable(replied):
            raise InputError("replying is no coroutine function.", "Write it so: async def replying(question): ...")
        said = await replied
    finally:
        meter.waited(time.monotonic() - started)
    if said is None or (isinstance(said, str) and not said.strip()):
        return ""
    return check_message(said, limit, "The reply")


def stopped(session: str, row: TurnRow) -> Answer:
    """The answer of a turn that was stopped: that there is none."""
    language = language_of(row.asked)
    return Answer(
        session=session,
        turn=row.turn,
        run=f"{session}/{row.turn}",
        question=row.asked,
        kind=Kind.EVIDENCE,
        language=language,
        notices=[notice("stopped", language)],
        abstained=True,
        answered_on=datetime.now(UTC).date().isoformat(),
    )


def _config(session: str) -> Any:
    return {"configurable": {"thread_id": session}, "recursion_limit": RECURSION}


# What an answer says of the published configuration that made it.


def notices_of(settings: Settings, text: str) -> list[Notice]:
    """The notice of the configuration in force, in the language of the message; none without one."""
    if not settings.config:
        return []
    said = f"configuration.{'by' if settings.language_model is not None else 'by_locally'}"
    return [noted("published_configuration", language_of(text), said=said, detail=settings.config)]
