"""The rows nearest to a vector, of all that pass a filter: every one compared, or candidates of a compressed index."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tools.encoders import Vectors
from tools.indexes.compressed.searching import Effort, Searcher
from tools.indexes.disk.layout import LARGE, VECTORS, ArrayFile, DiskManifest
from tools.indexes.large import LargeIndex
from tools.indexes.vectors import DECIMALS, Mask, Slots, nearest

FEW = 20_000  # ours: rows that pass up to which all of them are compared; 15 MB are read at 384 dimensions
MORE = 4  # ours: times as many candidates are asked for when those at hand do not settle the best


class Nearest(Protocol):
    """Search among the stored vectors."""

    def find(self, query: Vectors, k: int, passing: Mask) -> tuple[Slots, Vectors]:
        """Rows and cosines of the k nearest among those that pass, and of every row that ties with the k-th.

        Args:
            query: (dimension,), of unit length. passing: (rows,).
        """


class EveryVector:
    """All vectors compared, in single precision.

    Args:
        vectors: (rows, dimension), memory-mapped.
    """

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors

    def find(self, query: Vectors, k: int, passing: Mask) -> tuple[Slots, Vectors]:
        """See `Nearest`."""
        return nearest(self._vectors, passing, query, k)


class Compressed:
    """Candidates from the compressed codes, compared on the stored vectors in half precision.

    A filter is held inside the search of the codes; lists are added until enough rows that pass are found.

    Args:
        searcher, effort: of the finished `tools.indexes.large.LargeIndex`.
    """

    def __init__(self, searcher: Searcher, effort: Effort) -> None:
        self._searcher, self._effort = searcher, effort

    def find(self, query: Vectors, k: int, passing: Mask) -> tuple[Slots, Vectors]:
        """See `Nearest`."""
        count = int(np.count_nonzero(passing))
        if count <= max(FEW, k):
            return self._compared(np.flatnonzero(passing), query)
        among = None if count == len(passing) else np.packbits(passing, bitorder="little")
        effort = Effort(self._effort.nprobe, min(max(self._effort.candidates, 2 * k), count))
        lists = self._searcher.plan.nlist
        while True:
            found = self._searcher.candidates(query, effort, among)
            if len(found) < effort.candidates and effort.nprobe < lists:
                effort = Effort(min(2 * effort.nprobe, lists), effort.candidates)
                continue
            if len(found) < effort.candidates:  # a graph over the lists does not reach every one of them
                return self._compared(np.flatnonzero(passing), query)
            rows, scores = self._compared(found, query)
            if effort.candidates >= count or _settled(scores, k):
                return rows, scores
            effort = Effort(effort.nprobe, min(MORE * effort.candidates, count))

    def _compared(self, rows: Slots, query: Vectors) -> tuple[Slots, Vectors]:
        return rows, np.round(self._searcher.rows.gather(rows) @ query, DECIMALS)


def nearest_in(generation: Path, manifest: DiskManifest) -> Nearest:
    """The search of a finished index, by the files that it has."""
    if (generation / LARGE).is_dir():
        large = LargeIndex.open(generation / LARGE, manifest.encoder, manifest.dimension)
        return Compressed(large.searcher, large.effort)
    return EveryVector(ArrayFile(generation / VECTORS, np.float32, manifest.dimension).mapped(manifest.rows))


def _settled(scores: Vectors, k: int) -> bool:
    """Whether the k-th best score is above the worst: no row left out can tie with it for all that is known."""
    return len(scores) > k and bool(np.partition(scores, len(scores) - k)[len(scores) - k] > scores.min())


def best(rows: Slots, scores: Vectors, ranks: NDArray[np.int32], k: int) -> tuple[list[int], list[float]]:
    """The k best rows and their scores, best first; equal scores by the rank of the id.

    Args:
        rows, scores: (n,). ranks: of all rows.
    """
    if 0 < k < len(rows):
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        rows, scores = rows[scores >= least], scores[scores >= least]
    order = np.lexsort((ranks[rows], -scores))[:k]
    return rows[order].tolist(), scores[order].tolist()
