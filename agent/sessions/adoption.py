"""Sessions that an older program left: checkpoints without records. Their turns are read from the checkpoints, once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from agent.sessions.contract import Database
from agent.sessions.times import now, stamp
from agent.sessions.titles import title_of
from agent.sessions.turns import TurnRow, Turns
from graphs.answering.contract import Answer
from prompts.errors import DataError

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
