"""The records' tables, the same for SQLite and PostgreSQL, with a version that later ones migrate from."""

from __future__ import annotations

from agent.sessions.contract import Database, Statement
from prompts.errors import DataError

RECORDS_SCHEMA = 1  # raised with every change of a table; `MIGRATIONS` then says how an older one becomes it

TABLES = (
    "create table if not exists schema_version (one integer primary key check (one = 1), version integer not null)",
    """create table if not exists sessions (
        id text primary key,
        owner text not null,
        title text not null,
        created text not null,
        updated text not null,
        unread integer not null default 0,
        leaving integer not null default 0
    )""",  # unread: found in an old data folder, its turns not yet taken over; leaving: its deletion has begun
    """create table if not exists turns (
        session text not null,
        turn integer not null,
        turn_key text not null,
        asked text not null,
        asked_at text not null,
        begun text not null,
        answer_key text not null default '',
        answered_at text not null default '',
        asks_review integer not null default 0,
        searches text not null default '',
        primary key (session, turn)
    )""",  # begun: all that came with the message, while it has no answer; searches: key of what was searched
    """create table if not exists reviews (
        session text not null,
        turn integer not null,
        verdict text not null,
        correction text not null,
        reviewer text not null,
        reviewed_at text not null,
        primary key (session, turn)
    )""",
    """create table if not exists feedback (
        session text not null,
        turn integer not null,
        helpful integer not null,
        reason text not null,
        given_at text not null,
        primary key (session, turn)
    )""",
    """create table if not exists traces (
        session text not null,
        turn integer not null,
        part integer not null,
        body bytea not null,
        noted timestamp not null default current_timestamp,
        primary key (session, turn, part)
    )""",  # of a shared database; part: one more for each worker that ran a part of the turn; body: zlib of JSON lines
    """create table if not exists documents (
        session text not null,
        id text not null,
        about text not null,
        text_key text not null,
        added text not null,
        primary key (session, id)
    )""",  # that a user put in; about: JSON for lists; text_key: what was read of it, in the content store
    "create index if not exists sessions_by_use on sessions (updated, id)",
    "create index if not exists turns_by_key on turns (session, turn_key)",
)

MIGRATIONS: dict[int, tuple[str, ...]] = {}  # version -> what makes it the next one


async def prepare_tables(database: Database) -> bool:
    """Make the tables, or bring them to this version. Returns whether they were made now.

    Raises:
        DataError: a later version made them.
    """
    made: list[Statement] = [(sql, ()) for sql in TABLES]
    stated = ("select version from schema_version", ())
    before = (await database.execute(*made, stated))[-1]
    version = int(before[0][0]) if before else 0
    if version > RECORDS_SCHEMA:
        raise DataError(
            f"The sessions' records have version {version}; this program reads {RECORDS_SCHEMA}.",
            "Use the program that wrote them, or a later one.",
        )
    for step in range(version or RECORDS_SCHEMA, RECORDS_SCHEMA):
        await database.execute(*[(sql, ()) for sql in MIGRATIONS[step]], _stamp(step + 1))
    if not version:
        await database.execute(_stamp(RECORDS_SCHEMA))
    return not version


def _stamp(version: int) -> Statement:
    sql = "insert into schema_version (one, version) values (1, ?) on conflict (one) do update set version = ?"
    return sql, (version, version)
