"""What deletion takes away beside checkpoints and texts."""

from __future__ import annotations

import shutil
from typing import Any

from agent.sessions.contract import Database
from agent.sessions.home import Home
from tools.store import ContentStore


def purge_traces(home: Home, session: str) -> None:
    """Delete the session's traces."""
    shutil.rmtree(home.traces / session, ignore_errors=True)


async def purge_records(database: Database, session: str) -> None:
    """Delete the session's records and reviews; its own row goes last."""
    await database.execute(
        ("delete from reviews where session = ?", (session,)),
        ("delete from traces where session = ?", (session,)),
        ("delete from turns where session = ?", (session,)),
        ("delete from sessions where id = ?", (session,)),
    )
    await database.scrub()


async def purge_session(home: Home, saver: Any, store: ContentStore, session: str) -> None:
    """Delete a session's checkpoints in SQLite, its traces and the texts that only it owned; records stay."""
    await saver.adelete_thread(session)
    async with saver.lock:  # the write-ahead log still holds what was deleted: fold it in and cut it off
        await saver.conn.execute("pragma wal_checkpoint(truncate)")
    store.purge(session)
    purge_traces(home, session)
    (home.locks / f"{session}.lock").unlink(missing_ok=True)
