"""The fields of all rows as small numbers, memory-mapped: a filter over millions of rows takes milliseconds."""

from __future__ import annotations

import json
import shutil
import sqlite3
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tools.indexes.contract import Filter
from tools.indexes.disk.layout import mapped_array
from tools.indexes.vectors import Mask

FIELDS = ("collection", "kind", "date", "language")
VALUES, RANKS = "values.json", "ranks.npy"
FETCHED = 10_000  # ours: rows of SQLite in memory at once


def write_columns(db: sqlite3.Connection, rows: int, folder: Path) -> int:
    """Take out the replaced rows, and write the columns of the rest to ``folder``; gives the number of these.

    Args:
        rows: rows stored, numbered from 0, replaced ones included.
        folder: is put in its place by the caller, after the commit: columns without it would pass for finished.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    db.execute("create index if not exists by_id on rows (id)")
    later = "select 1 from rows later where later.id = rows.id and later.row > rows.row"
    replaced = [(row,) for (row,) in db.execute(f"select row from rows where exists ({later})")]
    for table in ("rows", "texts"):
        db.executemany(f"delete from {table} where row = ?", replaced)
    ranks = np.full(rows, -1, dtype=np.int32)
    count = 0
    cursor = db.execute("select row from rows order by id")  # SQLite orders by bytes, as Python orders strings
    while found := cursor.fetchmany(FETCHED):
        ranks[[row for (row,) in found]] = np.arange(count, count + len(found))
        count += len(found)
    np.save(folder / RANKS, ranks, allow_pickle=False)
    values = {field: _write_field(db, field, rows, folder) for field in FIELDS}
    (folder / VALUES).write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")
    return count


def _write_field(db: sqlite3.Connection, field: str, rows: int, folder: Path) -> list[str]:
    """Write one column; gives its different values in order."""
    codes, known = np.zeros(rows, dtype=np.int32), {"": 0}
    cursor = db.execute(f"select row, {field} from rows")
    while found := cursor.fetchmany(FETCHED):
        codes[[row for row, _ in found]] = [known.setdefault(value, len(known)) for _, value in found]
    values = sorted(known)
    places = np.empty(len(values), dtype=np.min_scalar_type(len(values)))
    places[[known[value] for value in values]] = np.arange(len(values))
    np.save(folder / f"{field}.npy", places[codes], allow_pickle=False)
    return values


class Columns:
    """The columns of a finished index.

    Attributes:
        ranks: (rows,) place of each row's id among all ids in order; -1 for a row that was replaced.
    """

    def __init__(self, folder: Path) -> None:
        self.ranks: NDArray[np.int32] = mapped_array(folder / RANKS)
        self._codes: dict[str, NDArray[Any]] = {field: mapped_array(folder / f"{field}.npy") for field in FIELDS}
        self._values: dict[str, list[str]] = json.loads((folder / VALUES).read_text(encoding="utf-8"))

    @property
    def alive(self) -> Mask:
        """(rows,), which rows were not replaced."""
        return self.ranks >= 0

    def passing(self, where: Filter) -> Mask:
        """(rows,), which rows pass; ids are not looked at."""
        mask = self.alive
        for field, wanted in (
            ("collection", where.collections), ("kind", where.kinds), ("language", where.languages)
        ):  # fmt: skip
            if wanted:
                mask &= self._looked_up(field, self._places(field, wanted))
        if where.since or where.until:
            mask &= self._looked_up("date", self._dates(where))
        return mask

    def _looked_up(self, field: str, places: Sequence[int]) -> Mask:
        table = np.zeros(len(self._values[field]), dtype=bool)
        table[list(places)] = True
        passing: Mask = table[self._codes[field]]
        return passing

    def _places(self, field: str, wanted: Sequence[str]) -> list[int]:
        values = self._values[field]
        found = [(bisect_left(values, value), value) for value in wanted]
        return [at for at, value in found if at < len(values) and values[at] == value]

    def _dates(self, where: Filter) -> range:
        values = self._values["date"]
        first = bisect_left(values, where.since)
        if where.until:  # then a row without a date does not pass
            return range(max(first, bisect_right(values, "")), bisect_right(values, where.until))
        return range(first, len(values))
