"""The index in memory: every vector compared, BM25 for words, plain files on disk, written whole."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from prompts.errors import DataError, InputError
from tools.encoders import Vectors
from tools.files import REBUILD, locked
from tools.indexes.contract import SIMILARITY, Entry, Filter, Hit, Manifest, check_made_with
from tools.indexes.generations import checksum, generation_name, publish, read_current, unfinished
from tools.indexes.lexical import Lexicon
from tools.indexes.vectors import Mask, best, checked, nearest

FORMAT = 1  # raised with every change of the files
ENTRIES = TypeAdapter(list[Entry])


class LocalIndex:
    """An `tools.indexes.contract.Index` in memory: for some thousands of rows that rarely change.

    Rows lie in the order in which they were added. BM25 weights depend on all rows, so they are computed at the first
    search by words after a change. Equal scores are ordered by id. Safe to use from threads.

    Args:
        encoder: name of the encoder that makes the vectors.
        dimension: columns of the vectors.
    """

    def __init__(self, encoder: str, dimension: int) -> None:
        self.manifest = Manifest(
            format=FORMAT,
            encoder=encoder,
            dimension=dimension,
            similarity=SIMILARITY,
            count=0,
            checksum="",
            built=_now(),
        )
        self._lock = threading.RLock()
        self._entries: list[Entry] = []
        self._rows: dict[str, int] = {}
        self._vectors: Vectors = np.empty((0, dimension), dtype=np.float32)
        self._lexicon: Lexicon | None = None

    def __len__(self) -> int:
        """Number of rows."""
        return len(self._entries)

    def get(self, id: str) -> Entry | None:
        """The row with this id."""
        with self._lock:
            row = self._rows.get(id)
            return None if row is None else self._entries[row]

    def add(self, entries: Sequence[Entry], vectors: Vectors) -> None:
        """Add rows; an id already there is replaced, and of an id given twice the last one stays.

        Args:
            vectors: (len(entries), dimension), L2-normalised; anything else raises InputError and changes nothing.
        """
        matrix = checked(vectors, self.manifest.dimension)
        if len(matrix) != len(entries):
            raise InputError(f"{len(entries)} entries came with {len(matrix)} vectors.", "Give one vector an entry.")
        last = sorted({entry.id: at for at, entry in enumerate(entries)}.values())
        with self._lock:
            self._keep([entries[at].id for at in last])
            self._entries += [entries[at] for at in last]
            self._vectors = np.concatenate((self._vectors, matrix[last]))
            self._changed()

    def delete(self, ids: Sequence[str]) -> int:
        """Delete rows by id and say how many there were."""
        with self._lock:
            count = self._keep(ids)
            if count:
                self._changed()
            return count

    def search_text(self, query: str, k: int, where: Filter | None = None) -> list[Hit]:
        """The k best rows by words; rows that share no word with the query are not returned."""
        with self._lock:
            scores = self._words().scores(query)
            found = np.flatnonzero((scores > 0) & self._admitted(where))
            return self._hits(found, scores[found], k)

    def search_vectors(self, vectors: Vectors, k: int, where: Filter | None = None) -> list[list[Hit]]:
        """For each row of ``vectors`` (n, dimension), the k nearest rows by cosine."""
        matrix = checked(vectors, self.manifest.dimension)
        with self._lock:
            admitted = self._admitted(where)
            return [self._hits(*nearest(self._vectors, admitted, query, max(k, 1)), k) for query in matrix]

    def save(self, folder: Path) -> None:
        """Write the index so that a reader sees the old one or the new one, never a part."""
        with self._lock, locked(folder), unfinished(folder) as temporary:
            np.save(temporary / "vectors.npy", self._vectors, allow_pickle=False)
            (temporary / "entries.json").write_bytes(ENTRIES.dump_json(self._entries))
            self._words().save(temporary / "bm25")
            manifest = self.manifest.model_copy(update={"checksum": checksum(temporary), "built": _now()})
            name = generation_name(manifest.checksum, manifest.built)
            publish(folder, temporary, name, manifest.model_dump_json(indent=1).encode())
            self.manifest = manifest

    @classmethod
    def load(cls, folder: Path, encoder_name: str, dimension: int) -> LocalIndex:
        """Read an index back.

        Raises:
            DataError: there is none, it is damaged, of another format, or made with another encoder.
        """
        return read_current(folder, lambda manifest: cls._read(folder, manifest, encoder_name, dimension))

    @classmethod
    def _read(cls, folder: Path, raw: bytes, encoder_name: str, dimension: int) -> LocalIndex:
        try:
            manifest = Manifest.model_validate(json.loads(raw))
        except (ValueError, ValidationError) as error:
            raise DataError(f"The manifest of the index {folder.name} is damaged.", "Build the index again.") from error
        check_made_with(manifest, folder.name, encoder_name, dimension, FORMAT)
        files = folder / generation_name(manifest.checksum, manifest.built)
        if not files.is_dir():
            raise FileNotFoundError(files)
        if checksum(files) != manifest.checksum:
            raise DataError(f"The index {folder.name} is damaged.", REBUILD)
        index = cls(manifest.encoder, manifest.dimension)
        try:
            entries = ENTRIES.validate_json((files / "entries.json").read_bytes())
            index.add(entries, np.load(files / "vectors.npy", allow_pickle=False))
        except (ValueError, InputError) as error:
            raise DataError(f"The index {folder.name} cannot be read.", REBUILD) from error
        if len(index) != manifest.count:
            raise DataError(f"The index {folder.name} holds another number of rows than it says.", REBUILD)
        index._lexicon = Lexicon.load(files / "bm25", len(entries))
        index.manifest = manifest
        return index

    def _keep(self, without: Sequence[str]) -> int:
        """Take rows out; how many there were."""
        gone = {self._rows[key] for key in without if key in self._rows}
        if gone:
            kept = [row for row in range(len(self._entries)) if row not in gone]
            self._entries, self._vectors = [self._entries[row] for row in kept], self._vectors[kept]
        return len(gone)

    def _changed(self) -> None:
        self._rows = {entry.id: row for row, entry in enumerate(self._entries)}
        self._lexicon = None
        self.manifest = self.manifest.model_copy(update={"count": len(self._entries), "checksum": ""})

    def _words(self) -> Lexicon:
        if self._lexicon is None:
            self._lexicon = Lexicon([entry.text for entry in self._entries])
        return self._lexicon

    def _admitted(self, where: Filter | None) -> Mask:
        admitted = np.ones(len(self._entries), dtype=bool)
        if where is not None and where != Filter():
            named = [self._rows[key] for key in where.ids if key in self._rows]
            rest = where.model_copy(update={"ids": ()})  # a look-up has settled the ids
            rows = [row for row in (named if where.ids else range(len(admitted))) if rest.admits(self._entries[row])]
            admitted[:] = False
            admitted[rows] = True
        return admitted

    def _hits(self, rows: NDArray[np.int64], scores: Vectors, k: int) -> list[Hit]:
        rows, scores = best(rows, scores, k)
        pairs = sorted((-float(s), self._entries[r].id) for r, s in zip(rows.tolist(), scores, strict=True))
        return [Hit(id=key, rank=n, score=-score) for n, (score, key) in enumerate(pairs[: max(k, 0)], 1)]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
