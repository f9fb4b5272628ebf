"""The server's own tables (keys, log-ins, histories), in the database that keeps the sessions.

Statements are written once, with ``?`` for a value; SQLite and PostgreSQL both take the SQL that is used here. Every
value is text or a whole number; times are ISO 8601 in UTC, so that they compare as text.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

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
