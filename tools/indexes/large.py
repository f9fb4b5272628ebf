"""An index for millions of vectors: compressed codes and exact vectors on disk, memory-mapped, tuned by measurement.

It holds vectors and ids alone. Texts, dates and other fields of the documents are looked up by id where they lie.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from prompts.errors import DataError, InputError
from tools.encoders import Vectors
from tools.files import locked
from tools.indexes.compressed.build import Block, Builder, Progress
from tools.indexes.compressed.plan import FORMAT, BuildSettings, LargeManifest, checksum_of
from tools.indexes.compressed.rows import Rows, StoredRows, fingerprint, unit_rows
from tools.indexes.compressed.searching import Effort, Searcher
from tools.indexes.compressed.updates import Updates
from tools.indexes.contract import SIMILARITY, Filter, Hit
from tools.indexes.generations import generation_name, read_current
from tools.indexes.vectors import DECIMALS, Mask, best

AGAIN = "Run `anamnesis embeddings import` again."
FEW = 20_000  # ours: rows that pass up to which all of them are compared; 15 MB are read at 384 dimensions
MORE = 4  # ours: times as many candidates are asked for when those at hand do not settle the best
MANY_FRESH = 0.05  # ours: share of fresh rows from which the index should be built again


class LargeIndex:
    """A finished index, open for search, and for updates that are kept as tombstones and a few fresh rows.

    Opening maps files and checks their sizes; `verify` reads every byte. Safe to use from threads.
    """

    def __init__(self, folder: Path, generation: Path, manifest: LargeManifest) -> None:
        self.manifest = manifest
        self._folder, self._generation = folder, generation
        self._searcher = Searcher(generation, manifest.dimension)
        self._updates = Updates.load(generation, manifest.dimension)
        self._effort = Effort(manifest.nprobe, manifest.candidates)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Number of rows that can be found."""
        return self.manifest.count - len(self._updates.deleted) + len(self._updates.fresh)

    @property
    def fresh(self) -> int:
        """Rows added or replaced since the index was built; each search compares them all."""
        return len(self._updates.fresh)

    @property
    def rows(self) -> StoredRows:
        """The stored rows, without the updates."""
        return self._searcher.rows

    @property
    def searcher(self) -> Searcher:
        """The search in the stored rows, without the updates."""
        return self._searcher

    @property
    def effort(self) -> Effort:
        """How hard the tuned index is searched."""
        return self._effort

    @property
    def wants_rebuild(self) -> bool:
        """Whether so much has changed that `rebuild` is worth its time."""
        return self.fresh + len(self._updates.deleted) > MANY_FRESH * max(self.manifest.count, 1)

    @classmethod
    def open(cls, folder: Path, encoder_name: str, dimension: int) -> LargeIndex:
        """Open an index.

        Raises:
            DataError: there is none, it is damaged, of another format, or made with another encoder.
        """
        return read_current(folder, lambda raw: cls._opened(folder, raw, encoder_name, dimension))

    @classmethod
    def build(
        cls,
        folder: Path,
        blocks: Iterable[Block],
        *,
        encoder: str,
        dimension: int,
        source: str,
        settings: BuildSettings | None = None,
        progress: Progress | None = None,
        total: int = 0,
        questions: Vectors | None = None,
    ) -> LargeIndex:
        """Build, or go on with, the index of a collection in bounded memory; see `Builder.run`."""
        builder = Builder(folder, encoder, dimension, settings or BuildSettings(), progress)
        builder.run(blocks, source, total=total, questions=questions)
        return cls.open(folder, encoder, dimension)

    def search_vectors(self, vectors: Vectors, k: int, where: Filter | None = None) -> list[list[Hit]]:
        """For each row of ``vectors`` (n, dimension), the k nearest ids by cosine; equal scores by id.

        Args:
            where: only ids can be filtered on here; those named are compared exactly.

        Raises:
            InputError: vectors of another shape or of no length, or a filter on what this index does not hold.
        """
        matrix = self._checked(vectors)
        if where is not None and where != Filter(ids=where.ids):
            raise InputError("This index holds ids and vectors alone.", "Filter by other fields where the texts lie.")
        updates = self._updates
        if where is not None and where.ids:
            return [self._among(query, where.ids, k, updates) for query in matrix]
        return [self._nearest(query, k, updates) for query in matrix]

    def nearest(self, query: Vectors, k: int, passing: Mask) -> tuple[Rows, Vectors]:
        """Stored rows and cosines of the k nearest to a query among those that pass, and of all that tie with the k-th.

        A filter is held inside the search of the codes; lists are added until enough rows that pass are found.

        Args:
            query: (dimension,), of unit length. passing: (rows,).
        """
        count, lists = int(np.count_nonzero(passing)), self._searcher.plan.nlist
        if count <= max(FEW, k):
            return self._compared(np.flatnonzero(passing), query)
        among = None if count == len(passing) else np.packbits(passing, bitorder="little")
        effort = Effort(self._effort.nprobe, min(max(self._effort.candidates, 2 * k), count))
        while True:
            found = self._searcher.candidates(query, effort, among)
            if len(found) < effort.candidates and effort.nprobe < lists:
                effort = Effort(min(2 * effort.nprobe, lists), effort.candidates)
                continue
            if len(found) < effort.candidates:  # a graph over the lists does not reach every one of them
                return self._compared(np.flatnonzero(passing), query)
            rows, scores = self._compared(found, query)
            settled = len(scores) > k and best(rows, scores, k)[1].min() > scores.min()  # none left out can tie
            if effort.candidates >= count or settled:
                return rows, scores
            effort = Effort(effort.nprobe, min(MORE * effort.candidates, count))

    def _compared(self, rows: Rows, query: Vectors) -> tuple[Rows, Vectors]:
        return rows, np.round(self._searcher.rows.gather(rows) @ query, DECIMALS)

    def add(self, ids: Sequence[str], vectors: Vectors) -> None:
        """Add or replace rows, kept at once; for more than some thousands build the index again.

        Raises InputError for another shape, an unusable id, or a vector without direction.
        """
        matrix = np.asarray(vectors, dtype=np.float32)
        if matrix.shape != (len(ids), self.manifest.dimension) or any(name.split() != [name] for name in ids):
            raise InputError("Ids and vectors do not fit.", f"One row of {self.manifest.dimension} a non-empty id.")
        put = dict(zip(ids, unit_rows(matrix, ids), strict=True)) if len(ids) else {}
        with self._lock, locked(self._folder):
            self._change(put, ())

    def delete(self, ids: Sequence[str]) -> int:
        """Delete rows by id and say how many there were."""
        with self._lock, locked(self._folder):
            before = len(self)
            self._change({}, ids)
            return before - len(self)

    def rebuild(self, settings: BuildSettings | None = None, progress: Progress | None = None) -> LargeIndex:
        """Fold the updates in: a new generation of the same folder, tuned again. This one stays as it is."""
        marks = fingerprint(self.manifest.checksum, *self._updates.names, str(len(self._updates.deleted)))
        return LargeIndex.build(
            self._folder,
            self._current_blocks(settings or BuildSettings()),
            encoder=self.manifest.encoder,
            dimension=self.manifest.dimension,
            source=f"rebuild:{marks}",
            settings=settings,
            progress=progress,
            total=len(self),
        )

    def verify(self) -> None:
        """Read every file and compare with the manifest's checksum; raises DataError when they differ."""
        if checksum_of(self._generation, self.manifest.sizes) != self.manifest.checksum:
            raise DataError(f"The index {self._folder.name} is damaged.", AGAIN)

    @classmethod
    def _opened(cls, folder: Path, raw: bytes, encoder_name: str, dimension: int) -> LargeIndex:
        manifest = read_large_manifest(folder, raw)
        if (manifest.encoder, manifest.dimension) != (encoder_name, dimension):
            raise DataError(
                f"The index {folder.name} was made with {manifest.encoder} ({manifest.dimension} dimensions), "
                f"not with {encoder_name} ({dimension}).",
                "Choose that encoder again, or import the vectors of this one.",
            )
        generation = folder / generation_name(manifest.checksum, manifest.built)
        for name, size in manifest.sizes.items():
            if (generation / name).stat().st_size != size:
                raise DataError(f"{name} of the index {folder.name} is damaged.", AGAIN)
        try:
            return cls(folder, generation, manifest)
        except (ValueError, KeyError, TypeError, RuntimeError) as error:  # numpy and faiss on damaged files
            raise DataError(f"The index {folder.name} cannot be read.", AGAIN) from error

    def _change(self, put: dict[str, Vectors], drop: Sequence[str]) -> None:
        if not self._generation.is_dir():
            raise DataError(f"The index {self._folder.name} was built again since it was opened.", "Open it again.")
        self._updates = Updates.load(self._generation, self.manifest.dimension)  # another process may have written
        found = [self._searcher.rows.find(name) for name in (*put, *drop)]
        after = self._updates.changed(put, drop, [row for row in found if row is not None])
        after.save(self._generation)
        self._updates = after

    def _nearest(self, query: Vectors, k: int, updates: Updates) -> list[Hit]:
        if k < 1:
            return []
        without = updates.deleted if len(updates.deleted) else None
        rows, scores = self._searcher.search(query, k, self._effort, without)
        pairs = [(float(score), self._searcher.rows.name(row)) for row, score in zip(rows, scores, strict=True)]
        return _hits(pairs + self._fresh(query, updates), k)

    def _among(self, query: Vectors, ids: Sequence[str], k: int, updates: Updates) -> list[Hit]:
        gone = set(updates.deleted.tolist())
        stored = {name: row for name in ids if (row := self._searcher.rows.find(name)) is not None and row not in gone}
        scores = self._searcher.rows.gather(np.array(list(stored.values()), dtype=np.int64)) @ query
        pairs = [(float(score), name) for name, score in zip(stored, scores, strict=True)]
        return _hits(pairs + [p for p in self._fresh(query, updates) if p[1] in set(ids)], k)

    def _fresh(self, query: Vectors, updates: Updates) -> list[tuple[float, str]]:
        if not updates.fresh:
            return []
        return list(zip((updates.matrix @ query).tolist(), updates.names, strict=True))

    def _checked(self, vectors: Vectors) -> Vectors:
        matrix = np.asarray(vectors, dtype=np.float32)
        if matrix.ndim != 2 or matrix.shape[1] != self.manifest.dimension:
            raise InputError(
                f"The vectors have shape {matrix.shape}.", f"This index takes (n, {self.manifest.dimension})."
            )
        return unit_rows(matrix, [f"query {n}" for n in range(1, len(matrix) + 1)])

    def _current_blocks(self, settings: BuildSettings) -> Iterator[Block]:
        rows = self._searcher.rows
        gone = np.union1d(rows.dead, self._updates.deleted)
        for at in range(0, len(rows), settings.block):
            numbers = np.setdiff1d(np.arange(at, min(at + settings.block, len(rows))), gone)
            if len(numbers):
                yield f"stored-{at}", partial(_stored, rows, numbers)
        if self._updates.fresh:
            yield "fresh", partial(_fresh_rows, self._updates)


def read_large_manifest(folder: Path, raw: bytes) -> LargeManifest:
    """The manifest of a large index; raises DataError for damage or another format."""
    try:
        manifest = LargeManifest.model_validate_json(raw)
    except ValidationError as error:
        raise DataError(f"The manifest of the index {folder.name} is damaged.", AGAIN) from error
    if manifest.format != FORMAT or manifest.similarity != SIMILARITY:
        raise DataError(f"The index {folder.name} has format {manifest.format}, not {FORMAT}.", AGAIN)
    return manifest


def _stored(rows: StoredRows, numbers: Rows) -> tuple[list[str], Vectors]:
    return [rows.name(row) for row in numbers], rows.gather(numbers)


def _fresh_rows(updates: Updates) -> tuple[list[str], Vectors]:
    return updates.names, updates.matrix


def _hits(pairs: list[tuple[float, Any]], k: int) -> list[Hit]:
    best = sorted(pairs, key=lambda pair: (-pair[0], pair[1]))[:k]
    return [Hit(id=name, rank=n, score=score) for n, (score, name) in enumerate(best, 1)]
