"""The server's own tables (keys, log-ins, histories), in the database that keeps the sessions.

Statements are written once, with ``?`` for a value; SQLite and PostgreSQL both take the SQL that is used here. Every
value is text or a whole number; times are ISO 8601 in UTC, so that they compare as text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from agent.loop import arun
from agent.sessions import Database
from prompts.errors import DataError

SERVER_SCHEMA = 1  # raised with every change of a table

TABLES = (
    "create table if not exists server_schema (one integer primary key check (one = 1), version integer not null)",
    f"insert into server_schema (one, version) values (1, {SERVER_SCHEMA}) on conflict do nothing",
    """create table if not exists server_keys (id text primary key, name text not null, hash text not null,
       scopes text not null, created text not null, expires text not null, revoked text not null)""",
    "create table if not exists server_logins (hash text primary key, id text not null, expires text not null)",
    """create table if not exists server_histories (hash text primary key, session text not null,
       turns integer not null)""",
    "create index if not exists server_histories_by_session on server_histories (session)",
    "create index if not exists server_logins_by_key on server_logins (id)",
)

Row = tuple[Any, ...]


class Tables:
    """The tables. Each statement is a transaction of its own; any loop may await it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(self) -> Tables:
        """Make the tables where they are missing; raises DataError when another version wrote them."""
        await arun(self._database.execute(*[(sql, ()) for sql in TABLES]))
        found = (await self.run("select version from server_schema"))[0][0]
        if found != SERVER_SCHEMA:
            said = f"The server's tables have version {found}; this program reads {SERVER_SCHEMA}."
            raise DataError(said, "Use the program that wrote them.")
        return self

    async def run(self, sql: str, *values: Any) -> list[Row]:
        """The rows of a statement, none where it gives none; raises DataError or ServiceError."""
        return (await arun(self._database.execute((sql, values))))[0]

    async def scrub(self, *texts: str) -> None:
        """Take what was deleted out of the files too."""
        await arun(self._database.scrub(*texts))


def now() -> str:
    """This moment, as the tables hold it."""
    return at(datetime.now(UTC))


def at(moment: datetime) -> str:
    """A moment, as the tables hold it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# Which session a conversation belongs to, where a client sends only its messages.
# A client of chat completions sends the whole conversation each time and no session. After each turn the hash of
# the conversation so far leads to its session; the hash holds the owner, so that nobody finds another's session by
# the same words. What is kept is the hash alone; it goes with its session.


class Said(NamedTuple):
    """A message: ``user`` or ``assistant``, and its text."""

    role: str
    text: str


class Place(NamedTuple):
    """A session, and how many turns of it a conversation holds."""

    session: str
    turns: int


class Histories:
    """Conversations by their hash."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def find(self, owner: str, said: Sequence[Said]) -> Place | None:
        """Where a conversation stands, None when it is not known."""
        sql = "select session, turns from server_histories where hash = ?"
        found = await self._tables.run(sql, hash_of(owner, said))
        return Place(str(found[0][0]), int(found[0][1])) if found else None

    async def note(self, owner: str, said: Sequence[Said], place: Place) -> None:
        """Remember where a conversation stands; the last one with these words counts."""
        sql = (
            "insert into server_histories values (?, ?, ?) "
            "on conflict (hash) do update set session = excluded.session, turns = excluded.turns"
        )
        await self._tables.run(sql, hash_of(owner, said), place.session, place.turns)

    async def forget(self, session: str) -> None:
        """Forget all that leads to a session."""
        await self._tables.run("delete from server_histories where session = ?", session)
        await self._tables.scrub(session)

    async def sessions(self) -> list[str]:
        """Sessions that something leads to."""
        rows = await self._tables.run("select distinct session from server_histories")
        return [str(row[0]) for row in rows]


def hash_of(owner: str, said: Sequence[Said]) -> str:
    """sha256 over the owner and all messages; blanks around a text do not count, because clients trim them."""
    whole = [owner, *([message.role, message.text.strip()] for message in said)]
    return hashlib.sha256(json.dumps(whole).encode()).hexdigest()
