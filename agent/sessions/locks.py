"""One turn at a time in a session: within this process by a queue, against other processes by the database's lock."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

from agent.sessions.contract import Database, Release
from agent.sessions.home import Home
from agent.sessions.ids import busy_session
from tools.files import FILE, private_file, told_when_full

if TYPE_CHECKING:
    from filelock import BaseFileLock

POLL = 0.05  # ours: seconds between tries for a lock that another process holds


class Locks:
    """Sessions that are in use, in this process and beyond.

    Args:
        database: whose lock keeps other processes out.
        wait: seconds to wait for another process; 0 refuses at once.
    """

    def __init__(self, database: Database, wait: float = 0.0) -> None:
        self._database = database
        self._wait = wait
        self._here: dict[str, tuple[asyncio.Lock, int]] = {}  # with how many hold it or wait for it

    @contextlib.asynccontextmanager
    async def held(self, session: str) -> AsyncIterator[None]:
        """Hold a session: wait for this process's own turns, and so long as is set for another process's.

        Raises:
            SessionBusy: another process holds it.
            InputError: the database is closed, or another process opened it.
        """
        self._database.in_use.check()
        async with self._queued(session):
            release = await self._taken(session)
            try:
                yield
            finally:
                await release()

    def busy(self, session: str) -> bool:
        """Whether this process holds the session."""
        return session in self._here

    @contextlib.asynccontextmanager
    async def _queued(self, session: str) -> AsyncIterator[None]:
        lock, users = self._here.get(session, (asyncio.Lock(), 0))
        self._here[session] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            users = self._here[session][1] - 1
            if users:
                self._here[session] = (lock, users)
            else:
                del self._here[session]

    async def _taken(self, session: str) -> Release:
        until = time.monotonic() + self._wait
        while (release := await self._database.try_lock(session)) is None:
            if time.monotonic() >= until:
                raise busy_session(session)
            await asyncio.sleep(POLL)
        return release


def try_file_lock(home: Home, session: str) -> BaseFileLock | None:
    """Hold a session by a lock on a file, which goes with the process; None when another process has it."""
    from filelock import FileLock, Timeout

    lock = FileLock(_lock_file(home, session), timeout=0, thread_local=False, mode=FILE)
    try:
        lock.acquire()
    except Timeout:
        return None
    return lock


def _lock_file(home: Home, session: str) -> Path:
    with told_when_full("The session's lock"):
        return private_file(home.locks / f"{session}.lock")
