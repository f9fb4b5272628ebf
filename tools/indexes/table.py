"""The embedded index: rows and words of a collection in SQLite, vectors in a memory-mapped file beside it.

Adding and deleting are transactions that cost in proportion to what is added or deleted. Words are BM25 of the rows as
they are now, computed from posting lists; vectors are all compared, or, once they were compressed, candidates of
`tools.indexes.large` and all that came since. A filter holds before the best are taken.
"""

from __future__ import annotations

import json
import math
import sqlite3
from array import array
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prompts.errors import DataError, InputError
from tools.encoders import Vectors
from tools.fusion import reciprocal_rank_fusion
from tools.indexes.contract import SIMILARITY, Entry, Filter, Hit, Manifest, check_made_with
from tools.indexes.large import LargeIndex
from tools.indexes.lexical import K1, B
from tools.indexes.postings import BLOCKS, Lists, first_due, insert_blocks, join_blocks, ranged, whole_blocks
from tools.indexes.store import ATTEMPTS, Store
from tools.indexes.vectors import Mask, Slots, VectorFile, best, blocks, checked, checksums, nearest
from tools.text.tokens import tokens

FILE = "index.sqlite"
FORMAT = 2  # raised with every change of the tables; what has 1 is taken over
COMPRESSED = "vectors"  # the folder of the compressed vectors, beside the database
DEAD_SHARE = 0.5  # ours: rows are numbered afresh, and vectors written anew, when more than half of them are gone
CHUNK = 5_000  # ours: rows whose words are counted at once: some tens of megabytes
FIELDS = ("collection", "kind", "date", "language")
ARRAYS = ("lengths", *FIELDS)  # of a segment, a number a row
TABLES = """
create table {name}_rows (row integer primary key, id text not null unique, crc integer not null);
create table {name}_texts (
    row integer primary key, text text, collection text, kind text, date text, language text
);
create table {name}_segments (
    segment integer primary key, base integer not null, size integer not null, lengths blob not null,
    collection blob not null, kind blob not null, date blob not null, language blob not null
);
create table {name}_values (code integer primary key, field text, value text, unique (field, value));
create table {name}_dead (row integer primary key)
"""
BYTE = 255  # the highest count that is kept in one byte
Numbers = NDArray[Any]
Held = tuple[Numbers, Numbers]  # the rows that hold a word, and how often


class Weighing(NamedTuple):
    """How words weigh: BM25's saturation, and whether a word that a query repeats counts each time."""

    k1: float = K1
    repeats: bool = True


PLAIN = Weighing()


class _State(NamedTuple):
    """What every search needs of an index at one moment, by row number, rows that are gone included.

    Attributes:
        generation: of the row numbers. lengths: words of each row. codes: the value of each field, as a number.
        alive: which rows count. whole: whether all do. norms: k1 * (1 - B + B * length / mean length), float64.
    """

    generation: int
    lengths: NDArray[np.int32]
    codes: dict[str, NDArray[np.int32]]
    alive: Mask
    whole: bool
    norms: NDArray[np.float64]


class TableIndex:
    """A `tools.indexes.contract.CollectionIndex` on disk. Equal scores are ordered by id. Safe to use from threads.

    Each row carries the checksum of its vector, which `problems` compares; the manifest has none for the whole.

    Args:
        store: the database; several indexes of different names may share it, and then its transactions.
        name: letters; tables and vector files begin with it.
        encoder: name of the encoder that makes the vectors. dimension: columns of the vectors.
        weighing: of words.

    Raises:
        DataError: the index there is of another format, or was made with another encoder.
    """

    def __init__(self, store: Store, name: str, encoder: str, dimension: int, weighing: Weighing = PLAIN) -> None:
        self.store, self.name, self._weighing = store, name, weighing
        self._rows, self._texts, self._words = f"{name}_rows", f"{name}_texts", f"{name}_postings"
        self._segments, self._values, self._dead = f"{name}_segments", f"{name}_values", f"{name}_dead"
        self._kept: tuple[int, _State] | None = None
        self._passed: tuple[Filter, int, Mask] | None = None
        if not store.value(f"{name}.format", 0):
            with store.write() as db:
                self._create(db, encoder, dimension)
        elif store.number(f"{name}.format") == 1:
            with store.write() as db:
                self._migrate(db)
        check_made_with(self.manifest, name, encoder, dimension, FORMAT)
        first = store.number(f"{name}.compressed")
        self._large = LargeIndex.open(store.file.parent / COMPRESSED, encoder, dimension) if first else None
        self._vectors = VectorFile(store.file.parent, name, dimension, first)

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
                dimension=self._number("dimension"),
                similarity=SIMILARITY,
                count=len(self),
                checksum="",
                built=str(self.store.value(f"{self.name}.built", "")),
            )

    def __len__(self) -> int:
        """Number of rows."""
        with self.store.read():
            return self._number("count")

    def get(self, id: str) -> Entry | None:
        """The row with this id."""
        with self.store.read() as db:
            found = db.execute(
                f"select id, text, collection, kind, date, language from {self._rows} r join {self._texts} t "
                "on t.row = r.row where id = ?",
                (id,),
            ).fetchone()
        return None if found is None else Entry(**dict(zip(Entry.model_fields, found, strict=True)))

    def add(self, entries: Sequence[Entry], vectors: Vectors) -> None:
        """Add rows; an id already there is replaced, and of an id given twice the last one stays.

        Args:
            vectors: (len(entries), dimension), L2-normalised; anything else raises InputError and changes nothing.
        """
        matrix = checked(vectors, self._number("dimension"))
        if len(matrix) != len(entries):
            raise InputError(f"{len(entries)} entries came with {len(matrix)} vectors.", "Give one vector an entry.")
        last = sorted({entry.id: at for at, entry in enumerate(entries)}.values())
        if not last:
            return
        chosen, matrix = [entries[at] for at in last], matrix[last]
        with self.store.write() as db:
            self._bury(db, [entry.id for entry in chosen])
            base = self._number("slots")
            self._vectors.write(self._number("generation"), base, matrix)
            sums = checksums(matrix)
            for at in range(0, len(chosen), CHUNK):
                self._insert(db, base + at, chosen[at : at + CHUNK], sums[at : at + CHUNK])
            self._settle(db, slots=base + len(chosen), more=len(chosen))

    def delete(self, ids: Sequence[str]) -> int:
        """Delete rows by id and say how many there were."""
        with self.store.write() as db:
            count = self._bury(db, ids)
            if count:
                self._settle(db, slots=self._number("slots"), more=0)
        return count

    def search_text(self, query: str, k: int, where: Filter | None = None) -> list[Hit]:
        """The k best rows by words; rows that share no word with the query are not returned."""
        words = tokens(query)
        words = words if self._weighing.repeats else list(dict.fromkeys(words))
        if not words or k < 1:
            return []

        def gather(db: sqlite3.Connection, state: _State) -> tuple[Mask, dict[str, Held]]:
            return self._passing(db, state, where), {word: self._holding(db, state, word) for word in set(words)}

        def score(state: _State, gathered: tuple[Mask, dict[str, Held]]) -> tuple[Slots, Vectors]:
            passing, holding = gathered
            scores = _bm25(state, words, holding)
            found = np.flatnonzero(scores)
            found = found[passing[found]] if where is not None else found
            return found, scores[found]

        return self._found(k, gather, score)

    def search_vectors(self, vectors: Vectors, k: int, where: Filter | None = None) -> list[list[Hit]]:
        """For each row of ``vectors`` (n, dimension), the k nearest rows by cosine."""
        matrix = checked(vectors, self._number("dimension"))
        if k < 1:
            return [[] for _ in matrix]
        return [self._nearest(query, k, where) for query in matrix]

    def search_hybrid(
        self, query: str, vector: Vectors, k: int, where: Filter | None = None, *, pool: int, rrf_k: int
    ) -> list[Hit]:
        """The k best by reciprocal rank fusion of the ``pool`` best by words and by vector; equal scores by id.

        Args:
            vector: (dimension,), L2-normalised. rrf_k: the constant of the fusion.
        """
        streams = {
            "words": [hit.id for hit in self.search_text(query, pool, where)],
            "vectors": [hit.id for hit in self.search_vectors(np.asarray(vector)[None], pool, where)[0]],
        }
        fused = sorted(reciprocal_rank_fusion(streams, rrf_k), key=lambda one: (-one.score, one.id))
        return [Hit(id=one.id, rank=n, score=one.score) for n, one in enumerate(fused[: max(k, 0)], 1)]

    def reset(self, encoder: str, dimension: int) -> None:
        """Take out every row, and expect the vectors of this encoder from now on."""
        with self.store.write() as db:
            for table in (self._rows, self._texts, self._words, self._segments, self._values, self._dead):
                db.execute(f"delete from {table}")
            self._put(slots=0, count=0)
            self._sign(encoder, dimension)
            self._vectors = VectorFile(self.store.file.parent, self.name, dimension)
            self._renumbered()

    def tidy(self) -> None:
        """Make all segments one, without the rows that are gone."""
        with self.store.write() as db:
            segments = self._segment_rows(db)
            if self._number("slots") > self._number("count"):
                self._compact(db)
            elif len(segments) > 1:
                self._join(db, segments)
            self._before_commit()

    def stored(self) -> Vectors:
        """The vectors in single precision, (slots, dimension), memory-mapped; of compressed ones nothing is there."""
        return self._vectors.rows(self._number("generation"), self._number("slots"))

    def compress(self) -> None:
        """Search the compressed vectors that lie in `COMPRESSED`, of every row, and remove the others."""
        with self.store.write():
            self._put(compressed=self._number("slots"))
            self.store.after_commit(self.name, lambda: self._vectors.keep_only(-1))

    def problems(self) -> list[str]:
        """What is wrong with the index, in words: rows uncounted, vectors or words that are not those added."""
        return self.store.snapshot(self._problems)

    def _problems(self) -> list[str]:
        with self.store.read() as db:
            found = int(db.execute(f"select count(*) from {self._rows}").fetchone()[0])
            wrong = [] if found == len(self) else [f"{self.name}: {found} rows, not {len(self)}"]
            rows, first, damaged = self.stored(), self._vectors.first, 0
            for start, end in blocks(len(rows)):
                sums = checksums(rows[start:end])
                between = (first + start, first + end)
                kept = db.execute(f"select row, crc from {self._rows} where row >= ? and row < ?", between).fetchall()
                damaged += sum(sums[row - first - start] != crc for row, crc in kept)
            if damaged:
                wrong.append(f"{self.name}: {damaged} vectors are damaged")
            try:
                slots = self._number("slots")
                held = [
                    row
                    for segment, _, _ in self._segment_rows(db)
                    for _, lists in whole_blocks(db, self._words, segment)
                    for packed in lists
                    for row in np.frombuffer(packed[0], dtype=np.uint32).tolist()[-1:]
                ]
                words = "a row that is not there" if max(held, default=0) >= max(slots, 1) else ""
            except (DataError, ValueError) as error:
                words = str(error)
            return [*wrong, f"{self.name}: the words are damaged ({words})"] if words else wrong

    # Searching.

    def _found(
        self,
        k: int,
        gather: Callable[[sqlite3.Connection, _State], Any],
        score: Callable[[_State, Any], tuple[Slots, Vectors]],
    ) -> list[Hit]:
        """The k best of what ``score`` finds in what ``gather`` read; the database is free while scores are made."""
        for _ in range(ATTEMPTS):
            with self.store.read() as db:
                state = self._state(db)
                gathered = gather(db, state)
            rows, scores = best(*score(state, gathered), k)
            with self.store.read() as db:
                query = f"select row, id from {self._rows} where row in (select value from json_each(?))"
                names = dict(db.execute(query, (json.dumps(rows.tolist()),)).fetchall())
                same = self._number("generation") == state.generation
            if same and len(names) == len(rows):  # else they were numbered afresh, or deleted, meanwhile
                pairs = sorted((-score, names[row]) for row, score in zip(rows.tolist(), scores.tolist(), strict=True))
                return [Hit(id=key, rank=n, score=-score) for n, (score, key) in enumerate(pairs[:k], 1)]
        raise DataError(f"{self.store.file.name} changes faster than it can be read.", "Try again.")

    def _nearest(self, query: Vectors, k: int, where: Filter | None) -> list[Hit]:
        first, large = self._vectors.first, self._large

        def gather(db: sqlite3.Connection, state: _State) -> tuple[Mask, Vectors]:
            return self._passing(db, state, where), self.stored()

        def score(_: _State, gathered: tuple[Mask, Vectors]) -> tuple[Slots, Vectors]:
            passing, vectors = gathered
            rows, scores = nearest(vectors, passing[first:], query, k)
            if large is None:
                return rows, scores
            others, cosines = large.nearest(query, k, passing[:first])
            return np.concatenate((others, rows + first)), np.concatenate((cosines, scores))

        return self.store.retried(lambda: self._found(k, gather, score))

    def _state(self, db: sqlite3.Connection) -> _State:
        """The state as it is; kept until a change, of which none is known before its commit."""
        version = self.store.version()
        if self._kept is not None and self._kept[0] == version and not self.store.writing:
            return self._kept[1]
        parts = db.execute(f"select {', '.join(ARRAYS)} from {self._segments} order by segment").fetchall()
        columns = zip(*parts, strict=True) if parts else [()] * len(ARRAYS)
        lengths, *codes = (np.frombuffer(b"".join(column), dtype=np.int32) for column in columns)
        slots, count = self._number("slots"), self._number("count")
        if any(len(column) != slots for column in (lengths, *codes)):
            raise DataError(f"The segments of {self.name} do not fit together.", "Restore a copy, or build it again.")
        alive = np.ones(slots, dtype=bool)
        alive[[row for (row,) in db.execute(f"select row from {self._dead}")]] = False
        total = int(lengths.sum(where=alive, dtype=np.int64))
        norms = self._weighing.k1 * ((1 - B) + B * lengths / np.float64(total / count if total else 1.0))
        fields = dict(zip(FIELDS, codes, strict=True))
        state = _State(self._number("generation"), lengths, fields, alive, count == slots, np.asarray(norms))
        if not self.store.writing:
            self._kept = (version, state)
        return state

    def _passing(self, db: sqlite3.Connection, state: _State, where: Filter | None) -> Mask:
        """(slots,): which rows may be returned; the last answer is kept until a change."""
        version = self.store.version()
        if where is None or where == Filter():
            return state.alive
        if self._passed is not None and self._passed[:2] == (where, version) and not self.store.writing:
            return self._passed[2]
        mask = state.alive.copy()
        for field, wanted in (("collection", where.collections), ("kind", where.kinds), ("language", where.languages)):
            if wanted:
                mask &= self._coded(db, state, field, "value in (select value from json_each(?))", json.dumps(wanted))
        if where.since:
            mask &= self._coded(db, state, "date", "value >= ?", where.since)
        if where.until:
            mask &= self._coded(db, state, "date", "value != '' and value <= ?", where.until)
        if where.ids:
            query = f"select row from {self._rows} where id in (select value from json_each(?))"
            named = np.zeros_like(mask)
            named[[row for (row,) in db.execute(query, (json.dumps(where.ids),))]] = True
            mask &= named
        if not self.store.writing:
            self._passed = (where, version, mask)
        return mask

    def _coded(self, db: sqlite3.Connection, state: _State, field: str, condition: str, value: str) -> Mask:
        """(slots,): the rows whose field has a value under a condition."""
        most = db.execute(f"select coalesce(max(code), 0) from {self._values}").fetchone()[0]
        table = np.zeros(most + 1, dtype=bool)
        query = f"select code from {self._values} where field = ? and {condition}"
        table[[code for (code,) in db.execute(query, (field, value))]] = True
        passing: Mask = table[state.codes[field]]
        return passing

    def _holding(self, db: sqlite3.Connection, state: _State, word: str) -> Held:
        """The rows that hold a word and count, and how often."""
        parts = [lists for _, lists in ranged(db, self._words, word, word, self._segments)]
        rows = np.frombuffer(b"".join(rows for rows, _ in parts), dtype=np.uint32)
        counts = np.concatenate([_counts(*lists) for lists in parts]) if parts else np.empty(0, dtype=np.uint8)
        if state.whole:
            return rows, counts
        kept = state.alive[rows]
        return rows[kept], counts[kept]

    # Writing.

    def _create(self, db: sqlite3.Connection, encoder: str, dimension: int) -> None:
        if self.store.value(f"{self.name}.format", 0):  # another process made it meanwhile
            return
        self._create_tables(db)
        self._put(format=FORMAT)
        self._sign(encoder, dimension)

    def _create_tables(self, db: sqlite3.Connection) -> None:
        for statement in TABLES.format(name=self.name).split(";"):
            db.execute(statement)
        db.execute(BLOCKS.format(table=self._words))

    def _migrate(self, db: sqlite3.Connection) -> None:
        """Take over an index of format 1, whose words SQLite kept (FTS5); vectors stay where they lie."""
        if self.store.number(f"{self.name}.format") != 1:  # another process did it meanwhile
            return
        db.execute(f"alter table {self._rows} rename to {self.name}_before")
        db.execute(f"drop table {self.name}_words")
        self._create_tables(db)
        base, slots = 0, self._number("slots")
        while base < slots:
            size = min(CHUNK, slots - base)
            found = db.execute(
                "select slot, crc, id, text, collection, kind, date, language "
                f"from {self.name}_before where slot >= ? and slot < ? order by slot",
                (base, base + size),
            ).fetchall()
            entries: list[Entry | None] = [None] * size
            for slot, _, *fields in found:
                entries[slot - base] = Entry(**dict(zip(Entry.model_fields, fields, strict=True)))
            sums = {slot - base: crc for slot, crc, *_ in found}
            self._insert(db, base, entries, [sums.get(at, 0) for at in range(size)])
            base += size
        db.execute(f"drop table {self.name}_before")
        self._put(format=FORMAT)

    def _sign(self, encoder: str, dimension: int) -> None:
        self._put(encoder=encoder, dimension=dimension, built=datetime.now(UTC).isoformat(timespec="microseconds"))

    def _bury(self, db: sqlite3.Connection, ids: Sequence[str]) -> int:
        look = f"select row from {self._rows} where id = ?"
        found = [row for key in dict.fromkeys(ids) for row in db.execute(look, (key,))]
        for table in (self._rows, self._texts):
            db.executemany(f"delete from {table} where row = ?", found)
        db.executemany(f"insert into {self._dead} values (?)", found)
        self._put(count=self._number("count") - len(found))
        return len(found)

    def _insert(self, db: sqlite3.Connection, base: int, entries: Sequence[Entry | None], sums: Sequence[int]) -> None:
        """Add rows from a number on, as a segment; where there is no entry the row is gone."""
        held = [(n, entry) for n, entry in enumerate(entries, base) if entry is not None]
        gone = [(n,) for n, entry in enumerate(entries, base) if entry is None]
        rows = [(n, entry.id, sums[n - base]) for n, entry in held]
        db.executemany(f"insert into {self._rows} values (?, ?, ?)", rows)
        texts = [(n, e.text, e.collection, e.kind, e.date, e.language) for n, e in held]
        db.executemany(f"insert into {self._texts} values (?, ?, ?, ?, ?, ?)", texts)
        db.executemany(f"insert into {self._dead} values (?)", gone)
        names, lists, lengths = inverted([entry.text if entry else "" for entry in entries], base)
        codes = (self._codes(db, field, [getattr(e, field) if e else "" for e in entries]) for field in FIELDS)
        segment = db.execute(f"select coalesce(max(segment), 0) + 1 from {self._segments}").fetchone()[0]
        arrays = [one.astype(np.int32).tobytes() for one in (lengths, *codes)]
        marks = ", ".join("?" * (3 + len(arrays)))
        db.execute(f"insert into {self._segments} values ({marks})", (segment, base, len(entries), *arrays))
        insert_blocks(db, self._words, segment, names, lists)
        segments = self._segment_rows(db)
        due = segments[first_due([size for _, _, size in segments]) :]
        if len(due) > 1:
            self._join(db, due)

    def _codes(self, db: sqlite3.Connection, field: str, values: Sequence[str]) -> Numbers:
        """A number for each value of a field, the same for the same."""
        different = list(dict.fromkeys(values))
        new = [(field, value) for value in different]
        db.executemany(f"insert or ignore into {self._values} (field, value) values (?, ?)", new)
        query = f"select value, code from {self._values} where field = ? and value in (select value from json_each(?))"
        known = dict(db.execute(query, (field, json.dumps(different))).fetchall())
        return np.array([known[value] for value in values], dtype=np.int32)

    def _settle(self, db: sqlite3.Connection, slots: int, more: int) -> None:
        """Keep the counts, have the vectors on disk before the commit, and number afresh when most rows are gone."""
        count = self._number("count") + more
        self._put(count=count, slots=slots)
        if slots - count > DEAD_SHARE * slots and not self._vectors.first:
            self._compact(db)
        self._before_commit()

    def _before_commit(self) -> None:
        self.store.before_commit(self.name, lambda: self._vectors.sync(self._number("generation")))

    def _segment_rows(self, db: sqlite3.Connection) -> list[tuple[int, int, int]]:
        return db.execute(f"select segment, base, size from {self._segments} order by segment").fetchall()

    def _join(
        self, db: sqlite3.Connection, segments: Sequence[tuple[int, int, int]], places: Numbers | None = None
    ) -> None:
        """Make one segment of several, the last ones, without the words of rows that are gone.

        Args:
            places: of all segments, the new number of each row.
        """
        base, size = segments[0][1], sum(size for _, _, size in segments)
        alive = np.ones(size, dtype=bool)
        gone = db.execute(f"select row from {self._dead} where row >= ? and row < ?", (base, base + size))
        alive[[row - base for (row,) in gone]] = False

        whole = places is None and bool(alive.all())

        def combine(found: Sequence[Lists]) -> Lists:
            if whole and all(4 * len(counts) == len(rows) for rows, counts in found):
                return b"".join([rows for rows, _ in found]), b"".join([counts for _, counts in found])
            rows = np.concatenate([np.frombuffer(rows, dtype=np.uint32) for rows, _ in found])
            counts = np.concatenate([_counts(*lists) for lists in found])
            kept = alive[rows - np.uint32(base)]
            rows = rows[kept]
            return _packed(rows if places is None else places[rows], counts[kept])

        old = [segment for segment, _, _ in segments]
        between = f"between {old[0]} and {old[-1]}"
        columns = zip(
            *db.execute(f"select {', '.join(ARRAYS)} from {self._segments} where segment {between} order by segment"),
            strict=True,
        )
        arrays = [np.frombuffer(b"".join(column), dtype=np.int32) for column in columns]
        if places is not None:
            arrays, size = [one[alive] for one in arrays], int(alive.sum())
        join_blocks(db, self._words, old, old[-1] + 1, combine)
        db.execute(f"delete from {self._segments} where segment {between}")
        marks = ", ".join("?" * (3 + len(arrays)))
        row = (old[-1] + 1, base, size, *(one.tobytes() for one in arrays))
        db.execute(f"insert into {self._segments} values ({marks})", row)

    def _compact(self, db: sqlite3.Connection) -> None:
        """Number the rows that count afresh, in their order, and write their vectors to a new generation."""
        slots, vectors = self._number("slots"), self.stored()
        alive = np.ones(slots, dtype=bool)
        alive[[row for (row,) in db.execute(f"select row from {self._dead}")]] = False
        places = (np.cumsum(alive) - 1).astype(np.uint32)
        kept = np.flatnonzero(alive)
        for start, end in blocks(len(kept)):
            self._vectors.write(self._number("generation") + 1, start, vectors[kept[start:end]])
        moved = [(int(places[row]), row) for row in kept.tolist() if places[row] != row]  # ascending: none is taken
        for table in (self._rows, self._texts):
            db.executemany(f"update {table} set row = ? where row = ?", moved)
        if segments := self._segment_rows(db):
            self._join(db, segments, places)
        db.execute(f"delete from {self._dead}")
        self._put(slots=len(kept))
        self._renumbered()

    def _renumbered(self) -> None:
        generation = self._number("generation") + 1
        self._put(generation=generation)
        self.store.after_commit(self.name, lambda: self._vectors.keep_only(generation))

    def _number(self, key: str) -> int:
        return self.store.number(f"{self.name}.{key}")

    def _put(self, **values: int | str) -> None:
        for key, value in values.items():
            self.store.put(f"{self.name}.{key}", value)


def inverted(texts: Sequence[str], base: int) -> tuple[list[str], list[Lists], Numbers]:
    """The words of some texts in order, the packed rows and counts of each, and (texts,) the words of each text.

    Args:
        base: the number of the first text.
    """
    known: dict[str, int] = {}
    flat, lengths = array("q"), array("q")
    for text in texts:
        found = tokens(text)
        flat.extend([known.setdefault(word, len(known)) for word in found])
        lengths.append(len(found))
    names = sorted(known)
    rank = np.empty(len(names), dtype=np.int64)
    rank[[known[name] for name in names]] = np.arange(len(names))
    sizes = np.array(lengths, dtype=np.int64)
    words, rows = np.array(flat, dtype=np.int64), np.repeat(np.arange(len(texts), dtype=np.int64), sizes)
    keys, counts = np.unique(rank[words] << 32 | rows, return_counts=True)
    held = ((keys & 0xFFFFFFFF) + base).astype(np.uint32)
    ends = np.searchsorted(keys >> 32, np.arange(len(names) + 1)).tolist()
    if counts.max(initial=0) > BYTE:
        return names, [_packed(held[a:b], counts[a:b]) for a, b in pairwise(ends)], sizes
    packed, often = held.tobytes(), counts.astype(np.uint8).tobytes()
    return names, [(packed[4 * a : 4 * b], often[a:b]) for a, b in pairwise(ends)], sizes


def idf(frequency: int, rows: int) -> np.float32:
    """Lucene's inverse document frequency, as bm25s rounds it."""
    return np.float32(math.log(1 + (rows - frequency + 0.5) / (frequency + 0.5)))


def _bm25(state: _State, words: Sequence[str], holding: dict[str, Held]) -> Vectors:
    """(slots,): the score of each row, to the last bit that of bm25s; a word counts as often as it is given."""
    scores, count = np.zeros(len(state.alive), dtype=np.float32), int(np.count_nonzero(state.alive))
    for word in words:
        rows, counts = holding[word]
        if len(rows):
            often = counts.astype(np.float64)
            scores[rows] += (idf(len(rows), count) * (often / (state.norms[rows] + often))).astype(np.float32)
    return scores


def _packed(rows: Numbers, counts: Numbers) -> Lists:
    if not len(rows):
        return b"", b""
    small = int(counts.max()) <= BYTE
    return rows.tobytes(), counts.astype(np.uint8 if small else np.uint32).tobytes()


def _counts(rows: bytes, counts: bytes) -> Numbers:
    """The counts of a packed list: a byte each, or four where one of them is high."""
    return np.frombuffer(counts, dtype=np.uint8 if 4 * len(counts) == len(rows) else np.uint32)
