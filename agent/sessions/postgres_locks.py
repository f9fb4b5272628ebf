"""Locks of sessions in PostgreSQL: advisory locks on a connection of their own, which go with the worker that dies."""

from __future__ import annotations

import asyncio
from typing import Any

from agent.sessions.contract import Release

SETUP = 0x616E616D6E6573  # ours: the number of the lock under which tables are made ("anamnes" in ASCII)
KEEPALIVE = 30  # ours: seconds of silence after which the server asks whether the worker's machine is still there


class AdvisoryLocks:
    """Advisory locks of one worker.

    Within the worker they do not exclude each other (PostgreSQL counts them by connection): `Locks` does that. They
    need a connection that stays, so a pooler in front must pool by session, not by transaction.
    """

    def __init__(self, url: str, connection: Any) -> None:
        self._url = url
        self._connection = connection
        self._opening = asyncio.Lock()

    @classmethod
    async def connect(cls, url: str) -> AdvisoryLocks:
        """Open the connection; raises psycopg's errors."""
        return cls(url, await _connection(url))

    async def try_lock(self, key: int) -> Release | None:
        """Take the lock of a number (64 bits, signed); None when another connection has it."""
        connection = await self._alive()
        cursor = await connection.execute("select pg_try_advisory_lock(%s::bigint)", (key,))
        if not (await cursor.fetchone())[0]:
            return None

        async def release() -> None:
            if not connection.closed:  # a lost connection has given back its locks by itself
                await connection.execute("select pg_advisory_unlock(%s::bigint)", (key,))

        return release

    async def close(self) -> None:
        """Close the connection; every lock on it is given back."""
        await self._connection.close()

    async def _alive(self) -> Any:
        """The connection, opened again where it was lost."""
        async with self._opening:
            if self._connection.closed or self._connection.broken:
                self._connection = await _connection(self._url)
            return self._connection


async def _connection(url: str) -> Any:
    import psycopg

    connection = await psycopg.AsyncConnection.connect(
        url, autocommit=True, keepalives_idle=KEEPALIVE, application_name="anamnesis locks", connect_timeout=10
    )
    await connection.execute(f"set tcp_keepalives_idle = {KEEPALIVE}")
    return connection
