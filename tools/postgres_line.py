"""One connection to PostgreSQL for small statements of all threads, opened when it is first needed, and again."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from prompts.errors import InputError, ServiceError

CONNECT = 2  # ours: seconds to connect; libpq takes no less
ANSWER = 3_000  # ours: milliseconds that a statement may take, of those that take one
AGAIN = 1.0  # ours: seconds after a failure in which it is not tried again
TABLES = 0x6C696E65  # ours: number of the lock under which tables are made ("line" in ASCII)

Parameters = Mapping[str, object] | Sequence[object]


class PostgresLine:
    """Statements that commit by themselves, one at a time. What they write may be lost in a crash of the server.

    Args:
        url: the connection string.
        schema: makes the tables where they are missing.
        name: under which the server lists the connection.
    """

    def __init__(self, url: str, schema: str, name: str) -> None:
        self._url, self._schema, self._name = url, schema, name
        self._lock = threading.Lock()
        self._connection: Any = None
        self._failed = -AGAIN

    def ask(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """The rows of a statement; raises ServiceError where the server does not answer, or refuses."""
        return self.ask_all((sql, parameters))

    def ask_all(self, *statements: tuple[str, Parameters]) -> list[tuple[Any, ...]]:
        """Statements in one transaction; the rows of the last."""
        with self._lock:
            psycopg = _driver()
            try:
                connection = self._open(psycopg)
                with connection.transaction():
                    for sql, parameters in statements:
                        cursor = connection.execute(sql, parameters)
                return list(cursor.fetchall()) if cursor.description else []
            except psycopg.Error as error:
                self._drop()
                raise ServiceError("The shared database does not serve.", "Check ANAMNESIS_DATABASE.") from error

    def close(self) -> None:
        """Close the connection; the next use opens another."""
        with self._lock:
            self._drop()
            self._failed = -AGAIN

    def _open(self, psycopg: Any) -> Any:
        if self._connection is None:
            if time.monotonic() < self._failed + AGAIN:
                raise ServiceError("The shared database did not serve a moment ago.", "Check ANAMNESIS_DATABASE.")
            opened = psycopg.connect(
                self._url,
                autocommit=True,
                connect_timeout=CONNECT,
                tcp_user_timeout=ANSWER,
                application_name=self._name,
            )
            self._connection = opened  # before its first statements: a failure of these closes it
            opened.execute(f"set statement_timeout = {ANSWER}")
            opened.execute("set synchronous_commit = off")
            with opened.transaction():
                opened.execute("select pg_advisory_xact_lock(%s)", (TABLES,))  # two that make tables would collide
                opened.execute(self._schema)
        return self._connection

    def _drop(self) -> None:
        self._failed = time.monotonic()
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _driver() -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise InputError(
            f"PostgreSQL needs a package that is not installed: {error.name}.", "Run: pip install 'anamnesis[postgres]'"
        ) from error
    return psycopg
