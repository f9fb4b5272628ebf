"""Joining segments, so that a search reads few lists a word however often the mirror was written.

Only a suffix of the segments is ever joined, so their order stays that of the document numbers. The rule is that of
log-structured stores: the last segments are joined into one as soon as together they are not small against the one
before them; each record is then rewritten a few times in the life of a mirror. A join is part of a transaction: a kill
leaves the segments as they were.
"""

from __future__ import annotations

import heapq
import sqlite3
from array import array
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from pyroaring import BitMap

from tools.mirror.entries import COLUMNS
from tools.mirror.postings import pack, unpack

MOST_SEGMENTS = 128  # ours: so many cursors are read side by side; from then on segments are joined while importing
SMALL = 0.25  # ours: what is less than this share of the segment before it stays apart; a search reads a few lists more
COUNTED = {0: 5, 1: 6}  # the column of the counts that belong to a column of documents
FLUSH = 20_000  # ours: rows written at once


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
    for table, columns in (("words", 9), ("keys", 3)):
        insert = f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})"
        rows = _merged(database, table, old, dead)
        while part := [(new, *row) for row, _ in zip(rows, range(FLUSH), strict=False)]:
            database.executemany(insert, part)
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


def _merged(database: sqlite3.Connection, table: str, old: Sequence[int], dead: BitMap) -> Iterator[tuple[Any, ...]]:
    """The rows of several segments, in order, those of one word or key made one, without dead documents."""
    name = "word" if table == "words" else "key"
    cursors = (database.execute(f"SELECT * FROM {table} WHERE segment = ? ORDER BY {name}", (s,)) for s in old)
    ordered = heapq.merge(*((row[1:] for row in cursor) for cursor in cursors), key=itemgetter(0))
    for text, rows in groupby(ordered, key=itemgetter(0)):
        joined = _one(list(rows), dead)
        if any(joined):
            yield (text, *joined)


def _one(rows: Sequence[tuple[Any, ...]], dead: BitMap) -> list[bytes | None]:
    """The lists of one word over the segments, in the order of their documents."""
    width = len(COLUMNS) if len(rows[0]) > len(COLUMNS) else 1
    found: list[bytes | None] = [None] * (len(rows[0]) - 1)
    for column in range(width):
        parts = [row[column + 1] for row in rows if row[column + 1]]
        if not parts:
            continue
        documents = unpack(parts)
        counts = b"".join(row[COUNTED[column] + 1] or b"" for row in rows) if width > 1 and column in COUNTED else None
        if documents.intersect(dead):
            if counts is not None:
                gone = np.frombuffer((documents & dead).to_array(), dtype=np.uint32)
                held = np.frombuffer(documents.to_array(), dtype=np.uint32)
                counts = np.frombuffer(counts, dtype=np.uint8)[~np.isin(held, gone)].tobytes()
            documents -= dead
        if documents:
            found[column] = pack(array("I", documents.to_array()))
            if counts is not None:
                found[COUNTED[column]] = counts
    return found
