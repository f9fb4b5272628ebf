"""What the server does for itself: retention, forgotten histories, and turns that a kill or a stop cut off."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import sys
from collections.abc import AsyncIterator, Awaitable, Callable

from agent.loop import arun
from agent.server import logs
from agent.server.access import Caller
from agent.server.guard import Parts
from agent.server.problems import Refusal
from agent.sessions import SessionRecord
from prompts.errors import InputError

PAGE = 200  # ours: sessions looked through at once
DAY = 86_400.0  # seconds between two runs of the retention
FREEING = 10.0  # ours: seconds between two times that freed memory is given back
SCOPES = frozenset({"ask"})
FULL = ("too_many_turns", "busy")  # refusals that pass


class Housekeeping:
    """Runs in the background while the server runs."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin."""
        works = (self._tidy(), self._told(self._finish), self._told(self._free))
        self._tasks = [asyncio.create_task(work) for work in works]

    async def stop(self) -> None:
        """Stop at once; nothing is lost."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _told(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except Exception as error:  # noqa: BLE001  the server goes on, the log says where
            logs.failure("Housekeeping failed.", error)

    async def _tidy(self) -> None:
        """Clean now, then once a day; a day on which it fails is not the last."""
        while True:
            await self._told(self._clean)
            await asyncio.sleep(DAY)

    async def _clean(self) -> None:
        """Delete sessions that are too old, and what leads to sessions that are gone."""
        days = self._parts.agent.settings.sessions.keep_days
        if days is not None:
            gone = await arun(self._parts.agent.records.expire(days))
            logs.event("sessions expired", count=len(gone))
        for session in await self._parts.histories.sessions():
            try:
                await arun(self._parts.agent.records.get(session))
            except InputError:
                await self._parts.histories.forget(session)

    async def _free(self) -> None:
        """Give freed memory back to the system now and then: glibc keeps it, so that a server seems to grow."""
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
        while trim is not None:
            await asyncio.sleep(FREEING)
            await asyncio.to_thread(trim, 0)

    async def _listed(self) -> AsyncIterator[SessionRecord]:
        """Every session of every owner."""
        before: str | None = None
        while page := await arun(self._parts.agent.records.list(limit=PAGE, before=before)):
            for record in page:
                yield record
            before = page[-1].updated

    async def _finish(self) -> None:
        """Finish turns that were cut off, one after another, as their owners would by resuming."""
        settings = self._parts.settings
        if not settings.finish_at_start:
            return
        cut_off = [record async for record in self._listed() if record.unfinished]
        done = [await self._finished(record) for record in cut_off[: settings.finish_most]]
        if cut_off:
            logs.event("cut-off turns finished", count=sum(done), left=len(cut_off) - sum(done))

    async def _finished(self, record: SessionRecord) -> bool:
        """Whether a turn could be finished, once its owner had a place for it; False where another worker runs it."""
        caller = Caller(record.owner, "", SCOPES)
        while True:
            try:
                await (await self._parts.turns.resume(caller, record.id)).answer()
            except Refusal as refusal:
                if refusal.code not in FULL:
                    return False
                await asyncio.sleep(refusal.retry_after or 0)
            else:
                return True
