"""The content store on PostgreSQL, for several workers: the same contract as `tools.store.ContentStore`."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from prompts.errors import DataError, ServiceError
from tools.evidence import content_key
from tools.store import RecentTexts

TEXTS = 0x74657874  # ours: number of the lock that keeps a purge from a text that is being put ("text" in ASCII)
PATIENCE = 10.0  # ours: seconds to wait for a connection

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
        with _typed_errors():
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
        with _typed_errors(), self._pool.connection() as connection, connection.pipeline():
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
            with _typed_errors(), self._pool.connection() as connection:
                rows = connection.execute("select key, body from texts where key = any(%s)", (missing,)).fetchall()
            found |= {key: bytes(body).decode() for key, body in rows}
        for key in wanted:
            if key not in found:
                raise DataError(f"The text {key[:12]} is gone from the content store.", "Ask the question again.")
            self._remember(key, found[key])
        return [found[key] for key in wanted]

    def purge(self, session: str) -> int:
        """Forget what only this session owned; returns how many texts went."""
        with _typed_errors(), self._pool.connection() as connection:
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


@contextlib.contextmanager
def _typed_errors() -> Iterator[None]:
    import psycopg

    try:
        yield
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise ServiceError("The content store's database does not serve.", "Check ANAMNESIS_DATABASE.") from error
    except psycopg.DatabaseError as error:
        raise DataError(
            "The content store's database refuses.", "Check that its tables are Anamnesis's own."
        ) from error
