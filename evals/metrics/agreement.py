"""Agreement of raters, and of a judge with people: shares, kappas and correlations with bootstrap intervals."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np

from evals.contract import Figure
from evals.statistics import LEVEL

RESAMPLES = 2000  # ours: a rank correlation of thousands of pairs is too slow for more
FEWEST = 3  # ours: pairs below which a correlation says nothing


def cohen(first: Sequence[object], second: Sequence[object]) -> float | None:
    """Cohen's kappa (1960) of two raters of the same items; None where chance alone agrees always.

    Raises:
        ValueError: the raters rated different numbers of items, or none.
    """
    n = len(first)
    if not n:
        raise ValueError("no item was rated")
    seen = sum(a == b for a, b in zip(first, second, strict=True)) / n
    left, right = Counter(first), Counter(second)
    chance = sum(left[label] * right[label] for label in left) / n**2
    return None if chance == 1 else (seen - chance) / (1 - chance)


def fleiss(items: Sequence[Sequence[object]]) -> float | None:
    """Fleiss' kappa (1971) of items that equally many raters labelled; None where chance alone agrees always.

    Raises:
        ValueError: no items, fewer than two labels an item, or not equally many.
    """
    raters = {len(labels) for labels in items}
    if len(raters) != 1 or (each := raters.pop()) < 2:
        raise ValueError("every item needs equally many labels, two at least")
    counts = [Counter(labels) for labels in items]
    seen = sum((sum(c * c for c in count.values()) - each) / (each * (each - 1)) for count in counts) / len(items)
    totals = sum(counts, Counter[object]())
    chance = sum((total / (each * len(items))) ** 2 for total in totals.values())
    return None if chance == 1 else (seen - chance) / (1 - chance)


def correlation(
    name: str, kind: Literal["spearman", "pearson"], first: Sequence[float], second: Sequence[float], seed: int
) -> list[Figure]:
    """A correlation with a paired bootstrap interval; nothing where a side does not vary or pairs are too few."""
    if len(first) < FEWEST or len(set(first)) < 2 or len(set(second)) < 2:
        return []
    pairs = np.array(list(zip(first, second, strict=True)), dtype=np.float64)
    rng = np.random.default_rng(seed)
    drawn = [_of(kind, pairs[rng.integers(0, len(pairs), len(pairs))]) for _ in range(RESAMPLES)]
    low, high = np.nanpercentile(drawn, [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    return [Figure(name=name, value=_of(kind, pairs), n=len(pairs), ci95=(float(low), float(high)))]


def _of(kind: str, pairs: np.ndarray) -> float:
    """NaN for a resample in which a side does not vary."""
    from scipy.stats import rankdata

    left, right = pairs.T
    if kind == "spearman":
        left, right = rankdata(left), rankdata(right)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        with np.errstate(all="ignore"):
            return float(np.corrcoef(left, right)[0, 1])
