"""Outcomes of look-ups kept on disk by content, so that a second run of an evaluation is quick."""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

Kept = TypeVar("Kept", bound=BaseModel)
WAIT = 60.0  # ours: seconds that a write waits for another run of the same evaluation


class KeptOutcomes:
    """A table of outcomes in one SQLite file. A damaged row is computed again.

    Args:
        path: the file. setting: names all that an outcome depends on beside its text.
    """

    def __init__(self, path: Path, setting: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._setting = setting
        self._table = sqlite3.connect(path, timeout=WAIT, isolation_level=None)  # each outcome is on disk at once
        self._table.execute("PRAGMA journal_mode = WAL")
        self._table.execute("PRAGMA synchronous = NORMAL")
        self._table.execute("CREATE TABLE IF NOT EXISTS outcomes (key TEXT PRIMARY KEY, value BLOB NOT NULL)")

    def get(self, arm: str, text: str, model: type[Kept], compute: Callable[[], Kept]) -> Kept:
        """An arm's outcome for a text, computed when it is not known."""
        key = hashlib.sha256(f"{arm}\0{self._setting}\0{text}".encode()).hexdigest()
        row = self._table.execute("SELECT value FROM outcomes WHERE key = ?", (key,)).fetchone()
        if row is not None:
            try:
                return model.model_validate_json(zlib.decompress(row[0]))
            except (zlib.error, ValidationError):
                pass  # an outcome of another form is computed again
        value = compute()
        blob = zlib.compress(value.model_dump_json().encode())
        self._table.execute("INSERT OR REPLACE INTO outcomes VALUES (?, ?)", (key, blob))
        return value

    def close(self) -> None:
        """Close the file."""
        self._table.close()
