"""Joining segments, so that a search reads few lists a word however often the mirror was written.

Only a suffix of the segments is ever joined, so their order stays that of the document numbers. The rule is that of
log-structured stores: the last segments are joined into one as soon as together they are not small against the one
before them; each record is then rewritten a few times in the life of a mirror. A join is part of a transaction: a kill
leaves the segments as they were.
"""

from __future__ import annotations

import contextlib
import gc
import sqlite3
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import itemgetter

import numpy as np

from tools.mirror.bitmaps import BitMap
from tools.mirror.blocks import Lists, make_blocks, whole_blocks
from tools.mirror.entries import COLUMNS
from tools.mirror.postings import FEW, PLAIN, pack, unpack
from tools.mirror.segments import COUNTED

MOST_SEGMENTS = 128  # ours: so many cursors are read side by side; from then on segments are joined while importing
SMALL = 0.25  # ours: what is less than this share of the segment before it stays apart; a search reads a few lists more
FLUSH = 20_000  # ours: names written at once
AHEAD = 32  # ours: blocks of each segment in memory


def due(database: sqlite3.Connection, *, whole: bool) -> list[tuple[int, int, int]]:
    """The segments (number, base, size) that should be joined; without ``whole`` none before there are very many."""
    segments = database.execute("SELECT segment, base, size FROM segments ORDER BY segment").fetchall()
    if len(segments) < (2 if whole else MOST_SEGMENTS):
        return []
    chosen = segments[_first([size for _, _, size in segments]) :]
    return chosen if len(chosen) > 1 else []


def _first(sizes: Sequence[int]) -> int:
    """Where the suffix to join begins: before it stands a segment against which all of it is small."""
    first, together = len(sizes) - 1, sizes[-1]
    while first and together >= SMALL * sizes[first - 1]:
        first -= 1
        together += sizes[first]
    return first


def join(database: sqlite3.Connection, segments: Sequence[tuple[int, int, int]]) -> None:
    """Make one segment of several, within the caller's transaction."""
    old = [segment for segment, _, _ in segments]
    new = old[-1] + 1
    dead = unpack(row[0] for row in database.execute("SELECT documents FROM dead"))
    with _uncollected():
        for table in ("words", "keys"):
            insert = f"INSERT INTO {table} VALUES (?, ?, ?, ?)"
            merged = _merged([_Reader(whole_blocks(database, table, segment)) for segment in old], dead)
            for names, rows in merged:
                database.executemany(insert, ((new, *block) for block in make_blocks(names, rows)))
    chosen = f"BETWEEN {old[0]} AND {old[-1]}"
    arrays = database.execute(
        f"SELECT pmids, published, entered, lengths FROM segments WHERE segment {chosen} ORDER BY segment"
    ).fetchall()
    size = sum(size for _, _, size in segments)
    joined = [b"".join(row[n] for row in arrays) for n in range(4)]
    buried = unpack(row[0] for row in database.execute(f"SELECT documents FROM dead WHERE segment {chosen}"))
    for table in ("words", "keys", "segments", "dead"):
        database.execute(f"DELETE FROM {table} WHERE segment {chosen}")
    database.execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?, ?)", (new, segments[0][1], size, *joined))
    if buried:
        database.execute("INSERT INTO dead VALUES (?, ?)", (new, pack(buried.to_array())))


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Without looking for cycles: a join makes millions of tuples and no cycle, and looking takes time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class _Reader:
    """The names of a segment in order, some blocks in memory at a time."""

    def __init__(self, blocks: Iterator[tuple[list[str], list[Lists]]]) -> None:
        self._blocks = blocks
        self.names: list[str] = []
        self._lists: list[Lists] = []

    def fill(self) -> bool:
        """Read on when nothing is left in memory; False at the end."""
        if not self.names:
            for names, lists in islice(self._blocks, AHEAD):
                self.names += names
                self._lists += lists
        return bool(self.names)

    def take(self, last: str) -> Iterator[tuple[str, Lists]]:
        """The names in memory up to one, with their lists."""
        after = bisect_right(self.names, last)
        taken = zip(self.names[:after], self._lists[:after], strict=True)
        del self.names[:after], self._lists[:after]
        return taken


def _merged(readers: list[_Reader], dead: BitMap) -> Iterator[tuple[list[str], list[Lists]]]:
    """The names of several segments, in order, those that are the same made one, without dead documents."""
    names: list[str] = []
    rows: list[Lists] = []
    while readers := [reader for reader in readers if reader.fill()]:
        last = min(reader.names[-1] for reader in readers)  # what comes later may stand in another segment too
        part = [row for reader in readers for row in reader.take(last)]
        part.sort(key=itemgetter(0))  # stable: the lists of a name stay in the order of their documents
        at = 0
        while at < len(part):
            name = part[at][0]
            after = at + 1
            while after < len(part) and part[after][0] == name:
                after += 1
            joined = _one([lists for _, lists in part[at:after]], dead) if dead or after - at > 1 else part[at][1]
            if any(joined):
                names.append(name)
                rows.append(joined)
            at = after
        if len(names) >= FLUSH:
            yield names, rows
            names, rows = [], []
    if names:
        yield names, rows


def _one(rows: Sequence[Lists], dead: BitMap) -> Lists:
    """The lists of one name over the segments, in the order of their documents."""
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
