"""The words of texts as postings: which word stands in which row how often."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tools.text.tokens import tokens


@dataclass(frozen=True)
class Postings:
    """Postings of some texts, by text.

    Attributes:
        words: different words. word: (n,) place in ``words``. row: (n,) number of the text. count: (n,) how often.
        lengths: (texts,) words of each text.
    """

    words: list[str]
    word: NDArray[np.int64]
    row: NDArray[np.int64]
    count: NDArray[np.int64]
    lengths: NDArray[np.int64]


def postings_of(texts: Sequence[str]) -> Postings:
    """Cut texts by `tools.text.tokens` and count."""
    known: dict[str, int] = {}
    flat, lengths = array("q"), array("q")
    for text in texts:
        found = tokens(text)
        flat.extend([known.setdefault(word, len(known)) for word in found])
        lengths.append(len(found))
    sizes = np.array(lengths, dtype=np.int64)
    rows = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
    keys, count = np.unique(rows << 32 | np.array(flat, dtype=np.int64), return_counts=True)
    return Postings(list(known), keys & 0xFFFFFFFF, keys >> 32, count.astype(np.int64), sizes)


def create_vocabulary(db: sqlite3.Connection) -> None:
    """The table of words and their numbers."""
    db.execute("create table if not exists words (word text primary key, number integer not null) without rowid")


def numbers_of(db: sqlite3.Connection, words: Sequence[str]) -> dict[str, int]:
    """The numbers of those words that are known."""
    query = "select word, number from words where word in (select value from json_each(?))"
    return dict(db.execute(query, (json.dumps(list(words)),)).fetchall())


def numbered(db: sqlite3.Connection, words: Sequence[str], size: int) -> tuple[NDArray[Any], int]:
    """The number of each word, new ones from ``size`` on, and the size of the vocabulary after that."""
    known = numbers_of(db, words)
    new = [word for word in words if word not in known]
    known.update(zip(new, range(size, size + len(new)), strict=True))
    db.executemany("insert into words values (?, ?)", [(word, known[word]) for word in new])
    return np.array([known[word] for word in words], dtype=np.int64), size + len(new)
