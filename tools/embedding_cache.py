"""Embeddings kept by content hash and encoder, so that nothing is embedded twice."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tools.encoders import Encoder, Vectors

ROWS = 500  # ours: look-ups a statement, below SQLite's limit on variables


class CachedEncoder:
    """An encoder whose document vectors are kept on disk. Queries are never written: they may be a patient's words.

    Args:
        encoder: the encoder that computes what is missing.
        folder: where the cache lies; one SQLite file an encoder.
    """

    def __init__(self, encoder: Encoder, folder: Path) -> None:
        self._encoder = encoder
        self.name, self.dimension, self.limit = encoder.name, encoder.dimension, encoder.limit
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = folder / (re.sub(r"[^A-Za-z0-9._-]", "_", encoder.name) + ".sqlite")
        self._lock = threading.Lock()
        self._db = sqlite3.connect(file, check_same_thread=False, timeout=60)
        self._db.execute("pragma journal_mode=wal")
        self._db.execute("create table if not exists vectors (key blob primary key, vector blob) without rowid")

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension), never cached on disk."""
        return self._encoder.encode_queries(texts)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension); only texts never seen before are encoded."""
        keys = [hashlib.sha256(t.encode()).digest() for t in texts]
        known = self._read(keys)
        missing = {k: t for k, t in zip(keys, texts, strict=True) if k not in known}
        if missing:
            vectors = self._encoder.encode_documents(list(missing.values()))
            fresh = dict(zip(missing, vectors, strict=True))
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
            part = wanted[at : at + ROWS]
            marks = ",".join("?" * len(part))
            with self._lock:
                rows = self._db.execute(f"select key, vector from vectors where key in ({marks})", part).fetchall()
            known.update((key, np.frombuffer(blob, dtype=np.float32)) for key, blob in rows)
        return known

    def _write(self, vectors: dict[bytes, Vectors]) -> None:
        rows = [(key, np.ascontiguousarray(v, dtype=np.float32).tobytes()) for key, v in vectors.items()]
        with self._lock, self._db:
            self._db.executemany("insert or replace into vectors values (?, ?)", rows)
