"""The two steps of a search: candidates from the codes, then exact scores on the stored vectors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tools.encoders import Vectors
from tools.indexes.compressed.lists import open_flat, open_lists
from tools.indexes.compressed.rows import Rows, StoredRows
from tools.indexes.compressed.training import QUANTISERS, Components, Plan, load_plan

Scores = NDArray[np.float32]


@dataclass(frozen=True)
class Effort:
    """How hard to search: lists looked into, and candidates scored again."""

    nprobe: int
    candidates: int


class Searcher:
    """Search in a finished folder, without updates. Safe to use from threads.

    Args:
        folder: with rows, plan and lists.
        dimension: of the vectors.
    """

    def __init__(self, folder: Path, dimension: int) -> None:
        self.rows = StoredRows(folder, dimension)
        self.plan: Plan
        self._components: Components
        self.plan, self._components = load_plan(folder)
        flat = self.plan.kind == "flat"
        self._index: Any = open_flat(folder) if flat else open_lists(folder, folder / QUANTISERS)
        self._replaced = self.rows.dead if flat else self.rows.dead[:0]  # in lists they were never coded

    @property
    def code_size(self) -> int:
        """Bytes of one vector's code."""
        return int(self._index.sa_code_size() if self.plan.kind == "flat" else self._index.code_size)

    def candidates(self, query: Vectors, effort: Effort, among: NDArray[np.uint8] | None = None) -> Rows:
        """Row numbers for one query (dimension,), nearest first as far as the codes tell.

        Args:
            among: a bit for each row, the lowest first: whether it may be a candidate.
        """
        import faiss

        given = {} if among is None else {"sel": faiss.IDSelectorBitmap(among)}
        if self.plan.kind == "flat":
            most = min(effort.candidates, max(len(self.rows), 1))
            found = self._index.search(query[None], most, params=faiss.SearchParameters(**given))[1][0]
        else:
            reduced = self._components.apply(query[None])
            chosen = faiss.SearchParametersIVF(nprobe=effort.nprobe, **given)
            found = self._index.search(reduced, effort.candidates, params=chosen)[1][0]
        near: Rows = found[found >= 0]
        return near

    def search(self, query: Vectors, k: int, effort: Effort, without: Rows | None = None) -> tuple[Rows, Scores]:
        """The k best rows for one query (dimension,), with their cosines, best first; equal ones by row.

        Args:
            without: rows not to return, beside those replaced by a later one of the same id.
        """
        without = self._replaced if without is None else np.union1d(self._replaced, without)
        effort = Effort(effort.nprobe, max(effort.candidates, k))
        while True:
            found = self.candidates(query, effort)
            kept = found[~np.isin(found, without)] if len(without) else found
            if len(kept) >= k or len(found) < effort.candidates:
                break
            effort = Effort(effort.nprobe, 4 * effort.candidates)  # many deleted rows: look further
        scores = self.rows.gather(kept) @ query
        order = np.lexsort((kept, -scores))[:k]
        return kept[order], scores[order]


def exact(rows: StoredRows, queries: Vectors, k: int, block: int) -> Rows:
    """The k nearest rows of each query, every stored vector compared: (len(queries), k), -1 where there are fewer."""
    best = np.full((len(queries), k), -np.inf, dtype=np.float32)
    names = np.full((len(queries), k), -1, dtype=np.int64)
    for start, vectors in rows.blocks(block):
        scores = queries @ vectors.T
        dead = rows.dead[(rows.dead >= start) & (rows.dead < start + len(vectors))] - start
        scores[:, dead] = -np.inf
        top = np.argpartition(-scores, min(k, len(vectors)) - 1, axis=1)[:, :k]
        best = np.concatenate([best, np.take_along_axis(scores, top, axis=1)], axis=1)
        names = np.concatenate([names, top + start], axis=1)
        top = np.argpartition(-best, k - 1, axis=1)[:, :k]
        best, names = np.take_along_axis(best, top, axis=1), np.take_along_axis(names, top, axis=1)
    order = np.argsort(-best, axis=1, kind="stable")
    found: Rows = np.where(np.isneginf(np.take_along_axis(best, order, 1)), -1, np.take_along_axis(names, order, 1))
    return found
