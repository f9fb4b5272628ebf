"""Answers of PubMed kept on disk, with their age: public records and searches by terms, nothing of the key or e-mail.

One SQLite file, mode 0600. What cannot be read is dropped and asked for again; while the file cannot be used at all,
everything is asked for again.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from tools.files import private_file

FORMAT = 1  # raised when what is kept changes its shape; other formats are not read
FILE = "answers.sqlite"
DAY = 86_400.0  # seconds
ROWS = 500  # ours: look-ups a statement, below SQLite's limit on variables
ROOM = 0.9  # ours: what is left of the largest size after making room, so that not every write does
CHECKED = 32  # ours: writes between two looks at the size
BUSY = 5.0  # seconds to wait for another process; ours: asking again costs less
BROKEN = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_FORMAT}


class Answers(Protocol):
    """What keeps answers; one contract test holds all. None of it fails: what is not kept is asked for again."""

    def get(self, kind: str, names: Sequence[str], days: float) -> dict[str, bytes]:
        """The values of one kind that are known and at most ``days`` old, by name; damaged ones are dropped."""

    def put(self, kind: str, values: Mapping[str, bytes]) -> None:
        """Keep values, all of them or none."""

    def drop(self, kind: str, name: str) -> None:
        """Forget a value that turned out to be of no use."""

    def close(self) -> None:
        """Close file or connection; the next use opens it again."""


class AnswerCache:
    """Values by key, each with the time at which it was kept. Safe to use from threads and processes.

    Args:
        folder: where the file lies; None keeps everything in memory.
        largest: bytes that the kept values may take; the longest unused go first.
        clock: seconds since the epoch.
    """

    def __init__(self, folder: Path | None, largest: int, clock: Callable[[], float] = time.time) -> None:
        self._file = None if folder is None else folder / FILE
        self._largest, self._clock = largest, clock
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._writes = 0

    def get(self, kind: str, names: Sequence[str], days: float) -> dict[str, bytes]:
        """The values of one kind that are known and at most ``days`` old, by name; damaged ones are dropped."""
        keys = {key_of(kind, name): name for name in names}
        found: dict[str, bytes] = {}
        damaged: list[bytes] = []
        for key, value in self._rows(list(keys), self._clock() - days * DAY):
            try:
                found[keys[key]] = zlib.decompress(value)  # its checksum tells a damaged one
            except (zlib.error, TypeError):
                damaged.append(key)
        if damaged:
            self._run("delete from answers where key = ?", [(k,) for k in damaged])
        return found

    def put(self, kind: str, values: Mapping[str, bytes]) -> None:
        """Keep values; all of them or, when the file fails, none."""
        now = self._clock()
        rows = [(key_of(kind, name), now, now, zlib.compress(value)) for name, value in values.items()]
        if not rows:
            return
        self._run("insert or replace into answers values (?, ?, ?, ?)", rows)
        self._writes += 1
        if self._writes % CHECKED == 1:
            self._make_room()

    def drop(self, kind: str, name: str) -> None:
        """Forget a value that turned out to be of no use."""
        self._run("delete from answers where key = ?", [(key_of(kind, name),)])

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def _rows(self, keys: Sequence[bytes], since: float) -> list[tuple[bytes, bytes]]:
        rows: list[tuple[bytes, bytes]] = []
        now = self._clock()
        for at in range(0, len(keys), ROWS):
            some = keys[at : at + ROWS]
            marks = ",".join("?" * len(some))
            query = f"select key, value from answers where key in ({marks}) and kept >= ? and kept <= ?"
            rows += self._read(query, (*some, since, now + DAY))  # a clock that was set back must not keep for ever
        if rows:
            self._run("update answers set used = ? where key = ?", [(now, key) for key, _ in rows])
        return rows

    def _read(self, query: str, values: Sequence[object]) -> list[tuple[bytes, bytes]]:
        with self._lock:
            try:
                return self._open().execute(query, values).fetchall()
            except (sqlite3.Error, OSError) as error:
                self._recover(error)
                return []

    def _run(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        with self._lock:
            try:
                db = self._open()
                with db:
                    db.executemany(statement, rows)
            except (sqlite3.Error, OSError) as error:
                self._recover(error)

    def _make_room(self) -> None:
        query = "select key, length(value) from answers order by used desc"
        total, cut = 0, []
        for key, size in self._read(query, ()):
            total += int(size)
            cut.append((total, key))
        if total > self._largest:
            self._run("delete from answers where key = ?", [(k,) for t, k in cut if t > self._largest * ROOM])

    def _open(self) -> sqlite3.Connection:
        if self._db is None:
            if self._file is not None:
                private_file(self._file)
            self._db = sqlite3.connect(self._file or ":memory:", check_same_thread=False, timeout=BUSY)
            version = self._db.execute("pragma user_version").fetchone()[0]
            if version not in (0, FORMAT):
                self._db.execute("drop table if exists answers")
            if self._file is not None:
                self._db.execute("pragma auto_vacuum = full")
                self._db.execute("pragma journal_mode = wal")
            self._db.execute(
                "create table if not exists answers (key blob primary key, kept real, used real, value blob)"
            )
            self._db.execute(f"pragma user_version = {FORMAT}")
        return self._db

    def _recover(self, error: Exception) -> None:
        """Drop a damaged file, so that the next use makes a new one; what passes by itself is left alone."""
        if isinstance(error, sqlite3.ProgrammingError):
            raise error
        if self._db is not None:
            self._db.close()
            self._db = None
        if self._file is not None and getattr(error, "sqlite_errorcode", 0) & 0xFF in BROKEN:
            for part in ("", "-wal", "-shm"):
                with contextlib.suppress(OSError):  # it stays unused then, and nothing is kept
                    Path(f"{self._file}{part}").unlink()


def key_of(kind: str, name: str) -> bytes:
    """The key of a kept value."""
    return hashlib.sha256(f"{kind}\n{name}".encode()).digest()
