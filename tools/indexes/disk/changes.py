"""Rows that were added, replaced or deleted since an index was built: few, in one SQLite file beside it."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.encoders import Vectors
from tools.indexes.contract import Entry
from tools.indexes.store import Store
from tools.text.tokens import tokens

Places = NDArray[np.int64]


class Fresh(NamedTuple):
    """One added row with its words counted."""

    entry: Entry
    vector: Vectors
    words: Counter[str]


class Changes:
    """The changes at one moment; never changed itself.

    Attributes:
        version: of the file. fresh: rows by the number of their addition. gone: stored rows that no longer count.
        ids: of the fresh rows, in order. matrix: (fresh, dimension). lengths: (fresh,) words of each.
    """

    def __init__(self, version: int, fresh: dict[int, Fresh], gone: Iterable[int], dimension: int) -> None:
        self.version, self.fresh = version, fresh
        self.gone: Places = np.array(sorted(gone), dtype=np.int64)
        rows = list(fresh.values())
        self.ids = tuple(row.entry.id for row in rows)
        empty = np.empty((0, dimension), dtype=np.float32)
        self.matrix: Vectors = np.stack([row.vector for row in rows]) if rows else empty
        self.lengths: Places = np.array([row.words.total() for row in rows], dtype=np.int64)
        self._entries = {row.entry.id: row.entry for row in rows}
        self._holding: dict[str, list[tuple[int, int]]] = {}
        for place, row in enumerate(rows):
            for word, count in row.words.items():
                self._holding.setdefault(word, []).append((place, count))

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.fresh) or bool(len(self.gone))

    def took(self, row: int) -> bool:
        """Whether a stored row no longer counts."""
        at = int(np.searchsorted(self.gone, row))
        return at < len(self.gone) and int(self.gone[at]) == row

    def get(self, id: str) -> Entry | None:
        """The fresh row with this id."""
        return self._entries.get(id)

    def entry(self, place: int) -> Entry:
        """The fresh row at a place of ``ids``."""
        return self._entries[self.ids[place]]

    def holding(self, word: str) -> tuple[Places, Places]:
        """Places of the fresh rows that hold a word, and how often."""
        pairs = np.array(self._holding.get(word, ()), dtype=np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]


class ChangeFile:
    """Where changes are kept: every call is a transaction of its own, seen by every process that has the index open.

    Args:
        file: the database; it is made by the first change.
    """

    def __init__(self, file: Path, dimension: int) -> None:
        self._file, self._dimension = file, dimension
        self._store: Store | None = None
        self._lock = threading.Lock()

    def current(self, before: Changes | None) -> Changes:
        """The changes as they are now; what ``before`` has read already is not read again."""
        if self._store is None and not self._file.exists():
            return before or Changes(0, {}, (), self._dimension)
        store = self._opened()
        if before is not None and store.version() == before.version:
            return before
        with store.read() as db:
            version = store.version()
            numbers = [number for (number,) in db.execute("select number from fresh order by number")]
            known = before.fresh if before is not None else {}
            new = [number for number in numbers if number not in known]
            query = "select * from fresh where number in (select value from json_each(?))"
            read = {row[0]: _fresh(row) for row in db.execute(query, (json.dumps(new),))}
            gone = [row for (row,) in db.execute("select row from gone")]
        return Changes(version, {n: known[n] if n in known else read[n] for n in numbers}, gone, self._dimension)

    def add(self, entries: Sequence[Entry], vectors: Vectors, replaced: Iterable[int]) -> None:
        """Keep rows, in the place of those of the same id; ``replaced`` are stored rows."""
        with self._opened().write() as db:
            db.executemany("delete from fresh where id = ?", [(entry.id,) for entry in entries])
            db.executemany("insert or ignore into gone values (?)", [(row,) for row in replaced])
            fields = [tuple(getattr(entry, name) for name in Entry.model_fields) for entry in entries]
            db.executemany(
                "insert into fresh (id, text, collection, kind, date, language, vector) values (?, ?, ?, ?, ?, ?, ?)",
                [(*row, vector.tobytes()) for row, vector in zip(fields, vectors, strict=True)],
            )

    def delete(self, ids: Sequence[str], stored: Iterable[int]) -> int:
        """Take out fresh rows by id, and stored rows by number; says how many there were."""
        with self._opened().write() as db:
            before = db.total_changes
            db.executemany("delete from fresh where id = ?", [(name,) for name in ids])
            db.executemany("insert or ignore into gone values (?)", [(row,) for row in stored])
            return db.total_changes - before

    def copy_to(self, file: Path) -> None:
        """Write a copy of the last committed state to a new file, where there is any."""
        if self._file.exists():
            self._opened().copy_to(file)

    def _opened(self) -> Store:
        with self._lock:
            if self._store is None:
                store = Store(self._file)
                with store.write() as db:
                    db.execute(
                        "create table if not exists fresh (number integer primary key autoincrement, id text not null "
                        "unique, text text, collection text, kind text, date text, language text, vector blob not null)"
                    )
                    db.execute("create table if not exists gone (row integer primary key)")
                self._store = store
            return self._store


def _fresh(row: tuple[int, str, str, str, str, str, str, bytes]) -> Fresh:
    entry = Entry(**dict(zip(Entry.model_fields, row[1:-1], strict=True)))
    return Fresh(entry, np.frombuffer(row[-1], dtype=np.float32), Counter(tokens(entry.text)))
