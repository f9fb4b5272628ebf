"""How good a ranking is for one question: recovery, reciprocal rank, discounted gain; all in 0..1."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence


def recovered(ids: Sequence[str], gold: Collection[str], depth: int) -> bool:
    """Whether a gold document is among the first ``depth`` (QB-RAG's exact recovery, elsewhere hit@depth)."""
    return any(key in gold for key in ids[:depth])


def reciprocal_rank(ids: Sequence[str], gold: Collection[str], depth: int) -> float:
    """1 / rank of the first gold document among the first ``depth``, else 0."""
    return next((1 / rank for rank, key in enumerate(ids[:depth], 1) if key in gold), 0.0)


def ndcg(ids: Sequence[str], gains: Mapping[str, float], depth: int) -> float:
    """Discounted cumulative gain over that of the best order (Järvelin and Kekäläinen 2002); 0 without any gain.

    Args:
        ids: each document once, best first.
        gains: of the documents that have any, 0 or more.
    """
    best = _discounted(sorted(gains.values(), reverse=True)[:depth])
    return _discounted([gains.get(key, 0.0) for key in ids[:depth]]) / best if best else 0.0


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
