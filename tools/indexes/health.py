"""What can be wrong with an index on disk, in words."""

from __future__ import annotations

import sqlite3

from tools.encoders import Vectors
from tools.indexes.store import Store
from tools.indexes.vectors import blocks, checksums


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
