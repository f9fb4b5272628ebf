"""Vectors in an append-only file that is searched through a memory map, block by block."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from prompts.errors import DataError, InputError
from tools.encoders import Vectors
from tools.indexes.store import StaleReadError

NORM_TOLERANCE = 0.02  # ours: wider than the rounding of renormalised bfloat16 vectors
BLOCK = 8192  # ours: rows compared at a time; 12 MB with the embedded encoder
DECIMALS = 6  # ours: float32 products of one and the same vector differ beyond these with the shape of the block
BYTES = 4  # of a float32
Slots = NDArray[np.int64]
Mask = NDArray[np.bool_]


class VectorFile:
    """Rows of float32, each at its slot; what lies behind the count that the caller keeps is overwritten.

    The file's name carries a generation, so that a reader of the one before is not disturbed by a compaction.

    Args:
        folder, name: the file is ``<name>-<generation>.f32``, mode 0600.
        dimension: columns. first: the slot at which the file begins; what stands before it lies elsewhere.
    """

    def __init__(self, folder: Path, name: str, dimension: int, first: int = 0) -> None:
        self._folder, self._name, self._dimension, self.first = folder, name, dimension, first
        self._mapped: tuple[tuple[int, int], Vectors] | None = None

    def path(self, generation: int) -> Path:
        """The file of a generation."""
        return self._folder / f"{self._name}-{generation}.f32"

    def write(self, generation: int, slot: int, vectors: Vectors) -> None:
        """Put rows from a slot on; at the first one the file begins anew. Not on disk for sure before `sync`."""
        path = self.path(generation)
        path.touch(mode=0o600)
        with path.open("wb" if slot == self.first else "r+b") as file:
            file.seek((slot - self.first) * self._dimension * BYTES)
            file.write(np.ascontiguousarray(vectors, dtype=np.float32).tobytes())
        self._mapped = None

    def sync(self, generation: int) -> None:
        """Wait until the file is on the disk; nothing when there is none."""
        path = self.path(generation)
        if path.exists():
            with path.open("rb") as file:
                os.fsync(file.fileno())

    def rows(self, generation: int, count: int) -> Vectors:
        """The rows up to slot ``count``, (count - first, dimension), read only when they are looked at.

        Raises:
            StaleReadError: this generation is gone. DataError: the file is shorter than that.
        """
        count -= self.first
        if count < 1:
            return np.empty((0, self._dimension), dtype=np.float32)
        if self._mapped is None or self._mapped[0] != (generation, count):
            path = self.path(generation)
            try:
                if path.stat().st_size < count * self._dimension * BYTES:
                    raise DataError(f"{path.name} holds fewer vectors than it should.", "Embed the texts again.")
                mapped = np.memmap(path, dtype=np.float32, mode="r", shape=(count, self._dimension))
            except FileNotFoundError as error:
                raise StaleReadError(path.name) from error
            self._mapped = ((generation, count), mapped)
        return self._mapped[1]

    def keep_only(self, generation: int) -> None:
        """Remove the files of all other generations."""
        for path in self._folder.glob(f"{self._name}-*.f32"):
            if path != self.path(generation):
                path.unlink(missing_ok=True)


def checked(vectors: Vectors, dimension: int) -> Vectors:
    """The matrix (n, dimension) when every row has length 1; else InputError."""
    matrix = np.ascontiguousarray(vectors, dtype=np.float32)
    if matrix.ndim != 2 or matrix.shape[1] != dimension:
        raise InputError(f"The vectors have shape {matrix.shape}.", f"This index takes (n, {dimension}).")
    norms = np.linalg.norm(matrix, axis=1)
    if not bool(np.all(np.abs(norms - 1) <= NORM_TOLERANCE)):  # also refuses what is no number
        raise InputError("Some vectors do not have length 1.", "Normalise them first.")
    return matrix


def checksums(vectors: Vectors) -> list[int]:
    """CRC-32 of the bytes of each row."""
    return [zlib.crc32(row.tobytes()) for row in np.ascontiguousarray(vectors, dtype=np.float32)]


def blocks(count: int) -> Iterator[tuple[int, int]]:
    """(start, end) of blocks of rows."""
    for at in range(0, count, BLOCK):
        yield at, min(at + BLOCK, count)


def nearest(rows: Vectors, admitted: Mask, query: Vectors, k: int) -> tuple[Slots, Vectors]:
    """Slots and cosines of the k rows nearest to one vector, and of every row that ties with the k-th.

    Args:
        rows: (n, dimension). admitted: (n,), which rows count. query: (dimension,).
    """
    slots, scores = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
    for start, end in blocks(len(rows)):
        here = np.flatnonzero(admitted[start:end])
        if not len(here):
            continue
        block = rows[start:end] if len(here) == end - start else rows[start:end][here]
        scored = np.concatenate((scores, np.round(block @ query, DECIMALS)))
        slots, scores = best(np.concatenate((slots, here + start)), scored, k)
    return slots, scores


def best(rows: Slots, scores: Vectors, k: int) -> tuple[Slots, Vectors]:
    """Of some rows and their scores the k best, and all that tie with the k-th, in no order."""
    if 0 < k < len(rows):
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        rows, scores = rows[scores >= least], scores[scores >= least]
    return rows, scores
