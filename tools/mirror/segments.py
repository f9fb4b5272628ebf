"""A segment: the records of one transaction, inverted.

A record that is replaced or deleted keeps its number, which is then listed as dead. A commit holds records and postings
together, so an interrupted load leaves the mirror as it was after the last one; `tools.mirror.segments` joins
segments later.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
import numpy.typing as npt

from prompts.errors import DataError, InputError
from tools.indexes.postings import Block, Lists, first_due, join_blocks, make_blocks
from tools.mirror.entries import COLUMNS, GAP, Entry
from tools.mirror.words import key

# Joining segments, so that a search reads few lists a word however often the mirror was written.
MOST_SEGMENTS = 128  # ours: so many cursors are read side by side; from then on segments are joined while importing


def due(database: sqlite3.Connection, *, whole: bool) -> list[tuple[int, int, int]]:
    """The segments (number, base, size) that should be joined; without ``whole`` none before there are very many."""
    segments = database.execute("SELECT segment, base, size FROM segments ORDER BY segment").fetchall()
    if len(segments) < (2 if whole else MOST_SEGMENTS):
        return []
    chosen = segments[first_due([size for _, _, size in segments]) :]
    return chosen if len(chosen) > 1 else []


def join(database: sqlite3.Connection, segments: Sequence[tuple[int, int, int]]) -> None:
    """Make one segment of several, within the caller's transaction."""
    old = [segment for segment, _, _ in segments]
    new = old[-1] + 1
    dead = unpack(row[0] for row in database.execute("SELECT documents FROM dead"))
    for table in ("words", "keys"):
        join_blocks(database, table, old, new, lambda rows: _one(rows, dead))
    chosen = f"BETWEEN {old[0]} AND {old[-1]}"
    arrays = database.execute(
        f"SELECT pmids, published, entered, lengths FROM segments WHERE segment {chosen} ORDER BY segment"
    ).fetchall()
    size = sum(size for _, _, size in segments)
    joined = [b"".join(row[n] for row in arrays) for n in range(4)]
    buried = unpack(row[0] for row in database.execute(f"SELECT documents FROM dead WHERE segment {chosen}"))
    for table in ("segments", "dead"):
        database.execute(f"DELETE FROM {table} WHERE segment {chosen}")
    database.execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?, ?)", (new, segments[0][1], size, *joined))
    if buried:
        database.execute("INSERT INTO dead VALUES (?, ?)", (new, pack(buried.to_array())))


def _one(rows: Sequence[Lists], dead: BitMap) -> Lists:
    """The lists of one name over the segments, in the order of their documents, without dead ones."""
    if len(rows) == 1 and not dead:
        return rows[0]
    found = [b"".join(parts) for parts in zip(*rows, strict=True)]
    if not dead:
        lists = enumerate(found[: len(COLUMNS)])
        return (
            *(_together([row[n] for row in rows]) if joined else b"" for n, joined in lists),
            *found[len(COLUMNS) :],
        )
    width = len(COLUMNS) if len(rows[0]) > len(COLUMNS) else 1
    for column in range(width):
        if found[column]:
            documents = unpack(row[column] for row in rows)
            if len(found) > width and column in COUNTED and documents.intersect(dead):
                held = np.frombuffer(documents.to_array(), dtype=np.uint32)
                gone = np.frombuffer((documents & dead).to_array(), dtype=np.uint32)
                counts = np.frombuffer(found[COUNTED[column]], dtype=np.uint8)
                found[COUNTED[column]] = counts[~np.isin(held, gone)].tobytes()
            documents -= dead
            found[column] = pack(array("I", documents.to_array())) if documents else b""
    return tuple(found)


def _together(parts: Sequence[bytes]) -> bytes:
    """Lists of documents, ascending from one to the next, as one list."""
    held = [part for part in parts if part]
    if len(held) == 1:
        return held[0]
    if len(held) <= FEW and all(part[:1] == PLAIN for part in held):
        numbers = b"".join([part[1:] for part in held])
        if len(numbers) <= 4 * FEW:
            return PLAIN + numbers
    return pack(array("I", unpack(held).to_array()))


TITLE, ABSTRACT = 0, 1  # the columns whose counts are kept, for relevance
TITLE_COUNTS, ABSTRACT_COUNTS = len(COLUMNS), len(COLUMNS) + 1  # where the counts stand among a word's lists
COUNTED = {TITLE: TITLE_COUNTS, ABSTRACT: ABSTRACT_COUNTS}
MOST = 255  # a count is one byte; the weight of a word has long been saturated there
NO_PMID = 0  # of a number that stands for no record
GAPS = 0  # the number of GAP among the words
Numbers = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Item:
    """A record as it will be stored and indexed; its words and keys are numbers of the `Inverter` that made it.

    Attributes:
        version: of its PMID. stored: the record's bytes. texts: the words of each column, with spaces between.
        words: their numbers, by column. keys: the numbers of its keys. headings: as in `Entry`.
    """

    pmid: int
    version: int
    stored: bytes
    texts: tuple[str, ...]
    words: tuple[array[int], ...]
    keys: array[int]
    headings: tuple[str, ...]
    published: int
    entered: int


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment ready to be written; made in another process, so it holds plain values only.

    Attributes:
        base, size: the number of its first document, and how many numbers it takes.
        unused: numbers that stand for no record. arrays: PMIDs, dates of publication and entry, lengths, as bytes.
        records: (number, PMID, version, stored bytes). texts: (number, words of each column).
        words, keys: blocks of postings; a word has its documents by column, then its counts in title and abstract.
        headings: names by key.
    """

    base: int
    size: int
    unused: tuple[int, ...]
    arrays: tuple[bytes, bytes, bytes, bytes]
    records: list[tuple[int, int, int, bytes]]
    texts: list[tuple[int | str, ...]]
    words: list[Block]
    keys: list[Block]
    headings: dict[str, str]


class Inverter:
    """Numbers words and keys as records come, then inverts the records of one batch."""

    def __init__(self) -> None:
        self._words: dict[str, int] = defaultdict(count().__next__)
        self._keys: dict[str, int] = defaultdict(count().__next__)
        self._words[GAP]

    def item(self, entry: Entry, version: int, stored: bytes) -> Item:
        """A record, its words and keys replaced by numbers."""
        return Item(
            pmid=int(entry.record.pmid),
            version=version,
            stored=stored,
            texts=tuple(map(" ".join, entry.columns)),
            words=tuple(array("I", map(self._words.__getitem__, column)) for column in entry.columns),
            keys=array("I", map(self._keys.__getitem__, entry.keys)),
            headings=entry.headings,
            published=entry.published,
            entered=entry.entered,
        )

    def segment(self, base: int, items: Sequence[Item | None]) -> Segment:
        """Invert a batch; an item that is None takes a number and stands for nothing."""
        held = [(n, item) for n, item in enumerate(items, base) if item]
        return Segment(
            base=base,
            size=len(items),
            unused=tuple(n for n, item in enumerate(items, base) if item is None),
            arrays=_arrays(items),
            records=[(n, i.pmid, i.version, i.stored) for n, i in held],
            texts=[(n, *i.texts) for n, i in held],
            words=self._word_blocks(base, items),
            keys=self._key_blocks(base, items),
            headings={key(name): name for _, i in held for name in i.headings},
        )

    def _word_blocks(self, base: int, items: Sequence[Item | None]) -> list[Block]:
        ordered, rank = _ranked(self._words)
        lists: list[list[bytes]] = []
        counts: list[list[bytes]] = []
        for column in range(len(COLUMNS)):
            found = _inverted([i.words[column] if i else _NONE for i in items], rank, gaps=column > ABSTRACT)
            lists.append(_lists(found, base, len(ordered)))
            if column in COUNTED:
                counts.append(_counts(found, len(ordered)))
        return _blocks(ordered, list(zip(*lists, *counts, strict=True)))

    def _key_blocks(self, base: int, items: Sequence[Item | None]) -> list[Block]:
        ordered, rank = _ranked(self._keys)
        found = _inverted([i.keys if i else _NONE for i in items], rank, gaps=False)
        return _blocks(ordered, list(zip(_lists(found, base, len(ordered)), strict=True)))


_NONE: array[int] = array("I")


@dataclass(frozen=True, slots=True)
class _Inverted:
    """Postings of one column, by the rank of their name: ``starts[i]`` to ``starts[i + 1]`` are those of ``names[i]``.

    places: of the documents in the batch, ascending within a name. counts: how often the name stands in each.
    """

    names: list[int]
    starts: list[int]
    places: Numbers
    counts: Numbers


def _ranked(numbered: dict[str, int]) -> tuple[list[str], Numbers]:
    """The names in order, and the rank of each number."""
    ordered = sorted(numbered)
    rank = np.empty(len(ordered), dtype=np.uint32)
    rank[np.fromiter(map(numbered.__getitem__, ordered), dtype=np.uint32, count=len(ordered))] = np.arange(len(ordered))
    return ordered, rank


def _inverted(columns: Sequence[array[int]], rank: Numbers, *, gaps: bool) -> _Inverted:
    """Postings of the names that each document holds, by number; with ``gaps`` without the number GAPS."""
    flat = np.frombuffer(b"".join(columns), dtype=np.uint32)
    places = np.repeat(np.arange(len(columns), dtype=np.uint64), np.fromiter(map(len, columns), np.int64, len(columns)))
    if gaps:
        kept = flat != GAPS
        flat, places = flat[kept], places[kept]
    both = (rank[flat].astype(np.uint64) << np.uint64(32)) | places
    both.sort()
    first = np.flatnonzero(np.diff(both, prepend=np.uint64(2**64 - 1)))
    counts = np.diff(first, append=len(both)).astype(np.uint32)
    both = both[first]
    name = (both >> np.uint64(32)).astype(np.int64)
    starts = np.flatnonzero(np.diff(name, prepend=-1))
    return _Inverted(name[starts].tolist(), [*starts.tolist(), len(both)], both.astype(np.uint32), counts)


def _lists(found: _Inverted, base: int, size: int) -> list[bytes]:
    """The packed documents of each name, empty where it has none."""
    documents = found.places + np.uint32(base)
    plain = documents.tobytes()
    out = [b""] * size
    for at, name in enumerate(found.names):
        start, end = found.starts[at], found.starts[at + 1]
        few = end - start <= FEW
        out[name] = PLAIN + plain[4 * start : 4 * end] if few else pack(documents[start:end])
    return out


def _counts(found: _Inverted, size: int) -> list[bytes]:
    """The counts of each name, one byte a document."""
    packed = np.minimum(found.counts, MOST).astype(np.uint8).tobytes()
    out = [b""] * size
    for at, name in enumerate(found.names):
        out[name] = packed[found.starts[at] : found.starts[at + 1]]
    return out


def _blocks(names: Sequence[str], rows: Sequence[tuple[bytes, ...]]) -> list[Block]:
    """Blocks of the names that stand in any record."""
    kept = [any(row) for row in rows]
    held = [name for name, keep in zip(names, kept, strict=True) if keep]
    return list(make_blocks(held, [row for row, keep in zip(rows, kept, strict=True) if keep]))


def _arrays(items: Sequence[Item | None]) -> tuple[bytes, bytes, bytes, bytes]:
    pmids = np.array([i.pmid if i else NO_PMID for i in items], dtype=np.int64)
    published = np.array([i.published if i else 0 for i in items], dtype=np.int32)
    entered = np.array([i.entered if i else 0 for i in items], dtype=np.int32)
    lengths = np.array([len(i.words[TITLE]) + len(i.words[ABSTRACT]) if i else 0 for i in items], dtype=np.int32)
    return pmids.tobytes(), published.tobytes(), entered.tobytes(), lengths.tobytes()


# Sets of records: Roaring bitmaps, of a package that is had with the mirror.

# Lists of documents as bytes: a few numbers as they are, more of them as a Roaring bitmap.
Documents = npt.NDArray[np.uint32]
PLAIN, ROARING = b"\0", b"\1"
FEW = 8  # ours: up to here four bytes a document are shorter than a bitmap's header


def pack(documents: array[int] | Documents) -> bytes:
    """Ascending document numbers (unsigned, four bytes each) as bytes."""
    if len(documents) <= FEW:
        return PLAIN + documents.tobytes()
    return ROARING + BitMap(documents).serialize()


def unpack(packed: Iterable[bytes | None]) -> BitMap:
    """The union of packed lists. Raises DataError for bytes that are no list."""
    few: list[bytes] = []
    found = BitMap()
    try:
        for blob in packed:
            if not blob:
                continue
            if blob[:1] == PLAIN:
                few.append(blob[1:])
            else:
                found |= BitMap.deserialize(blob[1:])
        if few:
            found |= BitMap(array("I", b"".join(few)))
    except ValueError as error:
        raise DataError("A list of documents in the mirror is damaged.", "Import the mirror again.") from error
    return found


def numbers(documents: BitMap) -> Documents:
    """The document numbers, ascending, shape (n,)."""
    return np.frombuffer(documents.to_array(), dtype=np.uint32)


try:
    from pyroaring import BitMap
except ImportError as error:
    raise InputError(
        "A mirror and built collections need pyroaring.", "Run: pip install 'anamnesis[mirror]'"
    ) from error

__all__ = ["BitMap"]
