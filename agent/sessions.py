"""Where sessions live: checkpoints in SQLite, texts in the content store, traces in files; deletion purges all."""

from __future__ import annotations

import contextlib
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.trace import SESSION_NAME
from prompts.errors import DataError, InputError
from tools.store import ContentStore


@dataclass(frozen=True)
class Home:
    """The places under the data folder."""

    root: Path

    def prepare(self) -> Home:
        """Make the folder, mode 0700; raises DataError when it cannot be used."""
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.root.chmod(0o700)
        except OSError as error:
            raise DataError(
                f"The data folder {self.root} cannot be used: {error.strerror}.",
                "Set ANAMNESIS_HOME to a folder that you may write to.",
            ) from error
        return self

    @property
    def checkpoints(self) -> Path:
        """SQLite file of the checkpoints."""
        return self.root / "checkpoints.sqlite"

    @property
    def texts(self) -> Path:
        """SQLite file of the content store."""
        return self.root / "texts.sqlite"

    @property
    def traces(self) -> Path:
        """Folder of the traces."""
        return self.root / "traces"

    @property
    def indexes(self) -> Path:
        """Folder of the indexes and compiled tables."""
        return self.root / "indexes"

    @property
    def library(self) -> Path:
        """Folder of the user's own documents."""
        return self.root / "library"

    @property
    def cache(self) -> Path:
        """Folder of what may be deleted at any time."""
        return self.root / "cache"

    @property
    def encoder_choice(self) -> Path:
        """The result of the encoder's self-measurement at set-up."""
        return self.root / "encoder.json"


def new_session_id() -> str:
    """A session id that nobody can guess."""
    return secrets.token_hex(8)


def check_session_id(session: str) -> str:
    """The id, when it can be one; raises InputError otherwise."""
    if not SESSION_NAME.match(session):
        raise InputError(
            f"{session[:80]!r} is no session id.", "Use letters, digits, '.', '_' and '-', at most 80 characters."
        )
    return session


@contextlib.contextmanager
def session_lock(home: Home, session: str) -> Iterator[None]:
    """Hold a session against other processes; raises InputError when another one is in it."""
    from filelock import FileLock, Timeout

    folder = home.root / "locks"
    folder.mkdir(exist_ok=True, mode=0o700)
    try:
        with FileLock(folder / f"{session}.lock", timeout=0, thread_local=False):
            yield
    except Timeout as error:
        raise InputError(f"Session {session} is in use by another process.", "Wait for its turn to end.") from error


@contextlib.contextmanager
def typed_database_errors() -> Iterator[None]:
    """What SQLite says of a damaged or full database becomes a DataError with advice."""
    import sqlite3

    try:
        yield
    except sqlite3.DatabaseError as error:
        raise DataError(
            f"The session database cannot be used: {error}.",
            "`anamnesis doctor` names the damaged file; move it away, or restore a copy.",
        ) from error


async def open_saver(home: Home) -> Any:
    """The checkpointer on the data folder; raises DataError when its file is damaged."""
    import sqlite3

    import aiosqlite
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    home.checkpoints.touch(mode=0o600, exist_ok=True)
    connection = await aiosqlite.connect(home.checkpoints)
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
    """Ids of all sessions, last used first."""
    query = "select thread_id, max(checkpoint_id) as last from checkpoints group by thread_id order by last desc"
    with typed_database_errors():
        async with saver.lock, saver.conn.execute(query) as cursor:
            return [str(row[0]) async for row in cursor]


async def purge_session(home: Home, saver: Any, store: ContentStore, session: str) -> None:
    """Delete a session with its checkpoints, its traces and the texts that only it owned."""
    await saver.adelete_thread(session)
    async with saver.lock:  # the write-ahead log still holds what was deleted: fold it in and cut it off
        await saver.conn.execute("pragma wal_checkpoint(truncate)")
    store.purge(session)
    shutil.rmtree(home.traces / session, ignore_errors=True)
    (home.root / "locks" / f"{session}.lock").unlink(missing_ok=True)
