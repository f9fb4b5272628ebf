"""Embeddings kept by content hash and encoder, so that nothing is embedded twice."""

from __future__ import annotations

import contextlib
import hashlib
import re
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path

import numpy as np

from prompts.errors import DataError
from tools.encoders import Encoder, Vectors
from tools.files import private_file, private_folder
from tools.recorder import lent

ROWS = 500  # ours: look-ups a statement, below SQLite's limit on variables
PART = 4096  # ours: texts embedded before they are kept; a kill loses no more
PAGE = 16384  # ours: bytes; ten vectors of 384 fill a page, where of SQLite's 4096 each took one and a part of another
PASSING = {  # SQLite's primary result codes after which the file is kept: nothing is wrong with what it holds
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
}


_UNKEPT: ContextVar[bool] = ContextVar("unkept", default=False)


@contextlib.contextmanager
def unkept() -> Iterator[None]:
    """Inside, no new vector is written to disk: the texts may be a patient's. What is known is read all the same."""
    with lent(_UNKEPT, True):
        yield


class CachedEncoder:
    """An encoder whose document vectors are kept on disk. Queries are never written: they may be a patient's words.

    A damaged file is replaced by an empty one; while a file cannot be used, its vectors are computed again.

    Args:
        encoder: the encoder that computes what is missing.
        folder: where the cache lies; one SQLite file an encoder, mode 0600.
        public: every text is public, so that `unkept` does not concern it.

    Raises DataError when no file can be made there.
    """

    def __init__(self, encoder: Encoder, folder: Path, *, public: bool = False) -> None:
        self._encoder = encoder
        self._public = public
        self.name, self.dimension, self.limit = encoder.name, encoder.dimension, encoder.limit
        private_folder(folder)
        self._file = folder / (re.sub(r"[^A-Za-z0-9._-]", "_", encoder.name) + ".sqlite")
        self._lock = threading.Lock()
        self._db = self._open()

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension), never cached on disk."""
        return self._encoder.encode_queries(texts)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension); only texts never seen before are encoded."""
        keys = [hashlib.sha256(t.encode()).digest() for t in texts]
        known = self._read(keys)
        missing = list({k: t for k, t in zip(keys, texts, strict=True) if k not in known}.items())
        for at in range(0, len(missing), PART):
            part = missing[at : at + PART]
            fresh = dict(zip((k for k, _ in part), self._encoder.encode_documents([t for _, t in part]), strict=True))
            if self._public or not _UNKEPT.get():
                self._write(fresh)
            known.update(fresh)
        if not keys:
            return np.empty((0, self.dimension), dtype=np.float32)
        return np.stack([known[k] for k in keys])

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special tokens left out."""
        return self._encoder.count_tokens(texts)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        wanted = list(dict.fromkeys(keys))
        known: dict[bytes, Vectors] = {}
        for at in range(0, len(wanted), ROWS):
            for key, blob in self._rows(wanted[at : at + ROWS]):
                if isinstance(blob, bytes) and len(blob) == self.dimension * 4:  # float32
                    known[key] = np.frombuffer(blob, dtype=np.float32)
        return known

    def _rows(self, keys: Sequence[bytes]) -> list[tuple[bytes, object]]:
        marks = ",".join("?" * len(keys))
        with self._lock:
            try:
                return self._db.execute(f"select key, vector from vectors where key in ({marks})", keys).fetchall()
            except sqlite3.DatabaseError as error:
                self._recover(error)
                return []

    def _write(self, vectors: dict[bytes, Vectors]) -> None:
        rows = [(key, np.ascontiguousarray(v, dtype=np.float32).tobytes()) for key, v in vectors.items()]
        with self._lock:
            try:
                with self._db:
                    self._db.executemany("insert or replace into vectors values (?, ?)", rows)
            except sqlite3.DatabaseError as error:
                self._recover(error)

    def _open(self) -> sqlite3.Connection:
        try:
            try:
                return _connect(self._file)
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
                return self._afresh()
        except (OSError, sqlite3.DatabaseError) as error:
            raise self._unusable() from error

    def _recover(self, error: sqlite3.DatabaseError) -> None:
        """Replace a damaged file; what passes by itself is left alone, and a mistake of the caller is raised."""
        if isinstance(error, sqlite3.ProgrammingError):
            raise error
        if not _is_damage(error):
            return
        self._db.close()
        try:
            self._db = self._afresh()
        except (OSError, sqlite3.DatabaseError) as again:
            raise self._unusable() from again

    def _afresh(self) -> sqlite3.Connection:
        for part in ("", "-wal", "-shm", "-journal"):
            Path(f"{self._file}{part}").unlink(missing_ok=True)
        return _connect(self._file)

    def _unusable(self) -> DataError:
        return DataError(
            f"The cache {self._file} cannot be opened.", "Check who owns it and the room on the disk, or delete it."
        )


def _connect(file: Path) -> sqlite3.Connection:
    db = sqlite3.connect(private_file(file), check_same_thread=False, timeout=60)
    try:
        db.execute(f"pragma page_size={PAGE}")
        db.execute("pragma journal_mode=wal")
        db.execute("create table if not exists vectors (key blob primary key, vector blob)")
    except sqlite3.DatabaseError:
        db.close()
        raise
    return db


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF not in PASSING
