"""The content-addressed store: long texts live here under their sha256, so that the state holds only keys."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from prompts.errors import DataError
from tools.databases import forget, told
from tools.evidence import content_key
from tools.files import private_file, told_when_full

SCHEMA = """
create table if not exists texts (key text primary key, body text not null) without rowid;
create table if not exists owners (session text, key text, primary key (session, key)) without rowid;
create index if not exists owners_by_key on owners (key);
"""
GONE = """
from texts where key in (select key from owners where session = ?)
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
        with told_when_full(f"The content store {path.name}"):
            self._path = private_file(path)
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
        with self._statements():
            with self._db:
                bodies = [str(body) for (body,) in self._db.execute(f"select body {GONE}", (session, session))]
                self._db.execute(f"delete {GONE}", (session, session))
                self._db.execute("delete from owners where session = ?", (session,))
                self._recent.clear()
            forget(self._db, self._path, [session, *bodies])
        return len(bodies)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextlib.contextmanager
    def _statements(self) -> Iterator[None]:
        """Hold the lock around statements; SQLite's errors become DataErrors that say what to do."""
        with self._lock, told(self._path, f"The content store {self._path.name}"):
            yield

    def _read(self, key: str) -> str:
        body = self._recent.get(key)
        if body is None:
            row = self._db.execute("select body from texts where key = ?", (key,)).fetchone()
            if row is None:
                raise DataError(f"The text {key[:12]} is gone from the content store.", "Ask the question again.")
            body = str(row[0])
            self._recent.remember(key, body)
        return body


class ReplyStore(ContentStore):
    """Replies of language models by what they were asked, owned by the sessions whose words were asked with.

    A file that cannot be used costs asking again; what was deleted is gone from it, or `purge` raises.

    Args:
        path: the SQLite file; created with mode 0600 when it is missing.
        by_session: whether replies belong to sessions. Else all belong to none, and what is asked without one, for an
            evaluation, is kept too.
    """

    def __init__(self, path: Path, *, by_session: bool = True) -> None:
        super().__init__(path)
        self.by_session = by_session

    def find(self, session: str, key: str) -> str | None:
        """The reply to what has this key, which the session then owns too; None when it is not known."""
        with contextlib.suppress(DataError), self._statements():
            row = self._db.execute("select body from texts where key = ?", (key,)).fetchone()
            if row is not None:
                self._own(session, key)
                return str(row[0])
        return None

    def keep(self, session: str, key: str, reply: str) -> None:
        """Keep a reply. Nothing is kept that belongs to a session which is not told."""
        if self.by_session and not session:
            return
        with contextlib.suppress(DataError), self._statements():
            with self._db:
                self._db.execute("insert or replace into texts values (?, ?)", (key, reply))
            self._own(session, key)

    def _own(self, session: str, key: str) -> None:
        if self.by_session:
            with self._db:
                self._db.execute("insert or ignore into owners values (?, ?)", (session, key))


# The texts of a content store that were used last, kept in memory up to a number of characters.

CHARACTERS = 4_000_000  # ours: the texts of about fifty turns (60,000 to 90,000 characters each); 4 to 16 MB


class RecentTexts:
    """Texts by key, the one used longest ago forgotten first. Its user holds a lock around it.

    Args:
        most: characters of all texts together; the newest one stays, however long it is.
    """

    def __init__(self, most: int = CHARACTERS) -> None:
        self._most = most
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._characters = 0

    def get(self, key: str) -> str | None:
        """The text, None when it is not here."""
        if key in self._texts:
            self._texts.move_to_end(key)
        return self._texts.get(key)

    def remember(self, key: str, text: str) -> None:
        """Keep a text as the newest one."""
        self._characters += len(text) - len(self._texts.pop(key, ""))
        self._texts[key] = text
        while self._characters > self._most and len(self._texts) > 1:
            self._characters -= len(self._texts.popitem(last=False)[1])

    def clear(self) -> None:
        """Forget all."""
        self._texts.clear()
        self._characters = 0
