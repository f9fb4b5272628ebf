"""`agent.records`: sessions as they are listed, read, renamed, reviewed, exported and deleted. All of it is async."""

from __future__ import annotations

import builtins
import contextlib
import re
import shutil
from collections.abc import Container
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from agent.messages import check_message
from agent.sessions.contract import (
    LONGEST_CORRECTION,
    LONGEST_REASON,
    LONGEST_TITLE,
    Database,
    Feedback,
    Review,
    Row,
    SessionRecord,
    Statement,
    TurnRecord,
)
from agent.sessions.home import Home
from agent.sessions.ids import (
    SessionBusy,
    UnknownSession,
    check_session_id,
    new_session_id,
    now,
    stamp,
    unknown_session,
)
from agent.sessions.locks import Locks
from agent.sessions.schema import prepare_tables
from agent.sessions.turns import TurnRow, Turns, check_title, title_of
from graphs.answering.contract import Answer
from prompts.errors import DataError, InputError
from tools.literature.settings import LiteratureSettings
from tools.store import ReplyStore

if TYPE_CHECKING:
    from agent.changes import Changes, Look
    from agent.sessions.export import SessionExport
    from tools.library.document import Document
    from tools.references.contract import Collected


LISTED = 50  # ours: sessions of one page
MOST = 1000  # ours: sessions of the longest page

FIELDS = """s.id, s.owner, s.title, s.created, s.updated,
    (select count(*) from turns t where t.session = s.id),
    coalesce((select t.answer_key = '' from turns t where t.session = s.id order by t.turn desc limit 1), 1 = 0),
    exists (select 1 from turns t where t.session = s.id and t.asks_review = 1 and not exists (
        select 1 from reviews r where r.session = t.session and r.turn = t.turn)),
    s.unread"""


class Records:
    """The sessions' records.

    Args:
        database: where they are kept.
        home: whose traces go with a session.
        locks: a session is held while it is deleted.
        literature: where records of PubMed are held, for the references of answers, and asked for, for their changes.
        look: gives documents of the library, for the changes of answers; None where there is none.
    """

    def __init__(
        self,
        database: Database,
        home: Home,
        locks: Locks,
        literature: LiteratureSettings | None = None,
        look: Look | None = None,
    ) -> None:
        self._look = look or _no_library
        self._literature = literature or LiteratureSettings()
        self._database = database
        self._home = home
        self._locks = locks
        self.turn_rows = Turns(database)

    async def open(self) -> None:
        """Make the tables, note what an older program left, and finish deletions that were cut off."""
        if await prepare_tables(self._database):
            await note_unread(self._database)
        left = (await self._database.execute(("select id from sessions where leaving = 1", ())))[0]
        for (session,) in left:
            await self._leave_if_free(str(session))

    async def create(self, owner: str = "", title: str = "", session: str | None = None) -> SessionRecord:
        """A new session; with an id of one that is there already, that one. Raises InputError for another owner's."""
        name = check_session_id(session) if session is not None else new_session_id()
        at = now()
        columns = "insert into sessions (id, owner, title, created, updated) values (?, ?, ?, ?, ?)"
        made = (f"{columns} on conflict do nothing", (name, owner, check_title(title) if title else "", at, at))
        found = (await self._database.execute(made, _one(name)))[-1]
        return _record(_owned(found, name, owner)[0])

    async def may_enter(self, session: str, owner: str | None) -> None:
        """Raise InputError for another owner's session; one that is not there yet may be made."""
        try:
            await self.get(session, owner)
        except UnknownSession:
            if (await self._database.execute(_one(session)))[0]:
                raise

    async def enter(self, session: str, owner: str | None) -> None:
        """Make the session where it is new; raises InputError for another owner's."""
        try:
            await self.get(session, owner)
        except UnknownSession:
            await self.create(owner or "", session=session)

    async def ids(self) -> builtins.list[str]:
        """Ids of all sessions, last used first."""
        sql = "select id from sessions where leaving = 0 order by updated desc, id"
        return [str(row[0]) for row in (await self._database.execute((sql, ())))[0]]

    async def list(
        self, owner: str | None = None, limit: int = LISTED, before: str | None = None, search: str = ""
    ) -> list[SessionRecord]:
        """Sessions, last used first.

        Args:
            owner: only this owner's; None lists all.
            limit: most of a page.
            before: only what was used before this time: the ``updated`` of the last record of the page before.
            search: only those whose title or a message holds this text, in small or capital letters.
        """
        if not 1 <= limit <= MOST:
            raise InputError(f"A page has 1 to {MOST} sessions.", "Ask for more pages.")
        where, parameters = "s.leaving = 0", builtins.list[str]()
        if owner is not None:
            where, parameters = f"{where} and s.owner = ?", [*parameters, owner]
        if before is not None:
            where, parameters = f"{where} and s.updated < ?", [*parameters, before]
        if search:
            like = "%" + re.sub(r"([%_!])", r"!\1", search.lower().replace("\0", "")) + "%"
            asked = "select 1 from turns t where t.session = s.id and lower(t.asked) like ? escape '!'"
            where = f"{where} and (lower(s.title) like ? escape '!' or exists ({asked}))"
            parameters += [like, like]
        sql = f"select {FIELDS} from sessions s where {where} order by s.updated desc, s.id limit {int(limit)}"
        rows = (await self._database.execute((sql, tuple(parameters))))[0]
        return [await self._read(row) for row in rows]

    async def get(self, session: str, owner: str | None = None) -> SessionRecord:
        """One session; raises InputError for an unknown one, and the same for another owner's."""
        found = (await self._database.execute(_one(session)))[0]
        if not found and not await self._leaving(session) and await adopt(self._database, self.turn_rows, session):
            found = (await self._database.execute(_one(session)))[0]
        return await self._read(_owned(found, session, owner)[0])

    async def turns(
        self, session: str, owner: str | None = None, only: Container[int] | None = None
    ) -> builtins.list[TurnRecord]:
        """The session's turns, or ``only`` some of them, in order, each with its review and feedback."""
        await self.get(session, owner)
        rows = [row for row in await self.turn_rows.all(session) if only is None or row.turn in only]
        reviews, feedback = await self._reviews(session), await self._feedback(session)
        texts = iter(self._database.texts.get_all([row.answer_key for row in rows if row.answer_key]))
        return [
            TurnRecord(
                turn=row.turn,
                asked=row.asked,
                asked_at=row.asked_at,
                answer=Answer.model_validate_json(next(texts)) if row.answer_key else None,
                answered_at=row.answered_at,
                review=reviews.get(row.turn),
                feedback=feedback.get(row.turn),
            )
            for row in rows
        ]

    async def rename(self, session: str, title: str, owner: str | None = None) -> SessionRecord:
        """Give a session another title; raises InputError for one that is empty or too long."""
        line = check_title(title)
        before = (await self.get(session, owner)).title
        await self._database.execute(("update sessions set title = ? where id = ?", (line, session)))
        await self._database.scrub(before)
        return await self.get(session, owner)

    async def review(self, session: str, turn: int, review: Review, owner: str | None = None) -> Review:
        """Keep what a clinician says of an answer, in place of what was said before. It never becomes evidence."""
        await self._answered(session, turn, owner)
        said, by = review.correction, review.reviewer
        said = check_message(said, LONGEST_CORRECTION, "The correction", raised=False) if said else ""
        by = check_message(by, LONGEST_TITLE, "The reviewer", raised=False) if by else ""
        kept = Review(verdict=review.verdict, correction=said, reviewer=by, at=now())
        values = (kept.verdict, kept.correction, kept.reviewer, kept.at)
        sql = (
            "insert into reviews (session, turn, verdict, correction, reviewer, reviewed_at) values (?, ?, ?, ?, ?, ?)"
            " on conflict (session, turn) do update set verdict = ?, correction = ?, reviewer = ?, reviewed_at = ?"
        )
        await self._database.execute((sql, (session, turn, *values, *values)))
        return kept

    async def reviewed(self, session: str, turn: int) -> bool:
        """Whether a clinician has reviewed a turn's answer."""
        return turn in await self._reviews(session)

    async def feedback(self, session: str, turn: int, feedback: Feedback, owner: str | None = None) -> Feedback:
        """Keep whether an answer helped, in place of what was said before. It never becomes evidence."""
        await self._answered(session, turn, owner)
        why = feedback.reason
        why = check_message(why, LONGEST_REASON, "The reason", raised=False) if why.strip() else ""
        kept = Feedback(helpful=feedback.helpful, reason=why, at=now())
        values = (int(kept.helpful), kept.reason, kept.at)
        before = ("select reason from feedback where session = ? and turn = ?", (session, turn))
        sql = (
            "insert into feedback (session, turn, helpful, reason, given_at) values (?, ?, ?, ?, ?)"
            " on conflict (session, turn) do update set helpful = ?, reason = ?, given_at = ?"
        )
        replaced, _ = await self._database.execute(before, (sql, (session, turn, *values, *values)))
        await self._database.scrub(*(str(text) for (text,) in replaced if text and text != why))
        return kept

    async def export(
        self, session: str, format: str = "json", owner: str | None = None, turn: int | None = None
    ) -> str:
        """A session, or one turn of it, with its search strategies: JSON (stable) or Markdown; or its references.

        Formats are told in docs/sessions.md (``json``, ``markdown``) and docs/exports.md (``ris``, ``nbib``,
        ``bibtex``, ``csl-json``).
        """
        from agent.sessions.export import FORMATS, exported
        from tools.references.forms import FORMS, written

        for form in FORMS:
            if form == format:
                return written((await self.references(session, owner, turn)).references, form)
        if format not in FORMATS:
            raise InputError(f"{format!r} is no format of an export.", f"Use {', '.join((*FORMATS, *FORMS))}.")
        return exported(format, await self._gathered(session, owner, turn))

    async def document(self, session: str, owner: str | None = None, turn: int | None = None) -> bytes:
        """A session as a Word document (DOCX), or one turn of it: the question, and the answer with its sources."""
        from agent.sessions.document import as_docx
        from agent.sessions.export import as_markdown, turn_alone

        whole = await self._gathered(session, owner, turn)
        title = whole.turns[0].asked if turn is not None else whole.session.title
        return as_docx(as_markdown(whole) if turn is None else turn_alone(whole), title)

    async def references(self, session: str, owner: str | None = None, turn: int | None = None) -> Collected:
        """What the answers of a session, or of one turn of it, cite; PubMed is not asked for what is not held here."""
        from agent.sessions.export import references_of

        return await references_of((await self._gathered(session, owner, turn)).turns, self._literature)

    async def changes(self, session: str, turn: int, owner: str | None = None) -> Changes:
        """What has changed since the answer of a turn: its searches are asked again, what it cites is looked at anew.

        Raises:
            InputError: the session or the turn is unknown, or has no answer.
        """
        from agent.changes import changes_of

        (only,) = (await self._gathered(session, owner, turn)).turns
        return await changes_of(session, only, self._literature, self._look)

    async def _gathered(self, session: str, owner: str | None, turn: int | None) -> SessionExport:
        from agent.sessions.export import gathered

        record = await self.get(session, owner)
        only = None if turn is None else {turn}
        turns = await self.turns(session, owner, only)
        if turn is not None and not turns:
            raise InputError(f"Session {session} has no turn {turn}.", "`anamnesis sessions show` lists them.")
        return gathered(record, turns, await self.turn_rows.all(session), self._database.texts)

    async def delete(self, session: str, owner: str | None = None) -> None:
        """Delete a session with its checkpoints, traces, texts, records and reviews.

        Raises:
            InputError: it is unknown.
            SessionBusy: its turn runs in another process.
        """
        await self.get(session, owner)
        async with self._locks.held(session):
            await self._leave(session)

    async def expire(self, days: float) -> builtins.list[str]:
        """Delete what was not used for so many days; returns the ids. What is in use stays."""
        if days <= 0:
            raise InputError("Sessions expire after more than 0 days.", "Give a number of days.")
        until = stamp(datetime.now(UTC) - timedelta(days=days))
        old = (await self._database.execute(("select id from sessions where updated < ? order by updated", (until,))))[
            0
        ]
        return [str(session) for (session,) in old if await self._leave_if_free(str(session), until)]

    async def _leave_if_free(self, session: str, until: str = "") -> bool:
        """Delete a session that nobody is in, and that was not used since ``until``; whether it was deleted."""
        if self._locks.busy(session):
            return False
        try:
            async with self._locks.held(session):
                unused = "select 1 from sessions where id = ? and (updated < ? or leaving = 1)"
                if not (await self._database.execute((unused, (session, until))))[0]:
                    return False
                await self._leave(session)
        except SessionBusy:
            return False
        return True

    async def _leaving(self, session: str) -> bool:
        """Whether its deletion has begun: its checkpoints, as long as they are there, are not to be taken over."""
        sql = "select 1 from sessions where id = ? and leaving = 1"
        return bool((await self._database.execute((sql, (session,))))[0])

    async def _leave(self, session: str) -> None:
        """Hidden first and the record last, so that a kill in between leaves nothing that is shown or forgotten."""
        await self._database.execute(("update sessions set leaving = 1 where id = ?", (session,)))
        await self._database.forget(session)
        shutil.rmtree(self._home.traces / session, ignore_errors=True)
        purge_replies(self._home, session)
        purge_replays(self._home, session)
        await purge_records(self._database, session)

    async def _read(self, row: Row) -> SessionRecord:
        """The record of a row; what an older program left is taken over now."""
        if not row[-1]:
            return _record(row)
        await adopt(self._database, self.turn_rows, str(row[0]))
        return _record((await self._database.execute(_one(str(row[0]))))[0][0])

    async def _answered(self, session: str, turn: int, owner: str | None) -> None:
        """Raise InputError for a turn that is not there, is another's, or has no answer."""
        await self.get(session, owner)
        rows = {row.turn: row for row in await self.turn_rows.all(session)}
        if turn not in rows or not rows[turn].answer_key:
            raise InputError(f"Session {session} has no answered turn {turn}.", "`anamnesis sessions show` lists them.")

    async def _feedback(self, session: str) -> dict[int, Feedback]:
        sql = "select turn, helpful, reason, given_at from feedback where session = ?"
        rows = (await self._database.execute((sql, (session,))))[0]
        return {int(turn): Feedback(helpful=bool(helpful), reason=why, at=at) for turn, helpful, why, at in rows}

    async def _reviews(self, session: str) -> dict[int, Review]:
        sql = "select turn, verdict, correction, reviewer, reviewed_at from reviews where session = ?"
        rows = (await self._database.execute((sql, (session,))))[0]
        return {
            int(turn): Review(verdict=verdict, correction=correction, reviewer=reviewer, at=at)
            for turn, verdict, correction, reviewer, at in rows
        }


def _no_library(id: str) -> Document:
    raise DataError(f"Nothing here holds {id}.", "Ask where the library is: anamnesis sessions changes.")


def _one(session: str) -> Statement:
    return f"select {FIELDS} from sessions s where s.id = ? and s.leaving = 0", (session,)


def _owned(found: list[Row], session: str, owner: str | None) -> list[Row]:
    if not found or (owner is not None and found[0][1] != owner):
        raise unknown_session(session)
    return found


def _record(row: Row) -> SessionRecord:
    session, owner, title, created, updated, turns, unfinished, needs_review, _ = row
    return SessionRecord(
        id=session,
        owner=owner,
        title=title,
        created=created,
        updated=updated,
        turns=int(turns),
        unfinished=bool(unfinished),
        needs_review=bool(needs_review),
    )


# Sessions that an older program left: checkpoints without records. Their turns are read from the checkpoints, once.

GREGORIAN = datetime(1582, 10, 15, tzinfo=UTC)  # code: the beginning of a UUID's time (RFC 9562)


class Told(NamedTuple):
    """What the checkpoints of a session tell: times, key of each turn's message, key and time of each answer."""

    first: str
    last: str
    asked: dict[int, str]
    answered: dict[int, tuple[str, str]]


async def note_unread(database: Database) -> None:
    """Give every session that has checkpoints a record; its turns are read when it is first looked at."""
    sql = "insert into sessions (id, owner, title, created, updated, unread) values (?, '', '', ?, ?, 1)"
    for session, checkpoint in await database.checkpointed():
        at = time_of(checkpoint)
        await database.execute((f"{sql} on conflict do nothing", (session, at, at)))


async def adopt(database: Database, turns: Turns, session: str) -> bool:
    """Make the records of a session out of its checkpoints; False where it has none."""
    told = await _told(database, session)
    if told is None:
        return False
    rows = []
    for turn, key in sorted(told.asked.items()):
        answer_key, at = told.answered.get(turn, ("", told.last))
        answer = _answer(database, answer_key)
        ended = (answer_key, at) if answer is not None else ("", "")
        row = TurnRow(turn, "", _text(database, key), at, "", *ended, "")
        rows.append((row, bool(answer and answer.review_reasons)))
    title = title_of(rows[0][0].asked) if rows else ""
    made = "insert into sessions (id, owner, title, created, updated) values (?, '', ?, ?, ?) on conflict do nothing"
    read = "update sessions set unread = 0, created = ?, title = case title when '' then ? else title end where id = ?"
    await turns.add(session, rows)
    await database.execute((made, (session, title, told.first, told.last)), (read, (told.first, title, session)))
    return True


def time_of(checkpoint: str) -> str:
    """When a checkpoint was made, by its id (a UUID of version 6); now, where the id tells no time."""
    try:
        whole = UUID(checkpoint).int
    except ValueError:
        return now()
    ticks = (whole >> 80 << 12) | (whole >> 64 & 0xFFF)  # code: 60 bits of 100 ns, the version's four left out
    return stamp(GREGORIAN + timedelta(microseconds=ticks // 10))


async def _told(database: Database, session: str) -> Told | None:
    config = {"configurable": {"thread_id": session, "checkpoint_ns": ""}}
    asked: dict[int, str] = {}
    answered: dict[int, tuple[str, str]] = {}
    times: list[str] = []
    with database.faults():
        async for found in database.saver.alist(config):  # the newest first
            times.append(time_of(found.checkpoint["id"]))
            values = found.checkpoint["channel_values"]
            for message in _messages(values):
                asked.setdefault(int(message["turn"]), str(message["key"]))
            if values.get("answer_key"):
                answered.setdefault(int(values["turn"]), (str(values["answer_key"]), times[-1]))
    return Told(times[-1], times[0], asked, answered) if times else None


def _messages(values: dict[str, Any]) -> list[dict[str, Any]]:
    """The user's messages; one that the machine had not yet taken in when it was killed is among them."""
    waiting = values.get("__start__")
    more = waiting.get("messages", []) if isinstance(waiting, dict) else []
    return [m for m in [*values.get("messages", []), *more] if m["role"] == "user"]


def _text(database: Database, key: str) -> str:
    try:
        return database.texts.get(key)
    except DataError:  # the words are gone; the turn is still told
        return ""


def _answer(database: Database, key: str) -> Answer | None:
    try:
        return Answer.model_validate_json(database.texts.get(key)) if key else None
    except (DataError, ValueError):
        return None


# What deletion takes away beside checkpoints and texts.


def purge_replies(home: Home, session: str) -> None:
    """Delete the replies of models that were kept for this session alone, whether or not they are kept now."""
    if home.replies.exists():
        with contextlib.closing(ReplyStore(home.replies)) as replies:
            replies.purge(session)


def purge_replays(home: Home, session: str) -> None:
    """Delete the requests and replies that were written down as files for this session, and texts made of them."""
    for named in home.replays.glob("*/*/session"):
        if named.read_text(encoding="utf-8") == session:
            shutil.rmtree(named.parent, ignore_errors=True)
            for made in named.parent.parent.glob("*.md"):
                made.unlink(missing_ok=True)


async def purge_records(database: Database, session: str) -> None:
    """Delete the session's records, documents, reviews and feedback; its own row goes last."""
    asked, corrections, reasons, titles, documents, *_ = await database.execute(
        ("select asked from turns where session = ?", (session,)),
        ("select correction from reviews where session = ?", (session,)),
        ("select reason from feedback where session = ?", (session,)),
        ("select title from sessions where id = ?", (session,)),
        ("select about from documents where session = ?", (session,)),
        ("delete from reviews where session = ?", (session,)),
        ("delete from feedback where session = ?", (session,)),
        ("delete from documents where session = ?", (session,)),
        ("delete from traces where session = ?", (session,)),
        ("delete from turns where session = ?", (session,)),
        ("delete from sessions where id = ?", (session,)),
    )
    await database.scrub(session, *(str(text) for (text,) in (*asked, *corrections, *reasons, *titles, *documents)))
