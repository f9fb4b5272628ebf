"""BM25 of many queries at once over one collection: a product of two sparse matrices instead of a search a query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Lucene's variant, whose weights are never negative, at the library's own defaults (code: bm25s).
METHOD, K1, B = "lucene", 1.5, 0.75
BLOCK = 64  # ours: rows whose largest score stands for them when the best are sought; 16 to 256 are as quick

Scores = NDArray[np.float32]
Places = NDArray[np.int64]


class Hits(NamedTuple):
    """The best rows of each query: the number of the query, the row, its score; by query, best first."""

    query: Places
    row: Places
    score: Scores


class BatchedBM25:
    """BM25 weights of every token in every text, as a sparse matrix (texts, tokens).

    Args:
        bags: the tokens of each text.
    """

    def __init__(self, bags: Sequence[Sequence[str]]) -> None:
        from scipy.sparse import csc_array

        self._count = len(bags)
        self._columns: dict[str, int] = {}
        self._weights: Any = csc_array((self._count, 0), dtype=np.float32)
        if any(bags):
            import bm25s

            model = bm25s.BM25(method=METHOD, k1=K1, b=B)
            model.index([list(bag) for bag in bags], show_progress=False)
            parts = (model.scores["data"], model.scores["indices"], model.scores["indptr"])
            self._columns = {token: n for token, n in model.vocab_dict.items() if token}
            self._weights = csc_array(parts, shape=(self._count, len(parts[2]) - 1))

    def scores(self, queries: Sequence[Sequence[str]]) -> Scores:
        """Array (texts, queries): 0 where no token is shared. A token given twice counts twice."""
        known = [Counter(t for t in query if t in self._columns) for query in queries]
        used = sorted({self._columns[t] for query in known for t in query})
        place = {column: n for n, column in enumerate(used)}
        wanted = np.zeros((len(used), len(queries)), dtype=np.float32)
        for n, query in enumerate(known):
            for token, times in query.items():
                wanted[place[self._columns[token]], n] = times
        found: Scores = self._weights[:, used] @ wanted if used else np.zeros((self._count, len(queries)), np.float32)
        return found


def best_rows(scores: Scores, most: int) -> Hits:
    """At most ``most`` rows a column of an array (rows, queries), those above 0; equal scores by row.

    The ``most``-th largest of the blocks' own largest scores is a bound below which no wanted row lies, so that few
    rows are sorted.
    """
    rows, queries = scores.shape
    bound = np.full(queries, np.finfo(np.float32).tiny, dtype=np.float32)
    whole = rows // BLOCK
    if whole >= most > 0:
        tops = scores[: whole * BLOCK].reshape(whole, BLOCK, queries).max(axis=1)
        bound = np.maximum(bound, np.partition(tops, whole - most, axis=0)[whole - most])
    row, query = np.divmod(np.flatnonzero(scores >= bound), max(1, queries))
    score = scores[row, query]
    order = np.lexsort((row, -score, query))
    query, row, score = query[order], row[order], score[order]
    first = np.searchsorted(query, np.arange(queries))
    kept = np.arange(len(query)) - first[query] < most if len(query) else np.empty(0, dtype=bool)
    return Hits(query[kept], row[kept], score[kept])
