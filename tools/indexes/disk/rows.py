"""The rows of a finished index in SQLite, which nobody writes any more: entries, ids, vocabulary."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from prompts.errors import DataError
from tools.databases import fault_of
from tools.indexes.contract import Entry
from tools.indexes.disk.counting import numbers_of
from tools.indexes.disk.layout import AGAIN

MANY = 10_000  # ours: ids looked up in one statement


class DiskRows:
    """Read access to the rows. Safe to use from threads.

    Args:
        file: the database. Raises DataError, as every method does, when it is damaged.
    """

    def __init__(self, file: Path) -> None:
        self._file, self._lock = file, threading.Lock()
        with self._asking():
            address = f"file:{quote(str(file.absolute()))}?mode=ro&immutable=1"
            self._db = sqlite3.connect(address, uri=True, check_same_thread=False)
            self._db.execute("select row from rows limit 1").fetchone()

    def get(self, id: str) -> tuple[int, Entry] | None:
        """The row with this id, and its number."""
        fields = "rows.row, id, text, collection, kind, date, language"
        with self._asking():
            found = self._db.execute(
                f"select {fields} from rows join texts on texts.row = rows.row where id = ?", (id,)
            ).fetchone()
        return None if found is None else (found[0], Entry(**dict(zip(Entry.model_fields, found[1:], strict=True))))

    def numbers(self, ids: Sequence[str]) -> dict[str, int]:
        """The row number of each of these ids that is there."""
        found: dict[str, int] = {}
        for at in range(0, len(ids), MANY):
            chosen = json.dumps(list(ids[at : at + MANY]))
            with self._asking():
                query = "select id, row from rows where id in (select value from json_each(?))"
                found.update(self._db.execute(query, (chosen,)).fetchall())
        return found

    def ids(self, rows: Sequence[int]) -> list[str]:
        """The id of each of these rows."""
        found: dict[int, str] = {}
        for at in range(0, len(rows), MANY):
            chosen = json.dumps(list(rows[at : at + MANY]))
            with self._asking():
                query = "select row, id from rows where row in (select value from json_each(?))"
                found.update(self._db.execute(query, (chosen,)).fetchall())
        if len(found) < len(set(rows)):
            raise DataError(f"{self._file.name} lacks rows that are searched.", AGAIN)
        return [found[row] for row in rows]

    def words(self, words: Sequence[str]) -> dict[str, int]:
        """The numbers of those words that are known."""
        with self._asking():
            return numbers_of(self._db, words)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except sqlite3.DatabaseError as error:
                raise fault_of(error, self._file, f"{self._file.name} of the index", AGAIN) from error
