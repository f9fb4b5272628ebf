"""One SQLite file that tables share, with transactions that processes and threads may meet in."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from prompts.errors import DataError
from tools.databases import told
from tools.files import private_file, told_when_full

Seen = TypeVar("Seen")
ATTEMPTS = 10  # ours: a reader meets a compaction that often in a row only if something is wrong
WAIT = 60.0  # ours: seconds that a writer waits for another one's transaction, which is a batch and takes less


class StaleReadError(Exception):
    """What a read transaction points to is gone: another process has moved it and committed since."""


class Store:
    """A database in write-ahead mode: readers see the last commit, a kill leaves it, one writer at a time.

    Several tables may take part in one transaction: `write` inside `write` joins the outer one. Safe to use from
    threads.

    Args:
        file: the database, mode 0600; it is made when it is not there, its folder with mode 0700.
        finished: a file that `finish` left is written seldom, and read on any storage, with no log beside it.

    Every method raises DataError when the database is damaged, full or held by another writer for a minute.
    """

    def __init__(self, file: Path, *, finished: bool = False) -> None:
        self.file = file
        self._lock = threading.RLock()
        self._writing = self._reading = False
        self._owner = 0  # the thread that is inside a block
        self._before: dict[str, Callable[[], None]] = {}
        self._after: dict[str, Callable[[], None]] = {}
        with self._typed():
            fixed = file.exists() and not os.access(file.parent, os.W_OK)  # no log can be kept there, or waits there
            address = f"{file.absolute().as_uri()}{'?immutable=1' if fixed else ''}"
            if not fixed:
                private_file(file)
            self._db = sqlite3.connect(address, uri=True, check_same_thread=False, timeout=WAIT, isolation_level=None)
            if not fixed:
                self._db.execute(f"pragma journal_mode = {'delete' if finished else 'wal'}")
                self._db.execute("pragma synchronous = full")  # a commit that was told is not lost with the power
                self._db.execute("create table if not exists meta (key text primary key, value) without rowid")

    @property
    def writing(self) -> bool:
        """Whether a write transaction is open: what is read then may still be undone."""
        return self._writing

    @contextlib.contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A transaction that is committed whole at the end of the block, or undone when the block raises."""
        with self._lock, self._typed():
            if self._writing:
                yield self._db
                return
            self._db.execute("begin immediate")
            self._writing, self._owner = True, threading.get_ident()
            try:
                yield self._db
                self.put("version", self.version() + 1)
                for prepare in self._before.values():
                    prepare()
                self._db.execute("commit")
                finished = list(self._after.values())
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("rollback")
                raise
            finally:
                self._writing, self._owner = False, 0
                self._before.clear()
                self._after.clear()
            for tidy in finished:
                tidy()

    @contextlib.contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A block that sees one state of the database from its first statement to its last."""
        with self._lock, self._typed():
            if self._writing or self._reading:
                yield self._db
                return
            self._db.execute("begin")
            self._reading, self._owner = True, threading.get_ident()
            try:
                yield self._db
            finally:
                self._reading, self._owner = False, 0
                if self._db.in_transaction:
                    self._db.execute("rollback")

    def snapshot(self, look: Callable[[], Seen]) -> Seen:
        """What ``look`` finds in one state of the database; it is called again when that state was too old."""

        def whole() -> Seen:
            with self.read():
                return look()

        return self.retried(whole)

    def retried(self, look: Callable[[], Seen]) -> Seen:
        """What ``look`` finds; it is called again when what it read was too old. Inside a block it is called once."""
        if self._owner == threading.get_ident():
            return look()
        for _ in range(ATTEMPTS):
            try:
                return look()
            except StaleReadError:
                continue
        raise DataError(f"A file that {self.file.name} names is missing.", "Restore a copy, or embed the texts again.")

    def before_commit(self, name: str, prepare: Callable[[], None]) -> None:
        """Call ``prepare`` once just before this write transaction commits."""
        self._before[name] = prepare

    def after_commit(self, name: str, tidy: Callable[[], None]) -> None:
        """Call ``tidy`` once just after this write transaction has been committed."""
        self._after[name] = tidy

    def version(self) -> int:
        """A number that is another after every commit of any process."""
        return int(self.value("version", 0))

    def value(self, key: str, default: int | str) -> int | str:
        """What `put` kept under a key."""
        inside = self._owner == threading.get_ident()  # then the block tells errors
        with contextlib.nullcontext() if inside else self._typed(), self._lock:
            row = self._db.execute("select value from meta where key = ?", (key,)).fetchone()
        return default if row is None else row[0]

    def number(self, key: str) -> int:
        """What `put` kept under a key, a number; 0 without."""
        return int(self.value(key, 0))

    def put(self, key: str, value: int | str) -> None:
        """Keep a value; inside a transaction it belongs to it."""
        with self._lock, self._typed():
            self._db.execute("insert or replace into meta values (?, ?)", (key, value))

    def finish(self) -> None:
        """Write the file anew without the room that deletions left, as one that is mostly read from now on."""
        with self._lock, self._typed():
            self._db.execute("pragma journal_mode = delete")
            self._db.execute("vacuum")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    @contextlib.contextmanager
    def _typed(self) -> Iterator[None]:
        advice = "Restore a copy, or move it away and build it again."
        what = f"{self.file.name} in {self.file.parent}"
        try:
            with told(self.file, what, advice), told_when_full(what):
                yield
        except OSError as error:
            raise DataError(
                f"{self.file.parent} cannot be used: {error.strerror}.", "Check who owns it and the room on the disk."
            ) from error
