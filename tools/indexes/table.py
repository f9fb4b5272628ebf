"""The index that grows: rows in one SQLite file, vectors in a memory-mapped file beside it.

Adding and deleting are transactions that cost in proportion to what is added or deleted, and memory stays flat. The
index in `tools.indexes.local` is quicker to search and is written whole.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from prompts.errors import InputError
from tools.encoders import Vectors
from tools.indexes.contract import Entry, Filter, Hit, Manifest
from tools.indexes.manifests import FORMAT, SIMILARITY, check_made_with
from tools.indexes.store import Store
from tools.indexes.table_rows import FETCHED, condition_of, create_tables, hits_of, insert_row
from tools.indexes.vectors import Mask, VectorFile, blocks, checked, checksums, nearest
from tools.text.tokens import tokens


# What can be wrong with an index on disk, in words.
def wrong_rows(db: sqlite3.Connection, name: str, table: str, vectors: Vectors, count: int) -> list[str]:
    """Rows that are not as many as were counted, and vectors that are not those that were added.

    Args:
        vectors: (slots, dimension), as the rows name them by slot. count: rows that there should be.
    """
    found = int(db.execute(f"select count(*) from {table}").fetchone()[0])
    wrong = [] if found == count else [f"{name}: {found} rows, not {count}"]
    damaged = 0
    for start, end in blocks(len(vectors)):
        expected = db.execute(f"select slot, crc from {table} where slot >= ? and slot < ?", (start, end)).fetchall()
        sums = checksums(vectors[start:end])
        damaged += sum(sums[slot - start] != crc for slot, crc in expected)
    return [*wrong, f"{name}: {damaged} vectors are damaged"] if damaged else wrong


def wrong_words(store: Store, name: str, table: str) -> list[str]:
    """Words that SQLite's own examination finds damaged."""
    with store.write() as db:
        try:
            db.execute(f"insert into {table} ({table}) values ('integrity-check')")
        except sqlite3.DatabaseError as error:
            return [f"{name}: the words are damaged ({error})"]
    return []


FILE = "rows.sqlite"
DEAD_SHARE = 0.5  # ours: vectors are compacted when more than half of them belong to no row


class TableIndex:
    """An `tools.indexes.contract.Index` on disk. BM25 is SQLite's own (FTS5: k1 1.2, b 0.75) over our tokens.

    Each row carries the checksum of its vector, which `problems` compares; the manifest has none for the whole.

    Args:
        store: the database; several indexes of different names may share it, and then its transactions.
        name: letters; tables and vector files begin with it.
        encoder: name of the encoder that makes the vectors. dimension: columns of the vectors.

    Raises:
        DataError: the index there is of another format, or was made with another encoder.
    """

    def __init__(self, store: Store, name: str, encoder: str, dimension: int) -> None:
        self.store, self.name = store, name
        self._rows, self._words = f"{name}_rows", f"{name}_words"
        self._every: tuple[int, Mask] | None = None
        if not store.value(f"{name}.format", 0):
            with store.write() as db:
                self._create(db, encoder, dimension)
        check_made_with(self.manifest, name, encoder, dimension)
        self._vectors = VectorFile(store.file.parent, name, dimension)

    @classmethod
    def at(cls, folder: Path, encoder: str, dimension: int) -> TableIndex:
        """The index of a folder of its own, made when it is not there."""
        return cls(Store(folder / FILE), "index", encoder, dimension)

    @property
    def manifest(self) -> Manifest:
        """What the index says about itself."""
        with self.store.read():
            return Manifest(
                format=self.store.number(f"{self.name}.format"),
                encoder=str(self.store.value(f"{self.name}.encoder", "")),
                dimension=self.store.number(f"{self.name}.dimension"),
                similarity=SIMILARITY,
                count=len(self),
                checksum="",
                built=str(self.store.value(f"{self.name}.built", "")),
            )

    def __len__(self) -> int:
        """Number of rows."""
        with self.store.read():
            return self.store.number(f"{self.name}.count")

    def get(self, id: str) -> Entry | None:
        """The row with this id."""
        with self.store.read() as db:
            found = db.execute(
                f"select id, text, collection, kind, date, language from {self._rows} where id = ?", (id,)
            ).fetchone()
        return None if found is None else Entry(**dict(zip(Entry.model_fields, found, strict=True)))

    def add(self, entries: Sequence[Entry], vectors: Vectors) -> None:
        """Add rows; an id already there is replaced, and of an id given twice the last one stays.

        Args:
            vectors: (len(entries), dimension), L2-normalised; anything else raises InputError and changes nothing.
        """
        matrix = checked(vectors, self.store.number(f"{self.name}.dimension"))
        if len(matrix) != len(entries):
            raise InputError(f"{len(entries)} entries came with {len(matrix)} vectors.", "Give one vector an entry.")
        last = sorted({entry.id: at for at, entry in enumerate(entries)}.values())
        if not last:
            return
        with self.store.write() as db:
            self._bury(db, [entries[at].id for at in last])
            slot = self.store.number(f"{self.name}.slots")
            chosen = matrix[last]
            self._vectors.write(self._generation(), slot, chosen)
            for n, (at, crc) in enumerate(zip(last, checksums(chosen), strict=True)):
                insert_row(db, self._rows, self._words, entries[at], slot + n, crc)
            self._settle(db, slots=slot + len(last), more=len(last))

    def delete(self, ids: Sequence[str]) -> int:
        """Delete rows by id and say how many there were."""
        with self.store.write() as db:
            count = self._bury(db, ids)
            if count:
                self._settle(db, slots=self.store.number(f"{self.name}.slots"), more=0)
        return count

    def search_text(self, query: str, k: int, where: Filter | None = None) -> list[Hit]:
        """The k best rows by words; rows that share no word with the query are not returned."""
        words = list(dict.fromkeys(tokens(query)))
        if not words or k < 1:
            return []
        condition, values = condition_of(where)
        with self.store.read() as db:
            found = db.execute(
                f"select r.id, -bm25({self._words}) as score from {self._words} join {self._rows} r "
                f"on r.row = {self._words}.rowid where {self._words} match ? and {condition} "
                "order by score desc, r.id limit ?",
                (" OR ".join(f'"{w}"' for w in words), *values, k),
            ).fetchall()
        return [Hit(id=key, rank=n, score=score) for n, (key, score) in enumerate(found, 1)]

    def search_vectors(self, vectors: Vectors, k: int, where: Filter | None = None) -> list[list[Hit]]:
        """For each row of ``vectors`` (n, dimension), the k nearest rows by cosine."""
        matrix = checked(vectors, self.store.number(f"{self.name}.dimension"))
        if k < 1:
            return [[] for _ in matrix]
        return self.store.snapshot(lambda: self._nearest(matrix, k, where))

    def save(self, folder: Path) -> None:
        """Write the index to an empty folder, at one instant. In its own folder it is saved after every change."""
        own = self.store.file.parent
        if folder.resolve() == own.resolve():
            return
        if folder.exists() and any(folder.iterdir()):
            raise InputError(f"The folder {folder} is not empty.", "Choose an empty one.")
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
        try:
            with self.store.write():  # nobody compacts meanwhile
                path = self._vectors.path(self._generation())
                if path.exists():
                    shutil.copy2(path, temporary)
                self.store.copy_to(temporary / FILE)
            temporary.replace(folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def reset(self, encoder: str, dimension: int) -> None:
        """Take out every row, and expect the vectors of this encoder from now on."""
        with self.store.write() as db:
            db.execute(f"delete from {self._rows}")
            db.execute(f"delete from {self._words}")
            generation = self._generation() + 1
            for key, value in (("generation", generation), ("slots", 0), ("count", 0)):
                self.store.put(f"{self.name}.{key}", value)
            self._sign(encoder, dimension)
            self._vectors = VectorFile(self.store.file.parent, self.name, dimension)
            self.store.after_commit(self.name, lambda: self._vectors.keep_only(generation))

    def problems(self) -> list[str]:
        """What is wrong with the index, in words (`tools.indexes.health`)."""
        return self.store.snapshot(self._wrong_rows) + wrong_words(self.store, self.name, self._words)

    def _wrong_rows(self) -> list[str]:
        with self.store.read() as db:
            return wrong_rows(db, self.name, self._rows, self._stored(), len(self))

    def _nearest(self, matrix: Vectors, k: int, where: Filter | None) -> list[list[Hit]]:
        with self.store.read() as db:
            rows = self._stored()
            admitted = self._admitted(db, where, len(rows))
            return [hits_of(db, self._rows, *nearest(rows, admitted, query, k), k) for query in matrix]

    def _create(self, db: sqlite3.Connection, encoder: str, dimension: int) -> None:
        if self.store.value(f"{self.name}.format", 0):  # another process made it meanwhile
            return
        create_tables(db, self._rows, self._words)
        self.store.put(f"{self.name}.format", FORMAT)
        self._sign(encoder, dimension)

    def _sign(self, encoder: str, dimension: int) -> None:
        built = datetime.now(UTC).isoformat(timespec="microseconds")
        for key, value in (("encoder", encoder), ("dimension", dimension), ("built", built)):
            self.store.put(f"{self.name}.{key}", value)

    def _bury(self, db: sqlite3.Connection, ids: Sequence[str]) -> int:
        look = f"select row from {self._rows} where id = ?"
        found = [row for key in dict.fromkeys(ids) for row in db.execute(look, (key,))]
        db.executemany(f"delete from {self._words} where rowid = ?", found)
        db.executemany(f"delete from {self._rows} where row = ?", found)
        self.store.put(f"{self.name}.count", self.store.number(f"{self.name}.count") - len(found))
        return len(found)

    def _settle(self, db: sqlite3.Connection, slots: int, more: int) -> None:
        """Keep the counts, have the vectors on disk before the commit, and compact when most of them are dead."""
        count = self.store.number(f"{self.name}.count") + more
        self.store.put(f"{self.name}.count", count)
        self.store.put(f"{self.name}.slots", slots)
        if slots - count > DEAD_SHARE * slots:
            self._compact(db, slots)
        self.store.before_commit(self.name, lambda: self._vectors.sync(self._generation()))

    def _compact(self, db: sqlite3.Connection, slots: int) -> None:
        """Write the living vectors to a new generation, in their order, and number their slots afresh."""
        rows, generation = self._stored(), self._generation() + 1
        at = 0
        for start, end in blocks(slots):
            alive = db.execute(
                f"select slot from {self._rows} where slot >= ? and slot < ? order by slot", (start, end)
            ).fetchall()
            if alive:
                self._vectors.write(generation, at, rows[[slot for (slot,) in alive]])
                renumbered = [(at + n, slot) for n, (slot,) in enumerate(alive)]
                db.executemany(f"update {self._rows} set slot = ? where slot = ?", renumbered)
                at += len(alive)
        self.store.put(f"{self.name}.generation", generation)
        self.store.put(f"{self.name}.slots", at)
        self.store.after_commit(self.name, lambda: self._vectors.keep_only(generation))

    def _generation(self) -> int:
        return self.store.number(f"{self.name}.generation")

    def _stored(self) -> Vectors:
        return self._vectors.rows(self._generation(), self.store.number(f"{self.name}.slots"))

    def _admitted(self, db: sqlite3.Connection, where: Filter | None, slots: int) -> Mask:
        """(slots,): which vectors belong to a row that passes; the answer for all rows is kept until a change."""
        version = self.store.version()
        every = where is None or where == Filter()
        if every and not self.store.writing and self._every is not None and self._every[0] == version:
            return self._every[1]
        condition, values = condition_of(where)
        admitted = np.zeros(slots, dtype=bool)
        cursor = db.execute(f"select slot from {self._rows} r where {condition}", values)
        while found := cursor.fetchmany(FETCHED):
            admitted[[slot for (slot,) in found]] = True
        if every and not self.store.writing:
            self._every = (version, admitted)
        return admitted
