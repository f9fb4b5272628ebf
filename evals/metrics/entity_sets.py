"""Set-level precision, recall and F1 of predicted against gold entities (ICA-RAG's metric), for one case and a corpus.

Of a case: two empty sets agree (1, 1, 1); one empty set alone gives 0 for all three. Of a corpus: ``micro`` counts
over all cases, ``mean`` averages the cases. Intervals resample cases.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import numpy as np

from evals.contract import Figure
from evals.statistics import LEVEL, RESAMPLES, mean

METRICS = ("precision", "recall", "f1")
Pair = tuple[AbstractSet[Hashable], AbstractSet[Hashable]]  # predicted, gold


class SetScore(NamedTuple):
    """Each in 0..1."""

    precision: float
    recall: float
    f1: float


def set_score(predicted: AbstractSet[Hashable], gold: AbstractSet[Hashable]) -> SetScore:
    """The score of one case."""
    return _score(len(predicted & gold), len(predicted), len(gold))


def micro_score(pairs: Sequence[Pair]) -> SetScore:
    """The score of the counts over all cases; no entity predicted and none due anywhere agree."""
    return _score(sum(len(p & g) for p, g in pairs), sum(len(p) for p, _ in pairs), sum(len(g) for _, g in pairs))


def set_figures(name: str, pairs: Sequence[Pair], seed: int) -> list[Figure]:
    """``<name>.micro_...`` and ``<name>.mean_...`` in percent, with bootstrap intervals; nothing for no cases."""
    if not pairs:
        return []
    counts = np.array([(len(p & g), len(p), len(g)) for p, g in pairs], dtype=np.int64)
    drawn = np.random.default_rng(seed).integers(0, len(pairs), (RESAMPLES, len(pairs)))
    resampled = [_score(*(int(c) for c in row)) for row in counts[drawn].sum(axis=1)]
    micro = micro_score(pairs)
    tail = 50 * (1 - LEVEL)
    out: list[Figure] = []
    for metric in METRICS:
        low, high = np.percentile([100 * getattr(score, metric) for score in resampled], [tail, 100 - tail])
        value = 100 * getattr(micro, metric)
        out.append(Figure(name=f"{name}.micro_{metric}", value=value, n=len(pairs), ci95=(float(low), float(high))))
    for metric in METRICS:
        out += mean(f"{name}.mean_{metric}", [100 * getattr(set_score(p, g), metric) for p, g in pairs], seed)
    return out


def _score(right: int, predicted: int, gold: int) -> SetScore:
    if predicted == gold == 0:
        return SetScore(1.0, 1.0, 1.0)
    precision = right / predicted if predicted else 0.0
    recall = right / gold if gold else 0.0
    return SetScore(precision, recall, 2 * right / (predicted + gold))
