"""Which database keeps the sessions: SQLite in the data folder, or the one that the settings name."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from agent.sessions.contract import Database
from agent.sessions.home import Home
from agent.sessions.locks import Locks
from agent.sessions.records import Records
from agent.sessions.schema import prepare_tables
from agent.sessions.sqlite import SqliteDatabase
from agent.sessions.traces import Traces

if TYPE_CHECKING:
    from agent.changes import Look
    from agent.settings import Settings


async def open_database(settings: Settings, home: Home) -> Database:
    """The database of the settings; raises DataError or ServiceError where it cannot be used."""
    opened: Database
    if settings.database is None:
        opened = await SqliteDatabase.open(home)
    else:
        from agent.sessions.postgres import PostgresDatabase

        opened = await PostgresDatabase.open(settings.database.get_secret_value(), settings.sessions.connections)
    _keep_whole_steps(opened.saver)
    return opened


def _keep_whole_steps(saver: Any) -> None:
    """Let the checkpointer keep of a step that failed or was cancelled that it did, and nothing that it had written.

    LangGraph keeps the writes too, and takes a step that has some for one that has ended: cut off between its results
    and the choice of the next step, the turn would go nowhere.
    """
    from langgraph.checkpoint.serde.types import ERROR

    put = saver.aput_writes

    async def put_whole(config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        failed = [(channel, value) for channel, value in writes if channel == ERROR]
        await put(config, failed or writes, task_id, task_path)

    saver.aput_writes = put_whole


@contextlib.asynccontextmanager
async def open_records(settings: Settings, look: Look | None = None) -> AsyncIterator[Records]:
    """The sessions' records by themselves, without the agent's indexes and models. ``look``: see `Records`."""
    home = Home(settings.home).prepare()
    database = await open_database(settings, home)
    try:
        locks = Locks(database, settings.sessions.wait)
        records = Records(database, home, locks, settings.literature, look)
        await records.open()
        yield records
    finally:
        await database.close()


@contextlib.asynccontextmanager
async def open_traces(settings: Settings) -> AsyncIterator[Traces]:
    """The traces by themselves; without a shared database none is opened, and no folder is made."""
    home = Home(settings.home)
    if settings.database is None:
        yield Traces(None, home)
        return
    database = await open_database(settings, home.prepare())
    try:
        await prepare_tables(database)
        yield Traces(database, home)
    finally:
        await database.close()
