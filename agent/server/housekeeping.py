"""What the server does for itself: retention, forgotten histories, and turns that a kill or a stop cut off."""

from __future__ import annotations

import asyncio
import contextlib
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
SCOPES = frozenset({"ask"})


class Housekeeping:
    """Runs in the background while the server runs."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin."""
        self._tasks = [asyncio.create_task(self._told(work)) for work in (self._tidy, self._finish)]

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
        """Delete sessions that are too old, and what leads to sessions that are gone; then once a day."""
        while True:
            days = self._parts.agent.settings.sessions.keep_days
            if days is not None:
                gone = await arun(self._parts.agent.records.expire(days))
                logs.event("sessions expired", count=len(gone))
            for session in await self._parts.histories.sessions():
                try:
                    await arun(self._parts.agent.records.get(session))
                except InputError:
                    await self._parts.histories.forget(session)
            await asyncio.sleep(DAY)

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
        for record in cut_off[: settings.finish_most]:
            with contextlib.suppress(Refusal):
                await self._parts.turns.resume(Caller(record.owner, "", SCOPES), record.id).answer()
        if cut_off:
            left = max(0, len(cut_off) - settings.finish_most)
            logs.event("cut-off turns finished", count=len(cut_off) - left, left=left)
