"""Joining segments, so that a search reads few lists a word however often the mirror was written."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Sequence

import numpy as np

from tools.indexes.postings import Lists, first_due, join_blocks
from tools.mirror.bitmaps import BitMap
from tools.mirror.entries import COLUMNS
from tools.mirror.postings import FEW, PLAIN, pack, unpack
from tools.mirror.segments import COUNTED

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
