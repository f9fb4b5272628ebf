"""Sessions in SQLite files of the data folder: checkpoints, texts, records; locks are files beside them."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.sessions.contract import InUse, Release, Row, Statement
from agent.sessions.home import Home
from agent.sessions.locks import try_file_lock
from tools.databases import fault_of, forget, told
from tools.files import private_file, told_when_full
from tools.store import ContentStore

if TYPE_CHECKING:
    from filelock import BaseFileLock

BUSY = 60.0  # ours: seconds to wait for another process's write, as in the content store


def typed_database_errors(file: Path) -> contextlib.AbstractContextManager[None]:
    """What SQLite says of a damaged database, or of a full disk, becomes a DataError that says which, and what to do.

    Args:
        file: one of the session database's files.
    """
    advice = "`anamnesis doctor` names the damaged file; move it away, or restore a copy."
    return told(file, "The session database", advice)


async def open_saver(home: Home) -> Any:
    """The checkpointer on the data folder; raises DataError when its file is damaged."""
    import aiosqlite
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    connection = await aiosqlite.connect(_private(home.checkpoints), timeout=BUSY)
    try:
        saver = AsyncSqliteSaver(connection)
        await saver.setup()
        await connection.execute("pragma synchronous=normal")
        await connection.execute("pragma secure_delete=on")
    except sqlite3.DatabaseError as error:
        await connection.close()
        raise fault_of(error, home.checkpoints, f"The checkpoints file {home.checkpoints.name}") from error
    return saver


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
        self.in_use = InUse()
        weakref.finalize(self, _let_go, saver.conn, asyncio.get_running_loop(), self.in_use).atexit = False

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
        self.in_use.check()
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
        with self.faults():
            return await _checkpointed(self.saver)

    async def thin(self, session: str) -> None:
        """Delete the session's checkpoints and writes behind the last one of its machine."""
        last = "(select max(checkpoint_id) from checkpoints where thread_id = ? and checkpoint_ns = '')"
        async with self.saver.lock:
            for table in ("writes", "checkpoints"):
                sql = f"delete from {table} where thread_id = ? and checkpoint_id < {last}"
                await self.saver.conn.execute(sql, (session, session))
            await self.saver.conn.commit()

    async def forget(self, session: str) -> None:
        """Delete checkpoints and texts, and cut off the write-ahead logs, which still hold what was deleted."""
        with self.faults():
            await purge_checkpoints(self.saver, self._home, session)
            self.texts.purge(session)
        (self._home.locks / f"{session}.lock").unlink(missing_ok=True)

    async def scrub(self, *texts: str) -> None:
        """Take what was deleted from the records out of their file and its write-ahead log."""
        with self.faults():
            await asyncio.get_running_loop().run_in_executor(self._thread, self._forget, texts)

    async def check(self) -> None:
        """Read from each file."""
        with self.faults():
            async with self.saver.lock, self.saver.conn.execute("select 1 from checkpoints limit 1") as cursor:
                await cursor.fetchone()
        await self.execute(("select 1 from sessions limit 1", ()))

    def faults(self) -> contextlib.AbstractContextManager[None]:
        """SQLite's errors as DataErrors."""
        return typed_database_errors(self._home.records)

    async def close(self) -> None:
        """Close the files, and give back every lock."""
        if not self.in_use.end():
            return
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
            if self._db.in_transaction:  # SQLite undoes it by itself where the disk is full
                self._db.execute("rollback")
            raise
        self._db.execute("commit")
        return rows

    def _forget(self, texts: tuple[str, ...]) -> None:
        forget(self._db, self._home.records, texts)


def _let_go(connection: Any, loop: asyncio.AbstractEventLoop, in_use: InUse) -> None:
    """Close the checkpoints of a database that nobody holds or closed, on its own loop.

    The connection itself would tell the loop that happens to run where it is collected, which may be closed by then.
    Nothing waits: the collector runs anywhere, on that loop too.
    """
    if in_use.end():
        asyncio.run_coroutine_threadsafe(connection.close(), loop)


async def purge_checkpoints(saver: Any, home: Home, session: str) -> None:
    """Delete a session's checkpoints, out of the file too."""
    await saver.adelete_thread(session)
    async with saver.lock:
        await asyncio.to_thread(_forget_in, home.checkpoints, session)


def _forget_in(file: Path, session: str) -> None:
    with contextlib.closing(sqlite3.connect(file, timeout=BUSY)) as db:
        forget(db, file, [session])


async def _checkpointed(saver: Any) -> list[tuple[str, str]]:
    query = "select thread_id, max(checkpoint_id) as last from checkpoints group by thread_id order by last desc"
    async with saver.lock, saver.conn.execute(query) as cursor:
        return [(str(session), str(last)) async for session, last in cursor]


def _connected(file: Path) -> sqlite3.Connection:
    with typed_database_errors(file):
        db = sqlite3.connect(_private(file), check_same_thread=False, timeout=BUSY, isolation_level=None)
        for pragma in ("journal_mode=wal", "synchronous=normal", "secure_delete=on"):
            db.execute(f"pragma {pragma}").fetchall()
    return db


def _private(file: Path) -> Path:
    with told_when_full(file.name):
        return private_file(file)
