"""The tables of an index in SQLite: rows with the slots of their vectors, and their words."""

from __future__ import annotations

import json
import sqlite3

from tools.encoders import Vectors
from tools.indexes.contract import Entry, Filter, Hit
from tools.indexes.vectors import Slots
from tools.text.tokens import tokens

FETCHED = 500  # ours: look-ups a statement, below SQLite's limit on variables


def create_tables(db: sqlite3.Connection, rows: str, words: str) -> None:
    """Make both tables; the words are cut by `tools.text.tokens`, so SQLite need only part them at spaces."""
    db.execute(
        f"create table {rows} (row integer primary key, id text not null unique, slot integer not null unique, "
        "crc integer not null, text text, collection text, kind text, date text, language text)"
    )
    db.execute(f"create virtual table {words} using fts5 (words, tokenize = 'ascii')")


def insert_row(db: sqlite3.Connection, rows: str, words: str, entry: Entry, slot: int, crc: int) -> None:
    """Add a row whose vector lies at a slot and has this checksum; a text without words is not indexed."""
    row = db.execute(
        f"insert into {rows} (id, slot, crc, text, collection, kind, date, language) values (?, ?, ?, ?, ?, ?, ?, ?)",
        (entry.id, slot, crc, entry.text, entry.collection, entry.kind, entry.date, entry.language),
    ).lastrowid
    found = tokens(entry.text)
    if found:
        db.execute(f"insert into {words} (rowid, words) values (?, ?)", (row, " ".join(found)))


def hits_of(db: sqlite3.Connection, table: str, slots: Slots, scores: Vectors, k: int) -> list[Hit]:
    """The k best of some slots with their cosines; equal ones are ordered by id."""
    names: dict[int, str] = {}
    for at in range(0, len(slots), FETCHED):
        part = slots[at : at + FETCHED].tolist()
        marks = ",".join("?" * len(part))
        names.update(db.execute(f"select slot, id from {table} where slot in ({marks})", part).fetchall())
    pairs = sorted((-float(score), names[slot]) for slot, score in zip(slots.tolist(), scores, strict=True))
    return [Hit(id=key, rank=n, score=-score) for n, (score, key) in enumerate(pairs[:k], 1)]


def condition_of(where: Filter | None) -> tuple[str, list[str]]:
    """A filter as a condition on the rows ``r``, and its values."""
    parts, values = ["1"], []
    if where is None:
        return "1", []
    for column, wanted in (
        ("collection", where.collections),
        ("kind", where.kinds),
        ("language", where.languages),
        ("id", where.ids),
    ):
        if wanted:
            parts.append(f"r.{column} in (select value from json_each(?))")
            values.append(json.dumps(wanted))
    if where.since:
        parts.append("r.date >= ?")
        values.append(where.since)
    if where.until:
        parts.append("r.date != '' and r.date <= ?")
        values.append(where.until)
    return " and ".join(parts), values
