"""Intervals and tests, all from scipy. Shares are in percent, seeds are given, intervals are at 95 %."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from evals.contract import Figure

LEVEL = 0.95  # ours: every interval
RESAMPLES = 9999  # ours: scipy's own default
BATCH = 500  # ours: resamples held in memory at once

Interval = tuple[float, float]


def wilson(successes: int, n: int) -> Interval:
    """Wilson's score interval of a proportion, in 0..1 (Wilson 1927)."""
    from scipy.stats import binomtest

    interval = binomtest(successes, n).proportion_ci(confidence_level=LEVEL, method="wilson")
    return float(interval.low), float(interval.high)


def bootstrap_mean(values: Sequence[float], seed: int) -> Interval:
    """Percentile bootstrap interval of a mean; of a single value, that value twice."""
    return _bootstrap(values, np.mean, seed)


def _bootstrap(values: Sequence[float], statistic: Callable[..., object], seed: int) -> Interval:
    from scipy.stats import bootstrap

    if len(values) < 2:
        return float(values[0]), float(values[0])
    done = bootstrap(
        (np.asarray(values, dtype=np.float64),),
        statistic,
        n_resamples=RESAMPLES,
        batch=BATCH,
        confidence_level=LEVEL,
        method="percentile",
        rng=np.random.default_rng(seed),
    )
    return float(done.confidence_interval.low), float(done.confidence_interval.high)


def exact_mcnemar(
    first: Sequence[bool], second: Sequence[bool], alternative: Literal["two-sided", "greater"] = "two-sided"
) -> float:
    """p of McNemar's exact test: a binomial test on the pairs of which just one is right.

    ``greater`` asks whether ``first`` is right more often. Without such a pair p is 1.
    """
    from scipy.stats import binomtest

    pairs = list(zip(first, second, strict=True))
    only_first = sum(a and not b for a, b in pairs)
    only_second = sum(b and not a for a, b in pairs)
    if only_first + only_second == 0:
        return 1.0
    return float(binomtest(only_first, only_first + only_second, 0.5, alternative=alternative).pvalue)


def wilcoxon(first: Sequence[float], second: Sequence[float]) -> float:
    """p of Wilcoxon's signed-rank test that ``first`` is greater, one-sided; 1 where no pair differs."""
    from scipy.stats import wilcoxon as signed_rank

    differences = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    if not differences.any():
        return 1.0
    return float(signed_rank(differences, alternative="greater").pvalue)


def share(name: str, hits: Sequence[bool]) -> list[Figure]:
    """The share of hits in percent with Wilson's interval; nothing for no rows."""
    if not hits:
        return []
    low, high = wilson(sum(hits), len(hits))
    ci95 = (100 * low, 100 * high)
    return [Figure(name=name, value=100 * sum(hits) / len(hits), n=len(hits), ci95=ci95)]


def clustered_share(name: str, clusters: Sequence[Sequence[bool]], seed: int) -> list[Figure]:
    """The share of hits among rows that come in clusters (the statements of one answer), in percent.

    Whole clusters are drawn for the interval, so that rows which stand or fall together do not count as independent.
    Where every row hits, or none, a bootstrap has nothing to draw: then it is Wilson's interval over clusters, each
    counted once. ``n`` is rows; nothing for no rows.
    """
    held = [cluster for cluster in clusters if cluster]
    if not held:
        return []
    pairs = np.array([(sum(cluster), len(cluster)) for cluster in held], dtype=np.float64)
    hits, n = int(pairs[:, 0].sum()), int(pairs[:, 1].sum())
    if hits in (0, n):
        low, high = (100 * end for end in wilson(len(held) if hits else 0, len(held)))
    else:
        sums = pairs[np.random.default_rng(seed).integers(0, len(held), (RESAMPLES, len(held)))].sum(axis=1)
        low, high = np.percentile(100 * sums[:, 0] / sums[:, 1], [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    return [Figure(name=name, value=100 * hits / n, n=n, ci95=(float(low), float(high)))]


def mean(name: str, values: Sequence[float], seed: int) -> list[Figure]:
    """The mean with a bootstrap interval; nothing for no rows."""
    if not values:
        return []
    return [Figure(name=name, value=float(np.mean(values)), n=len(values), ci95=bootstrap_mean(values, seed))]


def median(name: str, values: Sequence[float], seed: int) -> list[Figure]:
    """The median with a percentile bootstrap interval; nothing for no rows."""
    if not values:
        return []
    ci95 = _bootstrap(values, np.median, seed)
    return [Figure(name=name, value=float(np.median(values)), n=len(values), ci95=ci95)]


def quantile(name: str, values: Sequence[float], share: float, seed: int) -> list[Figure]:
    """A quantile (``share`` in 0..1) with a percentile bootstrap interval; nothing for no rows."""
    if not values:
        return []
    drawn = np.random.default_rng(seed).integers(0, len(values), (RESAMPLES, len(values)))
    resampled = np.quantile(np.asarray(values, dtype=np.float64)[drawn], share, axis=1)
    low, high = np.percentile(resampled, [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    return [Figure(name=name, value=float(np.quantile(values, share)), n=len(values), ci95=(float(low), float(high)))]


def paired_difference(name: str, first: Sequence[float], second: Sequence[float], seed: int) -> list[Figure]:
    """The mean of ``first - second`` over the same rows with a paired bootstrap interval; nothing for no rows."""
    return mean(name, [a - b for a, b in zip(first, second, strict=True)], seed)


def paired_ratio(name: str, first: Sequence[float], second: Sequence[float], seed: int) -> list[Figure]:
    """The mean of ``first`` as percent of the mean of ``second`` over the same rows, with a paired bootstrap interval.

    Nothing for no rows, or where ``second`` is 0 everywhere.
    """
    if not first or not any(second):
        return []
    pairs = np.array(list(zip(first, second, strict=True)), dtype=np.float64)
    drawn = np.random.default_rng(seed).integers(0, len(pairs), (RESAMPLES, len(pairs)))
    sums = pairs[drawn].sum(axis=1)
    ratios = 100 * sums[:, 0] / np.where(sums[:, 1] > 0, sums[:, 1], np.nan)
    low, high = np.nanpercentile(ratios, [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    value = 100 * pairs[:, 0].sum() / pairs[:, 1].sum()
    return [Figure(name=name, value=float(value), n=len(pairs), ci95=(float(low), float(high)))]
