"""The index of one machine: FAISS for vectors (exact inner product), BM25 for words, plain files on disk."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from prompts.errors import DataError, InputError
from tools.encoders import Vectors
from tools.files import REBUILD, locked
from tools.indexes.contract import Entry, Filter, Hit, Manifest
from tools.indexes.generations import checksum, generation_name, publish, read_current, unfinished
from tools.indexes.lexical import Lexicon
from tools.indexes.manifests import FORMAT, SIMILARITY, read_manifest

DEAD_SHARE = 0.5  # ours: rows are compacted when more than half are deleted
NORM_TOLERANCE = 0.02  # ours: wider than the rounding of renormalised bfloat16 vectors
ENTRIES = TypeAdapter(list[Entry])
Rows = NDArray[np.int64]


class LocalIndex:
    """An `tools.indexes.contract.Index` in memory.

    Deleted rows stay as tombstones until they are more than half. BM25 weights depend on all rows, so they are
    computed at the first search by words after a change. Equal scores are ordered by id. Safe to use from threads.

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
        self._alive: list[bool] = []
        self._rows: dict[str, int] = {}
        self._faiss: Any = _flat(dimension)
        self._lexicon: Lexicon | None = None
        self._lexicon_rows: Rows = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        """Number of rows."""
        return len(self._rows)

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
        matrix = self._checked(vectors)
        if len(matrix) != len(entries):
            raise InputError(f"{len(entries)} entries came with {len(matrix)} vectors.", "Give one vector an entry.")
        last = sorted({entry.id: at for at, entry in enumerate(entries)}.values())
        with self._lock:
            self._bury(entries[at].id for at in last)
            for at in last:
                self._rows[entries[at].id] = len(self._entries)
                self._entries.append(entries[at])
                self._alive.append(True)
            if last:
                self._faiss.add(np.ascontiguousarray(matrix[last]))
            self._changed()

    def delete(self, ids: Sequence[str]) -> int:
        """Delete rows by id and say how many there were."""
        with self._lock:
            count = self._bury(ids)
            if count:
                self._changed()
            return count

    def search_text(self, query: str, k: int, where: Filter | None = None) -> list[Hit]:
        """The k best rows by words; rows that share no word with the query are not returned."""
        with self._lock:
            lexicon = self._words()
            scores = lexicon.scores(query)
            admitted = self._admitted(where)
            positions = np.flatnonzero((scores > 0) & admitted[self._lexicon_rows])
            return self._hits(self._lexicon_rows[positions], scores[positions], k)

    def search_vectors(self, vectors: Vectors, k: int, where: Filter | None = None) -> list[list[Hit]]:
        """For each row of ``vectors`` (n, dimension), the k nearest rows by cosine."""
        faiss = _faiss()
        matrix = self._checked(vectors)
        with self._lock:
            admitted = self._admitted(where)
            wanted = min(k, int(admitted.sum()))
            if wanted < 1 or not len(matrix):
                return [[] for _ in matrix]
            bitmap = np.packbits(admitted, bitorder="little")
            selector = faiss.SearchParameters(sel=faiss.IDSelectorBitmap(bitmap))
            fetched, available = wanted, int(admitted.sum())
            while True:
                fetched = min(2 * fetched, available)
                scores, rows = self._faiss.search(matrix, fetched, params=selector)
                if fetched == available or bool(np.all(scores[:, -1] < scores[:, wanted - 1])):
                    return [self._hits(rows[n], scores[n], k) for n in range(len(matrix))]

    def save(self, folder: Path) -> None:
        """Write the index so that a reader sees the old one or the new one, never a part."""
        with self._lock, locked(folder), unfinished(folder) as temporary:
            self._compact()
            vectors = self._faiss.reconstruct_n(0, len(self._entries)) if self._entries else self._empty()
            np.save(temporary / "vectors.npy", np.asarray(vectors, dtype=np.float32), allow_pickle=False)
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
        manifest = read_manifest(folder, raw, encoder_name, dimension)
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
        index._lexicon_rows = np.arange(len(entries))
        index.manifest = manifest
        return index

    def _checked(self, vectors: Vectors) -> Vectors:
        matrix = np.ascontiguousarray(vectors, dtype=np.float32)
        dimension = self.manifest.dimension
        if matrix.ndim != 2 or matrix.shape[1] != dimension:
            raise InputError(f"The vectors have shape {matrix.shape}.", f"This index takes (n, {dimension}).")
        norms = np.linalg.norm(matrix, axis=1)
        if not bool(np.all(np.abs(norms - 1) <= NORM_TOLERANCE)):  # also refuses what is no number
            raise InputError("Some vectors do not have length 1.", "Normalise them first.")
        return matrix

    def _bury(self, ids: Any) -> int:
        rows = [row for row in (self._rows.pop(key, None) for key in ids) if row is not None]
        for row in rows:
            self._alive[row] = False
        return len(rows)

    def _changed(self) -> None:
        self._lexicon = None
        if len(self._entries) - len(self._rows) > DEAD_SHARE * len(self._entries):
            self._compact()
        self.manifest = self.manifest.model_copy(update={"count": len(self._rows), "checksum": ""})

    def _compact(self) -> None:
        if len(self._rows) == len(self._entries):
            return
        rows = sorted(self._rows.values())
        vectors = self._faiss.reconstruct_n(0, len(self._entries))[rows]
        self._entries = [self._entries[row] for row in rows]
        self._rows = {entry.id: row for row, entry in enumerate(self._entries)}
        self._alive = [True] * len(rows)
        self._faiss = _flat(self.manifest.dimension)
        if rows:
            self._faiss.add(vectors)
        self._lexicon = None

    def _words(self) -> Lexicon:
        if self._lexicon is None:
            rows = sorted(self._rows.values())
            self._lexicon = Lexicon([self._entries[row].text for row in rows])
            self._lexicon_rows = np.array(rows, dtype=np.int64)
        return self._lexicon

    def _admitted(self, where: Filter | None) -> NDArray[np.bool_]:
        alive = np.array(self._alive, dtype=bool)
        if where is None or where == Filter():
            return alive
        named = [self._rows[key] for key in where.ids if key in self._rows]
        candidates = named if where.ids else self._rows.values()
        rest = where.model_copy(update={"ids": ()})  # a look-up has settled the ids
        rows = [row for row in candidates if rest.admits(self._entries[row])]
        admitted = np.zeros_like(alive)
        admitted[rows] = True
        return admitted

    def _hits(self, rows: Rows, scores: NDArray[np.float32], k: int) -> list[Hit]:
        if k < len(rows):  # keep every row that ties with the k-th, so that ids decide
            scores_k = np.partition(scores, len(scores) - max(k, 1))[len(scores) - max(k, 1)]
            rows, scores = rows[scores >= scores_k], scores[scores >= scores_k]
        pairs = sorted((-float(s), self._entries[r].id) for r, s in zip(rows.tolist(), scores, strict=True))
        return [Hit(id=key, rank=n, score=-score) for n, (score, key) in enumerate(pairs[: max(k, 0)], 1)]

    def _empty(self) -> Vectors:
        return np.empty((0, self.manifest.dimension), dtype=np.float32)


def _faiss() -> Any:
    import faiss

    return faiss


def _flat(dimension: int) -> Any:
    return _faiss().IndexFlatIP(dimension)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
