"""Sessions in SQLite files of the data folder: checkpoints, texts, records; locks are files beside them."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.sessions.contract import Release, Row, Statement
from agent.sessions.home import Home
from agent.sessions.locks import try_file_lock
from prompts.errors import DataError
from tools.store import ContentStore

if TYPE_CHECKING:
    from filelock import BaseFileLock

BUSY = 60.0  # ours: seconds to wait for another process's write, as in the content store


@contextlib.contextmanager
def typed_database_errors() -> Iterator[None]:
    """What SQLite says of a damaged or full database becomes a DataError with advice."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise DataError(
            f"The session database cannot be used: {error}.",
            "`anamnesis doctor` names the damaged file; move it away, or restore a copy.",
        ) from error


async def open_saver(home: Home) -> Any:
    """The checkpointer on the data folder; raises DataError when its file is damaged."""
    import aiosqlite
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    home.checkpoints.touch(mode=0o600, exist_ok=True)
    connection = await aiosqlite.connect(home.checkpoints, timeout=BUSY)
    try:
        saver = AsyncSqliteSaver(connection)
        await saver.setup()
        await connection.execute("pragma synchronous=normal")
        await connection.execute("pragma secure_delete=on")
    except sqlite3.DatabaseError as error:
        await connection.close()
        raise DataError(
            f"The checkpoints file {home.checkpoints.name} is damaged.", "Move it away, or restore a copy."
        ) from error
    return saver


async def list_sessions(saver: Any) -> list[str]:
    """Ids of all sessions that have checkpoints, last used first."""
    return [session for session, _ in await _checkpointed(saver)]


class SqliteDatabase:
    """`Database` on three SQLite files, for one process or several on one machine.

    A commit survives the death of the process; after a loss of power the last moments may be gone, the files are whole.
    """

    shared = False

    def __init__(self, home: Home, saver: Any) -> None:
        self.saver = saver
        self.texts = ContentStore(home.texts)
        self._home = home
        self._locks: dict[str, BaseFileLock] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="records")  # all its statements, one after another
        self._db = _connected(home.records)

    @classmethod
    async def open(cls, home: Home) -> SqliteDatabase:
        """Open the files, made where they are missing; raises DataError for a damaged one."""
        saver = await open_saver(home)
        try:
            return cls(home, saver)
        except BaseException:
            await saver.conn.close()
            raise

    async def execute(self, *statements: Statement) -> list[list[Row]]:
        """Carry out statements in one transaction, beside the event loop."""
        with self.faults():
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._transaction, statements)

    async def try_lock(self, session: str) -> Release | None:
        """Hold the session's file lock; None when another process has it."""
        lock = try_file_lock(self._home, session)
        if lock is None:
            return None
        self._locks[session] = lock

        async def release() -> None:
            if session in self._locks:
                self._locks.pop(session).release()

        return release

    async def checkpointed(self) -> list[tuple[str, str]]:
        """Every session that has checkpoints, last used first, with the id of the last."""
        return await _checkpointed(self.saver)

    async def forget(self, session: str) -> None:
        """Delete checkpoints and texts, and cut off the write-ahead logs, which still hold what was deleted."""
        with self.faults():
            await self.saver.adelete_thread(session)
            async with self.saver.lock:
                await self.saver.conn.execute("pragma wal_checkpoint(truncate)")
            self.texts.purge(session)
        (self._home.locks / f"{session}.lock").unlink(missing_ok=True)

    async def scrub(self) -> None:
        """Cut off the records' write-ahead log."""
        with self.faults():
            await asyncio.get_running_loop().run_in_executor(self._thread, self._truncate)

    async def check(self) -> None:
        """Read from each file."""
        with self.faults():
            async with self.saver.lock, self.saver.conn.execute("select 1 from checkpoints limit 1") as cursor:
                await cursor.fetchone()
        await self.execute(("select 1 from sessions limit 1", ()))

    def faults(self) -> contextlib.AbstractContextManager[None]:
        """SQLite's errors as DataErrors."""
        return typed_database_errors()

    async def close(self) -> None:
        """Close the files, and give back every lock."""
        while self._locks:
            self._locks.popitem()[1].release()
        await self.saver.conn.close()
        self._thread.shutdown(wait=True)
        self._db.close()
        self.texts.close()

    def _transaction(self, statements: tuple[Statement, ...]) -> list[list[Row]]:
        reads = all(sql.lstrip().startswith("select") for sql, _ in statements)
        self._db.execute("begin" if reads else "begin immediate")
        try:
            rows = [self._db.execute(sql, parameters).fetchall() for sql, parameters in statements]
        except BaseException:
            self._db.execute("rollback")
            raise
        self._db.execute("commit")
        return rows

    def _truncate(self) -> None:
        self._db.execute("pragma wal_checkpoint(truncate)").fetchall()


async def _checkpointed(saver: Any) -> list[tuple[str, str]]:
    query = "select thread_id, max(checkpoint_id) as last from checkpoints group by thread_id order by last desc"
    with typed_database_errors():
        async with saver.lock, saver.conn.execute(query) as cursor:
            return [(str(session), str(last)) async for session, last in cursor]


def _connected(file: Path) -> sqlite3.Connection:
    file.touch(mode=0o600, exist_ok=True)
    with typed_database_errors():
        db = sqlite3.connect(file, check_same_thread=False, timeout=BUSY, isolation_level=None)
        for pragma in ("journal_mode=wal", "synchronous=normal", "secure_delete=on"):
            db.execute(f"pragma {pragma}").fetchall()
    return db
