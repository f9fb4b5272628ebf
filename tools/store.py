"""The content-addressed store: long texts live here under their sha256, so that the state holds only keys."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from prompts.errors import DataError
from tools.evidence import content_key
from tools.recent_texts import RecentTexts

DAMAGED = ("is damaged", "Move it away, or restore a copy.")
FAULTS = {  # SQLite's primary result codes that say nothing about the file
    sqlite3.SQLITE_BUSY: ("is held by another process", "Wait for it to finish, or stop it."),
    sqlite3.SQLITE_FULL: ("cannot grow: the disk is full", "Free some space and try again."),
    sqlite3.SQLITE_READONLY: ("cannot be written", "Give its file and folder back to the user who runs this."),
}

SCHEMA = """
create table if not exists texts (key text primary key, body text not null) without rowid;
create table if not exists owners (session text, key text, primary key (session, key)) without rowid;
create index if not exists owners_by_key on owners (key);
"""
GONE = """
delete from texts where key in (select key from owners where session = ?)
    and not exists (select 1 from owners o where o.key = texts.key and o.session <> ?)
"""


class TextStore(Protocol):
    """Texts by content, owned by sessions. A text lives as long as one session owns it. Called synchronously."""

    def put(self, session: str, text: str) -> str:
        """Keep a text for a session and return its key, the sha256."""

    def put_all(self, session: str, texts: Iterable[str]) -> list[str]:
        """Keep several texts in one transaction and return their keys, in order."""

    def get(self, key: str) -> str:
        """The text with this key; raises DataError when it is gone."""

    def get_all(self, keys: Iterable[str]) -> list[str]:
        """The texts with these keys, in order; raises DataError when one is gone."""

    def purge(self, session: str) -> int:
        """Forget what only this session owned; returns how many texts went."""

    def close(self) -> None:
        """Close it."""


class ContentStore:
    """Texts by content, owned by sessions. A text lives as long as one session owns it.

    Args:
        path: the SQLite file; created with mode 0600 when it is missing.

    Every method raises DataError when the file is damaged, held by another process, or the disk is full.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600, exist_ok=True)
        self._name = path.name
        self._lock = threading.Lock()
        self._recent = RecentTexts()
        with self._statements():
            self._db = sqlite3.connect(path, check_same_thread=False, timeout=60)
            self._db.execute("pragma journal_mode=wal")
            self._db.execute("pragma synchronous=normal")
            self._db.execute("pragma secure_delete=on")
            self._db.executescript(SCHEMA)

    def put(self, session: str, text: str) -> str:
        """Keep a text for a session and return its key."""
        return self.put_all(session, [text])[0]

    def put_all(self, session: str, texts: Iterable[str]) -> list[str]:
        """Keep several texts in one transaction and return their keys, in order."""
        bodies = list(texts)
        keys = [content_key(body) for body in bodies]
        rows = list(zip(keys, bodies, strict=True))
        with self._statements():
            with self._db:
                self._db.executemany("insert or ignore into texts values (?, ?)", rows)
                self._db.executemany("insert or ignore into owners values (?, ?)", [(session, key) for key in keys])
            for key, body in rows:  # only what is committed
                self._recent.remember(key, body)
        return keys

    def get(self, key: str) -> str:
        """The text with this key; raises DataError when it is gone."""
        return self.get_all([key])[0]

    def get_all(self, keys: Iterable[str]) -> list[str]:
        """The texts with these keys, in order; raises DataError when one is gone."""
        with self._statements():
            return [self._read(key) for key in keys]

    def purge(self, session: str) -> int:
        """Forget what only this session owned; returns how many texts went."""
        with self._statements(), self._db:
            gone = self._db.execute(GONE, (session, session)).rowcount
            self._db.execute("delete from owners where session = ?", (session,))
            self._recent.clear()
        with self._statements():  # the write-ahead log still holds what was deleted: fold it in and cut it off
            self._db.execute("pragma wal_checkpoint(truncate)")
        return gone

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextlib.contextmanager
    def _statements(self) -> Iterator[None]:
        """Hold the lock around statements; SQLite's errors become DataErrors that say what to do."""
        with self._lock:
            try:
                yield
            except sqlite3.ProgrammingError:  # a mistake of the caller, such as a closed store
                raise
            except sqlite3.DatabaseError as error:
                fault, advice = FAULTS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, DAMAGED)
                raise DataError(f"The content store {self._name} {fault}.", advice) from error

    def _read(self, key: str) -> str:
        body = self._recent.get(key)
        if body is None:
            row = self._db.execute("select body from texts where key = ?", (key,)).fetchone()
            if row is None:
                raise DataError(f"The text {key[:12]} is gone from the content store.", "Ask the question again.")
            body = str(row[0])
            self._recent.remember(key, body)
        return body
