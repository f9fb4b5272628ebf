"""Small tables that processes share: in a SQLite file of this machine, or in PostgreSQL for all workers of a site.

A statement is written once for both, in psycopg's style: ``%(name)s`` is a value, or the values of a list, or its rows
where its entries are tuples; a word in braces is the database's own (`WORDS`), or a table's name.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, Protocol

from prompts.errors import InputError, ServiceError
from tools.files import private_file

CONNECT = 2  # ours: seconds to connect; libpq takes no less
ANSWER = 3_000  # ours: milliseconds that a statement may take, of those that take one
AGAIN = 1.0  # ours: seconds after a failure in which it is not tried again
TABLES = 0x6C696E65  # ours: number of the lock under which tables are made ("line" in ASCII)
SIZES = 0x73697A6573  # ours: number of the lock of the worker that makes room ("sizes" in ASCII)
BROKEN = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_FORMAT}
VALUE = re.compile(r"%\((\w+)\)s")

Statement = tuple[str, Mapping[str, Any]]
Rows = list[tuple[Any, ...]]


class SharedTables(Protocol):
    """Where small tables lie. Safe to use from threads and processes."""

    def ask(self, *statements: Statement) -> Rows:
        """Statements in one transaction that excludes what would disturb it; the rows of the last.

        Raises ServiceError where the database does not serve. What was written may be lost in a power cut.
        """

    def close(self) -> None:
        """Close the connection; the next use opens another."""


class SqliteTables:
    """Tables in a file of mode 0600, opened for each look, which takes little: a file that was deleted is made again.

    One that is damaged fails once, and is made again.

    Args:
        file: where they lie; None keeps them in memory.
        schema: makes the tables where they are missing.
        clock: seconds since the epoch. wait: seconds to wait for another process.
        names: the tables' names by their words in braces.
    """

    WORDS: Mapping[str, str] = {
        "now": "wall()",
        "greatest": "max",
        "skip_locked": "",
        "wait_locked": "",
        "alone": "true",
    }

    def __init__(
        self,
        file: Path | None,
        schema: str,
        names: Mapping[str, str],
        clock: Callable[[], float] = time.time,
        wait: float = 1.0,
    ) -> None:
        self._file, self._clock, self._wait, self._words = file, clock, wait, {**self.WORDS, **names}
        self._schema = schema.format_map(self._words)
        self._lock = threading.Lock()
        self._memory = None if file is not None else self._connect(":memory:")

    def ask(self, *statements: Statement) -> Rows:
        """The rows of the last statement; raises ServiceError."""
        with self._lock:
            try:
                with self._open() as db, db:
                    db.execute("begin immediate")
                    for statement in statements:
                        sql, values = _written(*statement, self._words)
                        rows = db.execute(VALUE.sub(r":\1", sql), values).fetchall()
                    return rows
            except (sqlite3.Error, OSError) as error:
                self._fail(error)

    def close(self) -> None:
        """Nothing stays open but what is in memory."""

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        if self._memory is not None:
            yield self._memory
        elif self._file is not None:
            private_file(self._file)
            with contextlib.closing(self._connect(self._file)) as db:
                yield db

    def _connect(self, place: Path | str) -> sqlite3.Connection:
        db = sqlite3.connect(place, timeout=self._wait, isolation_level=None, check_same_thread=False)
        try:
            db.create_function("wall", 0, self._clock)
            db.executescript(f"pragma synchronous = off; pragma auto_vacuum = full; {self._schema}")
        except sqlite3.Error:
            db.close()
            raise
        return db

    def _fail(self, error: Exception) -> NoReturn:
        """Drop a damaged file, so that the next use makes a new one; what passes by itself is left alone."""
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in BROKEN and self._file is not None:
            for part in ("", "-wal", "-shm", "-journal"):
                with contextlib.suppress(OSError):  # else it stays, and fails again
                    Path(f"{self._file}{part}").unlink(missing_ok=True)
        raise ServiceError(f"{self._file} cannot be kept.", "Check that the data folder can be written.") from error


class PostgresTables:
    """Tables in PostgreSQL, over one connection for all threads, opened when it is first needed, and again.

    Args:
        url: the connection string.
        schema: makes the tables where they are missing.
        names: the tables' names by their words in braces.
        title: under which the server lists the connection.
    """

    WORDS: Mapping[str, str] = {
        "now": "extract(epoch from clock_timestamp())::float8",
        "greatest": "greatest",
        "skip_locked": "for update skip locked",
        "wait_locked": "for update",
        "alone": f"pg_try_advisory_xact_lock({SIZES})",
    }

    def __init__(self, url: str, schema: str, names: Mapping[str, str], title: str) -> None:
        self._url, self._title, self._words = url, title, {**self.WORDS, **names}
        self._schema = schema.format_map(self._words)
        self._lock = threading.Lock()
        self._connection: Any = None
        self._failed = -AGAIN

    def ask(self, *statements: Statement) -> Rows:
        """The rows of the last statement; raises ServiceError where the server does not answer, or refuses."""
        with self._lock:
            (psycopg,) = postgres_packages("psycopg")
            try:
                connection = self._open(psycopg)
                with connection.transaction():
                    for statement in statements:
                        cursor = connection.execute(*_written(*statement, self._words))
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
                application_name=self._title,
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


def _written(sql: str, values: Mapping[str, Any], words: Mapping[str, str]) -> Statement:
    """A statement in a database's own words, its lists written out."""
    single: dict[str, Any] = {}

    def mark(name: str, value: Any) -> str:
        if isinstance(value, list):
            return ", ".join(mark(f"{name}_{n}", entry) for n, entry in enumerate(value))
        if isinstance(value, tuple):
            return f"({mark(name, list(value))})"
        single[name] = value
        return f"%({name})s"

    marks = {name: mark(name, value) for name, value in values.items()}
    return VALUE.sub(lambda m: marks[m[1]], sql).format_map(words), single


def postgres_packages(*names: str) -> list[Any]:
    """Modules that PostgreSQL needs; raises InputError where one is not installed."""
    try:
        return [import_module(name) for name in names]
    except ImportError as error:
        raise InputError(
            f"PostgreSQL needs a package that is not installed: {error.name}.", "Run: pip install 'anamnesis[postgres]'"
        ) from error
