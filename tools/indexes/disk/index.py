"""A collection on one machine, open for search by words, by vector and by both, under filters, and for changes."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from prompts.errors import DataError, InputError
from tools.encoders import Vectors
from tools.files import locked
from tools.fusion import reciprocal_rank_fusion
from tools.indexes.contract import Entry, Filter, Hit
from tools.indexes.disk.changes import ChangeFile, Changes
from tools.indexes.disk.columns import Columns
from tools.indexes.disk.layout import (
    AGAIN,
    CHANGES,
    COLUMNS,
    READ_WHOLE,
    ROWS,
    WORDS,
    DiskManifest,
    checksum_of,
    read_disk_manifest,
)
from tools.indexes.disk.near import best, nearest_in
from tools.indexes.disk.rows import DiskRows
from tools.indexes.disk.words import DiskWords
from tools.indexes.generations import generation_name, publish, read_current, unfinished
from tools.indexes.vectors import DECIMALS, Mask, checked
from tools.text.tokens import tokens

MANY_CHANGES = 0.05  # ours: share of changed rows from which the collection should be built again


class DiskIndex:
    """A `tools.indexes.contract.CollectionIndex` of memory-mapped files.

    Opening checks the sizes of the files, and every byte of a small collection; `verify` reads every byte of any. What
    is added or deleted later is kept beside the files at once, and each search compares all of it: it is meant to be
    little. Equal scores are ordered by id. Safe to use from threads.
    """

    def __init__(self, folder: Path, generation: Path, manifest: DiskManifest) -> None:
        self._folder, self._generation, self._built = folder, generation, manifest
        self._rows = DiskRows(generation / ROWS)
        self._columns = Columns(generation / COLUMNS)
        self._words = DiskWords(generation / WORDS, manifest.rows, manifest.count, manifest.tokens)
        self._near = nearest_in(generation, manifest)
        self._file = ChangeFile(generation / CHANGES, manifest.dimension)
        self._lock = threading.RLock()
        self._changes = self._file.current(None)
        self._passing: tuple[Filter, int, Mask] | None = None

    @classmethod
    def open(cls, folder: Path, encoder: str, dimension: int) -> DiskIndex:
        """Open an index.

        Raises:
            DataError: there is none, it is damaged, of another format, or made with another encoder.
        """
        return read_current(folder, lambda raw: cls._opened(folder, raw, encoder, dimension))

    @property
    def manifest(self) -> DiskManifest:
        """What the index says about itself; without a checksum once it was changed."""
        changes = self._current()
        return (
            self._built.model_copy(update={"count": self._count(changes), "checksum": ""}) if changes else self._built
        )

    @property
    def wants_rebuild(self) -> bool:
        """Whether so much was changed that building again is worth its time."""
        changes = self._current()
        return len(changes.ids) + len(changes.gone) > MANY_CHANGES * max(self._built.count, 1)

    def __len__(self) -> int:
        """Number of rows."""
        return self._count(self._current())

    def get(self, id: str) -> Entry | None:
        """The row with this id."""
        changes = self._current()
        found = self._rows.get(id)
        stored = found[1] if found is not None and not changes.took(found[0]) else None
        return changes.get(id) or stored

    def add(self, entries: Sequence[Entry], vectors: Vectors) -> None:
        """Add rows; an id already there is replaced, and of an id given twice the last one stays.

        Args:
            vectors: (len(entries), dimension), L2-normalised; anything else raises InputError and changes nothing.
        """
        matrix = checked(vectors, self._built.dimension)
        if len(matrix) != len(entries):
            raise InputError(f"{len(entries)} entries came with {len(matrix)} vectors.", "Give one vector an entry.")
        last = sorted({entry.id: at for at, entry in enumerate(entries)}.values())
        chosen = [entries[at] for at in last]
        if chosen:
            self._check_current()
            self._file.add(chosen, matrix[last], self._rows.numbers([entry.id for entry in chosen]).values())

    def delete(self, ids: Sequence[str]) -> int:
        """Delete rows by id and say how many there were."""
        self._check_current()
        wanted = list(dict.fromkeys(ids))
        return self._file.delete(wanted, self._rows.numbers(wanted).values()) if wanted else 0

    def search_text(self, query: str, k: int, where: Filter | None = None) -> list[Hit]:
        """The k best rows by words; rows that share no word with the query are not returned."""
        words = tokens(query)
        if k < 1 or not words:
            return []
        changes = self._current()
        numbers = self._rows.words(list(dict.fromkeys(words)))
        if changes:
            scores, fresh = self._words.scores_with(words, numbers, changes)
        else:
            scores = self._words.scores([numbers[word] for word in words if word in numbers])
            fresh = np.empty(0, dtype=np.float32)
        found = np.flatnonzero(scores)
        if changes or where is not None or self._built.rows > self._built.count:
            found = found[self._admitted(where, changes)[found]]
        return self._hits(found, scores[found], np.where(fresh > 0, fresh, np.nan), k, where, changes)

    def search_vectors(self, vectors: Vectors, k: int, where: Filter | None = None) -> list[list[Hit]]:
        """For each row of ``vectors`` (n, dimension), the k nearest rows by cosine."""
        matrix = checked(vectors, self._built.dimension)
        if k < 1:
            return [[] for _ in matrix]
        changes = self._current()
        passing = self._admitted(where, changes)
        return [self._nearest(query, k, where, changes, passing) for query in matrix]

    def search_hybrid(
        self, query: str, vector: Vectors, k: int, where: Filter | None = None, *, pool: int, rrf_k: int
    ) -> list[Hit]:
        """The k best by reciprocal rank fusion of the ``pool`` best by words and by vector; equal scores by id.

        Args:
            vector: (dimension,), L2-normalised. rrf_k: the constant of the fusion.
        """
        streams = {
            "words": [hit.id for hit in self.search_text(query, pool, where)],
            "vectors": [hit.id for hit in self.search_vectors(np.asarray(vector)[None], pool, where)[0]],
        }
        fused = sorted(reciprocal_rank_fusion(streams, rrf_k), key=lambda one: (-one.score, one.id))
        return [Hit(id=one.id, rank=n, score=one.score) for n, one in enumerate(fused[: max(k, 0)], 1)]

    def save(self, folder: Path) -> None:
        """Write a copy, at one instant. In its own folder the index is saved after every change."""
        if folder.resolve() == self._folder.resolve():
            return
        with locked(folder), unfinished(folder) as temporary:
            shutil.copytree(
                self._generation, temporary, dirs_exist_ok=True, ignore=shutil.ignore_patterns(f"{CHANGES}*")
            )
            self._file.copy_to(temporary / CHANGES)
            built = datetime.now(UTC).isoformat(timespec="microseconds")
            manifest = self._built.model_copy(update={"built": built})
            name = generation_name(manifest.checksum, built)
            publish(folder, temporary, name, manifest.model_dump_json(indent=1).encode())

    def verify(self) -> None:
        """Read every file and compare with the manifest's checksum; raises DataError when they differ."""
        if checksum_of(self._generation, self._built.sizes) != self._built.checksum:
            raise DataError(f"The index {self._folder.name} is damaged.", AGAIN)

    @classmethod
    def _opened(cls, folder: Path, raw: bytes, encoder: str, dimension: int) -> DiskIndex:
        manifest = read_disk_manifest(folder, raw, encoder, dimension)
        generation = folder / generation_name(manifest.checksum, manifest.built)
        for name, size in manifest.sizes.items():
            if (generation / name).stat().st_size != size:
                raise DataError(f"{name} of the index {folder.name} is damaged.", AGAIN)
        small = sum(manifest.sizes.values()) <= READ_WHOLE
        if small and checksum_of(generation, manifest.sizes) != manifest.checksum:
            raise DataError(f"The index {folder.name} is damaged.", AGAIN)
        try:
            return cls(folder, generation, manifest)
        except (ValueError, KeyError, TypeError, EOFError, RuntimeError) as error:  # numpy and faiss on damaged files
            raise DataError(f"The index {folder.name} cannot be read.", AGAIN) from error

    def _current(self) -> Changes:
        with self._lock:
            self._changes = self._file.current(self._changes)
            return self._changes

    def _check_current(self) -> None:
        if not self._generation.is_dir():
            raise DataError(f"The index {self._folder.name} was built again since it was opened.", "Open it again.")

    def _count(self, changes: Changes) -> int:
        return self._built.count - len(changes.gone) + len(changes.ids)

    def _admitted(self, where: Filter | None, changes: Changes) -> Mask:
        """(rows,), which stored rows may be returned; the last answer is kept."""
        where = where or Filter()
        kept = self._passing
        if kept is not None and kept[:2] == (where, changes.version):
            return kept[2]
        mask = self._columns.passing(where)
        mask[changes.gone] = False
        if where.ids:
            named = np.zeros_like(mask)
            named[list(self._rows.numbers(where.ids).values())] = True
            mask &= named
        self._passing = (where, changes.version, mask)
        return mask

    def _nearest(self, query: Vectors, k: int, where: Filter | None, changes: Changes, passing: Mask) -> list[Hit]:
        rows, scores = self._near.find(query, k, passing)
        return self._hits(rows, scores, np.round(changes.matrix @ query, DECIMALS), k, where, changes)

    def _hits(
        self,
        rows: NDArray[np.int64],
        scores: Vectors,
        fresh: Vectors,
        k: int,
        where: Filter | None,
        changes: Changes,
    ) -> list[Hit]:
        """The k best of stored rows and of fresh ones, whose scores are ``fresh`` (no number: not found)."""
        chosen, kept = best(rows, scores, self._columns.ranks, k)
        pairs = [(-score, name) for name, score in zip(self._rows.ids(chosen), kept, strict=True)]
        for place in np.flatnonzero(~np.isnan(fresh)).tolist():
            entry = changes.entry(place)
            if where is None or where.admits(entry):
                pairs.append((-float(fresh[place]), entry.id))
        return [Hit(id=name, rank=n, score=-score) for n, (score, name) in enumerate(sorted(pairs)[:k], 1)]
