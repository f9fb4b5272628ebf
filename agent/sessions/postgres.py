"""Sessions in PostgreSQL, for several workers on one database: checkpoints, texts, records and locks.

The package's drivers are an extra, so they are imported only where this is opened.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import threading
from collections.abc import AsyncIterator, Iterable, Iterator
from functools import partial
from typing import Any

from agent.sessions.contract import InUse, Release, Row, Statement
from prompts.errors import AnamnesisError, DataError, ServiceError
from tools.evidence import content_key
from tools.literature.shared_tables import postgres_packages
from tools.store import RecentTexts, TextStore

# Locks of sessions in PostgreSQL: advisory locks on a connection of their own, which go with the worker that dies.
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


PATIENCE = 10.0  # ours: seconds to wait for a connection before the database counts as unreachable
POLL = 0.05  # ours: seconds between tries while another worker makes the tables


class PostgresDatabase:
    """`Database` on PostgreSQL. A worker holds its sessions' locks on a connection of their own.

    Deleted rows are gone for every query; the server's own clean-up (vacuum, recycled logs) takes their bytes away.
    """

    shared = True

    def __init__(self, saver: Any, pool: Any, texts: TextStore, locks: AdvisoryLocks) -> None:
        self.saver = saver
        self.texts = texts
        self._pool = pool
        self._locks = locks
        self.in_use = InUse()

    @classmethod
    async def open(cls, url: str, connections: int) -> PostgresDatabase:
        """Connect, and make the tables where they are missing.

        Args:
            url: ``postgresql://user:password@host:port/name``, or any connection string of libpq.
            connections: most connections of each of the two pools.

        Raises:
            InputError: the drivers are not installed.
            ServiceError: the database cannot be reached.
        """
        psycopg, pools, savers = postgres_packages("psycopg", "psycopg_pool", "langgraph.checkpoint.postgres.aio")

        async with contextlib.AsyncExitStack() as opened:
            with typed_postgres_errors():
                locks = await AdvisoryLocks.connect(url)
                opened.push_async_callback(locks.close)
                plain = {"autocommit": True, "prepare_threshold": 0, "row_factory": psycopg.rows.dict_row}
                pool = pools.AsyncConnectionPool(
                    url, min_size=1, max_size=connections, kwargs=plain, open=False, timeout=PATIENCE
                )
                opened.push_async_callback(pool.close)
                await pool.open(wait=True, timeout=PATIENCE)
                saver = savers.AsyncPostgresSaver(pool)
                saver.lock = asyncio.Semaphore(connections)  # its own lock is for one connection; these have a pool
                async with _set_up(locks):
                    await saver.setup()
                    texts = PostgresStore(url, connections)
            opened.pop_all()
        return cls(saver, pool, texts, locks)

    async def execute(self, *statements: Statement) -> list[list[Row]]:
        """Carry out statements in one transaction."""
        from psycopg.rows import tuple_row

        self.in_use.check()
        found: list[list[Row]] = []
        with self.faults():
            async with self._pool.connection() as connection, connection.transaction():
                cursor = connection.cursor(row_factory=tuple_row)
                if any(sql.lstrip().startswith("create") for sql, _ in statements):  # two workers would collide
                    await cursor.execute("select pg_advisory_xact_lock(%s)", (SETUP + 1,))
                for sql, parameters in statements:
                    await cursor.execute(sql.replace("?", "%s"), parameters)
                    found.append(await cursor.fetchall() if cursor.description else [])
        return found

    async def try_lock(self, session: str) -> Release | None:
        """Hold the session by an advisory lock; None when another worker has it."""
        with self.faults():
            key = int.from_bytes(hashlib.sha256(session.encode()).digest()[:8], "big", signed=True)
            return await self._locks.try_lock(key)

    async def checkpointed(self) -> list[tuple[str, str]]:
        """Every session that has checkpoints, with the id of the last."""
        sql = "select thread_id, max(checkpoint_id) from checkpoints group by thread_id"
        return [(str(session), str(last)) for session, last in (await self.execute((sql, ())))[0]]

    async def thin(self, session: str) -> None:
        """Delete the session's checkpoints behind the last one, by the checkpointer's own means."""
        await self.saver.aprune([session])

    async def forget(self, session: str) -> None:
        """Delete checkpoints and texts."""
        with self.faults():
            await self.saver.adelete_thread(session)
            self.texts.purge(session)

    async def scrub(self, *texts: str) -> None:
        """Nothing to do: the server cleans up after itself."""

    async def check(self) -> None:
        """Ask something that touches a table."""
        await self.execute(("select 1 from sessions limit 1", ()))

    def faults(self) -> contextlib.AbstractContextManager[None]:
        """The driver's errors as ServiceErrors and DataErrors."""
        return typed_postgres_errors()

    async def close(self) -> None:
        """Close every connection."""
        if not self.in_use.end():
            return
        await self._pool.close()
        await self._locks.close()
        self.texts.close()


@contextlib.contextmanager
def typed_postgres_errors(what: str = "The session database") -> Iterator[None]:
    """An unreachable server is a ServiceError, anything else that it says a DataError."""
    import psycopg

    try:
        yield
    except AnamnesisError:
        raise
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise ServiceError(f"{what} does not serve: {_said(error)}.", "Check ANAMNESIS_DATABASE.") from error
    except psycopg.DatabaseError as error:
        raise DataError(
            f"{what} cannot be used: {_said(error)}.", "Check that its tables are Anamnesis's own."
        ) from error


def _said(error: Exception) -> str:
    """The first line of what the driver says; a connection string, which may hold a password, is not repeated."""
    line = (str(error).splitlines() or [""])[0].strip().rstrip(".")
    return type(error).__name__ if "://" in line or "password=" in line else line


@contextlib.asynccontextmanager
async def _set_up(locks: AdvisoryLocks) -> AsyncIterator[None]:
    """Only one worker makes tables; polled, because an index that is built concurrently waits for whoever waits."""
    while (release := await locks.try_lock(SETUP)) is None:  # noqa: ASYNC110  another process ends it
        await asyncio.sleep(POLL)
    try:
        yield
    finally:
        await release()


# The content store on PostgreSQL: the same contract as `tools.store.ContentStore`.

TEXTS = 0x74657874  # ours: number of the lock that keeps a purge from a text that is being put ("text" in ASCII)


SCHEMA = """
create table if not exists texts (key text primary key, body bytea not null);
create table if not exists text_owners (session text, key text, primary key (session, key));
create index if not exists text_owners_by_key on text_owners (key);
"""
GONE = """
with mine as (delete from text_owners where session = %(session)s returning key)
delete from texts where key in (select key from mine)
    and not exists (select 1 from text_owners o where o.key = texts.key and o.session <> %(session)s)
"""


_store_errors = partial(typed_postgres_errors, "The content store's database")


class PostgresStore:
    """Texts by content, owned by sessions.

    Args:
        url: the connection string.
        connections: most connections of its pool.

    Every method raises ServiceError when the server cannot be reached, DataError when it refuses.
    """

    def __init__(self, url: str, connections: int) -> None:
        from psycopg_pool import ConnectionPool

        self._lock = threading.Lock()
        self._recent = RecentTexts()
        self._pool: Any = ConnectionPool(url, min_size=1, max_size=connections, open=False, timeout=PATIENCE)
        with _store_errors():
            self._pool.open(wait=True, timeout=PATIENCE)
            with self._pool.connection() as connection:
                connection.execute(SCHEMA)

    def put(self, session: str, text: str) -> str:
        """Keep a text for a session and return its key."""
        return self.put_all(session, [text])[0]

    def put_all(self, session: str, texts: Iterable[str]) -> list[str]:
        """Keep several texts in one transaction and return their keys, in order."""
        bodies = list(texts)
        keys = [content_key(body) for body in bodies]
        rows = sorted(dict(zip(keys, bodies, strict=True)).items())  # in one order everywhere: no two wait crosswise
        if not rows:
            return []
        with _store_errors(), self._pool.connection() as connection, connection.pipeline():
            connection.execute("select pg_advisory_xact_lock_shared(%s)", (TEXTS,))
            cursor = connection.cursor()
            encoded = [(key, body.encode()) for key, body in rows]
            cursor.executemany("insert into texts values (%s, %s) on conflict do nothing", encoded)
            owned = [(session, key) for key, _ in rows]
            cursor.executemany("insert into text_owners values (%s, %s) on conflict do nothing", owned)
        for key, body in rows:  # only what is committed
            self._remember(key, body)
        return keys

    def get(self, key: str) -> str:
        """The text with this key; raises DataError when it is gone."""
        return self.get_all([key])[0]

    def get_all(self, keys: Iterable[str]) -> list[str]:
        """The texts with these keys, in order; raises DataError when one is gone."""
        wanted = list(keys)
        with self._lock:
            found = {key: text for key in wanted if (text := self._recent.get(key)) is not None}
        missing = [key for key in dict.fromkeys(wanted) if key not in found]
        if missing:
            with _store_errors(), self._pool.connection() as connection:
                rows = connection.execute("select key, body from texts where key = any(%s)", (missing,)).fetchall()
            found |= {key: bytes(body).decode() for key, body in rows}
        for key in wanted:
            if key not in found:
                raise DataError(f"The text {key[:12]} is gone from the content store.", "Ask the question again.")
            self._remember(key, found[key])
        return [found[key] for key in wanted]

    def purge(self, session: str) -> int:
        """Forget what only this session owned; returns how many texts went."""
        with _store_errors(), self._pool.connection() as connection:
            connection.execute("select pg_advisory_xact_lock(%s)", (TEXTS,))
            gone = int(connection.execute(GONE, {"session": session}).rowcount)
        with self._lock:
            self._recent.clear()
        return gone

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()

    def _remember(self, key: str, body: str) -> None:
        with self._lock:
            self._recent.remember(key, body)
