"""The parts of a collection while its index is built: each is taken whole or not at all, whatever kills the build."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from prompts.errors import DataError, InputError
from tools.encoders import Vectors
from tools.indexes.contract import Entry
from tools.indexes.disk.counting import create_vocabulary, numbered, postings_of
from tools.indexes.disk.layout import ROWS, VECTORS, ArrayFile
from tools.indexes.store import Store
from tools.indexes.vectors import checked

CHUNK = 5_000  # ours: rows handled at once: some tens of megabytes
POSTING_FILES = ("staged-words.i32", "staged-rows.i32", "staged-counts.u32")
LENGTHS = "staged-lengths.i32"


class Staging:
    """Rows, vectors and postings of the parts so far. SQLite's last commit says how far the files are good.

    Args:
        folder: of the build. identity: of what is built; another one cannot be continued.

    Raises DataError when the folder holds an unfinished build of something else.
    """

    def __init__(self, folder: Path, identity: str, dimension: int) -> None:
        self.folder, self._dimension = folder, dimension
        self.store = Store(folder / ROWS)
        try:
            self._begin(identity)
        except BaseException:  # an open connection would keep whoever goes on from finishing
            self.store.close()
            raise
        self.vectors = ArrayFile(folder / VECTORS, np.float32, dimension)
        self.words, self.rows, self.counts = (
            ArrayFile(folder / name, kind)
            for name, kind in zip(POSTING_FILES, (np.int32, np.int32, np.uint32), strict=True)
        )
        self.lengths = ArrayFile(folder / LENGTHS, np.int32)

    def _begin(self, identity: str) -> None:
        with self.store.write() as db:
            if self.store.value("identity", identity) != identity:
                raise DataError(
                    f"{self.folder.name} holds the unfinished build of something else.",
                    f"Finish it, or delete {self.folder}.",
                )
            self.store.put("identity", identity)
            db.execute(
                "create table if not exists rows (row integer primary key, id text not null, "
                "collection text, kind text, date text, language text)"
            )
            db.execute("create table if not exists texts (row integer primary key, text text)")
            db.execute("create table if not exists parts (name text primary key) without rowid")
            create_vocabulary(db)

    @property
    def done(self) -> frozenset[str]:
        """The parts taken, by name."""
        with self.store.read() as db:
            return frozenset(name for (name,) in db.execute("select name from parts"))

    def number(self, what: str) -> int:
        """How many ``rows``, ``postings`` or ``vocabulary`` there are so far."""
        return self.store.number(what)

    def put(self, name: str, entries: Sequence[Entry], vectors: Vectors) -> None:
        """Take a part.

        Args:
            vectors: (len(entries), dimension), L2-normalised; anything else raises InputError and takes nothing.
        """
        matrix = checked(vectors, self._dimension)
        if len(matrix) != len(entries):
            raise InputError(
                f"{name} has {len(entries)} entries and {len(matrix)} vectors.", "Give one vector an entry."
            )
        with self.store.write() as db:
            first = self.number("rows")
            self.vectors.write(first, matrix)
            for at in range(0, len(entries), CHUNK):
                self._put_chunk(first + at, entries[at : at + CHUNK])
            for file in (self.vectors, self.words, self.rows, self.counts, self.lengths):
                file.sync()
            self.store.put("rows", first + len(entries))
            db.execute("insert into parts values (?)", (name,))

    def _put_chunk(self, first: int, entries: Sequence[Entry]) -> None:
        numbers = range(first, first + len(entries))
        with self.store.write() as db:
            db.executemany(
                "insert into rows values (?, ?, ?, ?, ?, ?)",
                [(n, e.id, e.collection, e.kind, e.date, e.language) for n, e in zip(numbers, entries, strict=True)],
            )
            db.executemany("insert into texts values (?, ?)", zip(numbers, (e.text for e in entries), strict=True))
            found = postings_of([entry.text for entry in entries])
            number, size = numbered(db, found.words, self.number("vocabulary"))
        at = self.number("postings")
        self.words.write(at, number[found.word])
        self.rows.write(at, found.row + first)
        self.counts.write(at, found.count)
        self.lengths.write(first, found.lengths)
        self.store.put("postings", at + len(found.word))
        self.store.put("vocabulary", size)

    def clear(self) -> None:
        """Remove what only the building needed."""
        for name in (*POSTING_FILES, LENGTHS):
            (self.folder / name).unlink(missing_ok=True)
