"""Words in common: inverse document frequency, coverage of a query, and BM25 over a small pool."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

Scores = NDArray[np.float64]


def inverse_frequency(bags: Sequence[Collection[str]]) -> dict[str, float]:
    """ln(1 + N / n) of every token, n of the N bags having it.

    Never negative, and equal for all tokens when there is one bag; rank_bm25's own form turns negative in the small
    pools of one question.
    """
    n = Counter(token for bag in bags for token in set(bag))
    return {token: _idf(len(bags), count) for token, count in n.items()}


def coverage(query: Collection[str], bags: Sequence[Collection[str]], weights: Mapping[str, float]) -> Scores:
    """Share of the query's weight that each bag holds, 0..1, shape (len(bags),).

    A token in no bag weighs as much as one in a single bag.
    """
    unknown = _idf(len(bags), 0)
    wanted = {token: weights.get(token, unknown) for token in set(query)}
    total = sum(wanted.values())
    if not total:
        return np.zeros(len(bags))
    return np.array([sum(w for token, w in wanted.items() if token in bag) / total for bag in map(set, bags)])


def bm25(query: Sequence[str], bags: Sequence[Sequence[str]], weights: Mapping[str, float]) -> Scores:
    """BM25 (k1 1.5, b 0.75: rank_bm25's own) of each bag, shape (len(bags),); 0 where no token is shared."""
    if not query or not any(bags):
        return np.zeros(len(bags))
    index = BM25Okapi([list(bag) for bag in bags])
    index.idf = dict(weights)
    scores: Scores = np.asarray(index.get_scores(list(query)), dtype=np.float64)
    return scores


def _idf(total: int, having: int) -> float:
    return math.log(1 + total / max(1, having))
