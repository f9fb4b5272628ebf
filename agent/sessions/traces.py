"""Traces of turns where sessions lie: in the data folder, and with a shared database in it, for every worker.

A trace is written to the folder while its turn runs, a line an event; with a shared database it goes there when the
turn ends or stops, and leaves the folder.
"""

from __future__ import annotations

import asyncio
import contextlib
import zlib
from pathlib import Path
from typing import Any

from agent.sessions.contract import Database
from agent.sessions.home import Home
from agent.trace import events_of, list_runs, no_trace, run_names, trace_path
from prompts.errors import AnamnesisError, DataError

KEEP = """insert into traces (session, turn, part, body)
    select ?, ?, coalesce(max(part), 0) + 1, ? from traces where session = ? and turn = ?
    having exists (select 1 from sessions where id = ? and leaving = 0)"""
READ = "select body from traces where session = ? and turn = ? order by part"
LIST = "select session, turn from traces group by session, turn order by max(noted) desc"


class Traces:
    """The traces of all sessions.

    Args:
        database: of the sessions; None, or one that is not shared, leaves all in the folder.
        home: whose folder it is.
    """

    def __init__(self, database: Database | None, home: Home) -> None:
        self._shared, self._folder = database if database is not None and database.shared else None, home.traces

    async def keep(self, run: str) -> None:
        """Take a trace that is not written any more into the database; where it does not serve, the file stays.

        Of a session that was deleted meanwhile (its lock went with a lost connection) nothing is kept.
        """
        if self._shared is None:
            return
        path, (session, turn) = trace_path(self._folder, run), run_names(run)
        with contextlib.suppress(AnamnesisError, OSError):
            body = zlib.compress(await asyncio.to_thread(path.read_bytes))
            await self._shared.execute((KEEP, (session, turn, body, session, turn, session)))
            await asyncio.to_thread(_remove, path)

    async def events(self, run: str) -> list[dict[str, Any]]:
        """The events of a run; raises InputError when there is no such run, DataError when it is damaged."""
        here = await asyncio.to_thread(_read, trace_path(self._folder, run))  # first: it goes to the database meanwhile
        found = await self._kept(run)
        if here is not None and not any(part.startswith(here) for part in found):
            found.append(here)
        if not found:
            raise no_trace(run)
        return list(events_of(b"\n".join(found)))

    async def forget(self, run: str) -> None:
        """Delete the trace of a run."""
        await asyncio.to_thread(_remove, trace_path(self._folder, run))
        if self._shared is not None:
            await self._shared.execute(("delete from traces where session = ? and turn = ?", run_names(run)))

    async def _kept(self, run: str) -> list[bytes]:
        """The parts of a trace that the database has, in order."""
        if self._shared is None:
            return []
        rows = (await self._shared.execute((READ, run_names(run))))[0]
        try:
            return [zlib.decompress(body) for (body,) in rows]
        except zlib.error as error:
            raise DataError(f"The trace of run {run} is damaged.", "Its answer is not touched by that.") from error

    async def runs(self) -> list[str]:
        """All runs with a trace: what runs here, then the others, newest first."""
        here = await asyncio.to_thread(list_runs, self._folder)
        if self._shared is None:
            return here
        kept = [f"{session}/{turn}" for session, turn in (await self._shared.execute((LIST, ())))[0]]
        return list(dict.fromkeys([*here, *kept]))


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # another turn's trace lies there
        path.parent.rmdir()
