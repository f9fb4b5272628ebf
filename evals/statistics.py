"""Intervals and tests, from scipy and numpy. Shares are in percent, seeds are given, intervals are at 95 %."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evals.contract import Figure

LEVEL = 0.95  # ours: every interval
TAILS = (50 * (1 - LEVEL), 50 * (1 + LEVEL))  # the same in percentiles
RESAMPLES = 9999  # ours: scipy's own default
BATCH = 500  # ours: resamples held in memory at once
COVERAGES = (25, 50, 75, 100)  # ours: percent of the rows, the surest first
CURVES = 2000  # ours: resamples of a curve; the ends of its interval move by about 0.1 points with the seed
METRICS = ("precision", "recall", "f1")

Interval = tuple[float, float]
Numbers = NDArray[np.float64]
SetPair = tuple[AbstractSet[Hashable], AbstractSet[Hashable]]  # predicted, gold
Pairs = Sequence[tuple[str, str | None]]
"""Gold and what was said; None where nothing was."""


def wilson(successes: int, n: int) -> Interval:
    """Wilson's score interval of a proportion, in 0..1 (Wilson 1927)."""
    from scipy.stats import binomtest

    interval = binomtest(successes, n).proportion_ci(confidence_level=LEVEL, method="wilson")
    return float(interval.low), float(interval.high)


def ends(drawn: Any) -> Interval:
    """The percentile interval of resampled values; those that are not numbers are left out."""
    low, high = np.nanpercentile(drawn, TAILS)
    return float(low), float(high)


def bootstrap_mean(values: Sequence[float], seed: int) -> Interval:
    """Percentile bootstrap interval of a mean; of a single value, that value twice."""
    return _bootstrap(values, np.mean, seed)


def _bootstrap(values: Sequence[float], statistic: Callable[..., object], seed: int) -> Interval:
    from scipy.stats import bootstrap

    if len(values) < 2:
        return float(values[0]), float(values[0])
    rows = (np.asarray(values, dtype=np.float64),)
    how: dict[str, Any] = {"n_resamples": RESAMPLES, "batch": BATCH, "confidence_level": LEVEL, "method": "percentile"}
    done = bootstrap(rows, statistic, rng=np.random.default_rng(seed), **how)
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
    return float(signed_rank(differences, alternative="greater").pvalue) if differences.any() else 1.0


def share(name: str, hits: Sequence[bool]) -> list[Figure]:
    """The share of hits in percent with Wilson's interval; nothing for no rows."""
    if not hits:
        return []
    low, high = wilson(sum(hits), len(hits))
    return [Figure(name=name, value=100 * sum(hits) / len(hits), n=len(hits), ci95=(100 * low, 100 * high))]


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
        low, high = wilson(len(held) if hits else 0, len(held))
        ci95 = (100 * low, 100 * high)
    else:
        sums = _drawn(pairs, seed)
        ci95 = ends(100 * sums[:, 0] / sums[:, 1])
    return [Figure(name=name, value=100 * hits / n, n=n, ci95=ci95)]


def _drawn(rows: Numbers, seed: int) -> Numbers:
    """Array (resamples, columns): sums over rows drawn with replacement."""
    places = np.random.default_rng(seed).integers(0, len(rows), (RESAMPLES, len(rows)))
    return np.asarray(rows[places].sum(axis=1))


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
    ci95 = ends(np.quantile(np.asarray(values, dtype=np.float64)[drawn], share, axis=1))
    return [Figure(name=name, value=float(np.quantile(values, share)), n=len(values), ci95=ci95)]


def paired_difference(name: str, first: Sequence[float], second: Sequence[float], seed: int) -> list[Figure]:
    """The mean of ``first - second`` over the same rows with a paired bootstrap interval; nothing for no rows."""
    return mean(name, [a - b for a, b in zip(first, second, strict=True)], seed)


def points(name: str, first: Sequence[bool], second: Sequence[bool], seed: int) -> list[Figure]:
    """The same of two shares, in points of percent."""
    return paired_difference(name, [100.0 * a for a in first], [100.0 * b for b in second], seed)


def paired_ratio(name: str, first: Sequence[float], second: Sequence[float], seed: int) -> list[Figure]:
    """The mean of ``first`` as percent of the mean of ``second`` over the same rows, with a paired bootstrap interval.

    Nothing for no rows, or where ``second`` is 0 everywhere.
    """
    if not first or not any(second):
        return []
    pairs = np.array(list(zip(first, second, strict=True)), dtype=np.float64)
    sums = _drawn(pairs, seed)
    ratios = 100 * sums[:, 0] / np.where(sums[:, 1] > 0, sums[:, 1], np.nan)
    value = 100 * pairs[:, 0].sum() / pairs[:, 1].sum()
    return [Figure(name=name, value=float(value), n=len(pairs), ci95=ends(ratios))]


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

    def discounted(found: Sequence[float]) -> float:
        return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(found, 1))

    best = discounted(sorted(gains.values(), reverse=True)[:depth])
    return discounted([gains.get(key, 0.0) for key in ids[:depth]]) / best if best else 0.0


class SetScore(NamedTuple):
    """Set-level precision, recall and F1 of predicted against gold entities (ICA-RAG's metric), each in 0..1."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, right: float, predicted: float, gold: float) -> SetScore:
        """Two empty sets agree (1, 1, 1); one empty set alone gives 0 for all three."""
        if predicted == gold == 0:
            return cls(1.0, 1.0, 1.0)
        precision, recall = right / predicted if predicted else 0.0, right / gold if gold else 0.0
        return cls(precision, recall, 2 * right / (predicted + gold))


def set_score(predicted: AbstractSet[Hashable], gold: AbstractSet[Hashable]) -> SetScore:
    """The score of one case."""
    return SetScore.of(len(predicted & gold), len(predicted), len(gold))


def micro_score(pairs: Sequence[SetPair]) -> SetScore:
    """The score of the counts over all cases; no entity predicted and none due anywhere agree."""
    return SetScore.of(sum(len(p & g) for p, g in pairs), sum(len(p) for p, _ in pairs), sum(len(g) for _, g in pairs))


def set_figures(name: str, pairs: Sequence[SetPair], seed: int) -> list[Figure]:
    """``<name>.micro_...`` over the counts of all cases and ``<name>.mean_...`` over cases, in percent.

    Intervals resample cases; nothing for no cases.
    """
    if not pairs:
        return []
    counts = np.array([(len(p & g), len(p), len(g)) for p, g in pairs], dtype=np.float64)
    resampled = [SetScore.of(*row) for row in _drawn(counts, seed).tolist()]
    micro = micro_score(pairs)
    out: list[Figure] = []
    for metric in METRICS:
        ci95 = ends([100 * getattr(score, metric) for score in resampled])
        out.append(Figure(name=f"{name}.micro_{metric}", value=100 * getattr(micro, metric), n=len(pairs), ci95=ci95))
    for metric in METRICS:
        out += mean(f"{name}.mean_{metric}", [100 * getattr(set_score(p, g), metric) for p, g in pairs], seed)
    return out


def paired_set_difference(name: str, first: Sequence[SetPair], second: Sequence[SetPair], seed: int) -> list[Figure]:
    """``first`` less ``second`` over the same cases, in points of each micro metric; intervals resample cases.

    Nothing for no cases.
    """
    if not first:
        return []
    rows = zip(first, second, strict=True)
    counts = np.array([(len(p & g), len(p), len(g), len(q & h), len(q), len(h)) for (p, g), (q, h) in rows], float)

    def difference(sums: Sequence[float], metric: str) -> float:
        left, right = (float(getattr(SetScore.of(*part), metric)) for part in (sums[:3], sums[3:]))
        return 100 * (left - right)

    drawn, whole = _drawn(counts, seed).tolist(), counts.sum(axis=0).tolist()
    return [
        Figure(
            name=f"{name}.{metric}",
            value=difference(whole, metric),
            n=len(first),
            ci95=ends([difference(sums, metric) for sums in drawn]),
        )
        for metric in METRICS
    ]


def macro_f1(
    name: str, pairs: Pairs, labels: Sequence[str], seed: int, groups: Sequence[Hashable] | None = None
) -> list[Figure]:
    """Macro F1 over the labels in percent; whatever else is said is wrong for its label. Nothing for no rows.

    Without an interval where every draw gives the same (nothing is right, or all are one group): it would look sure.

    Args:
        groups: what each row hangs together with; the bootstrap draws whole groups. Without it every row by itself.
    """
    if not pairs:
        return []
    own: Sequence[Hashable] = range(len(pairs)) if groups is None else groups
    place = {group: at for at, group in enumerate(dict.fromkeys(own))}
    counts = np.zeros((len(place), len(labels), 2))  # rightly said, and are or are said to be (twice if both)
    for (gold, said), group in zip(pairs, own, strict=True):
        for at, label in enumerate(labels):
            counts[place[group], at] += (gold == label == said, (gold == label) + (said == label))

    def scores(sums: Numbers) -> Numbers:
        right, either = sums[..., 0], sums[..., 1]
        f1 = np.divide(2 * right, either, out=np.zeros_like(right), where=either > 0)
        return np.asarray(100 * f1.mean(axis=-1))

    rng = np.random.default_rng(seed)
    sizes = [(min(BATCH, RESAMPLES - done), len(counts)) for done in range(0, RESAMPLES, BATCH)]
    drawn = np.concatenate([scores(counts[rng.integers(0, len(counts), size)].sum(axis=1)) for size in sizes])
    low, high = ends(drawn)
    value = float(scores(counts.sum(axis=0)[None])[0])
    return [Figure(name=name, value=value, n=len(pairs), ci95=(low, high) if low < high else None)]


def risk_coverage(name: str, rows: Sequence[tuple[float, bool]], seed: int) -> list[Figure]:
    """The risk-coverage curve: ``risk@N`` is the share of wrong rows, in percent, among the surest N percent of all.

    ``aurc`` is the area under the whole curve in percent, lower is better, with a percentile bootstrap interval.

    Args:
        rows: how sure, higher is surer, and whether it is right; what says nothing is as unsure as can be, and wrong.
    """
    if not rows:
        return []
    wrong = [not right for _, right in sorted(rows, key=lambda row: -row[0])]
    kept = {percent: wrong[: math.ceil(len(wrong) * percent / 100)] for percent in COVERAGES}
    out = [f for percent, some in kept.items() for f in share(f"{name}.risk@{percent}", some)]
    scores, right = np.array([p for p, _ in rows]), np.array([r for _, r in rows])
    rng = np.random.default_rng(seed)
    sizes = [min(BATCH, CURVES - done) for done in range(0, CURVES, BATCH)]
    drawn = [rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=size) for size in sizes]
    areas = np.concatenate([100 * aurc(scores, right, weights.astype(np.float64)) for weights in drawn])
    (area,) = 100 * aurc(scores, right, np.ones((1, len(rows))))
    return [*out, Figure(name=f"{name}.aurc", value=float(area), n=len(rows), ci95=ends(areas))]


def aurc(scores: Numbers, right: NDArray[np.bool_], weights: Numbers) -> Numbers:
    """Array (resamples,): area under the risk-coverage curve (Geifman and El-Yaniv 2017), lower is better.

    The mean, over rows from the highest score down, of the share of wrong rows among those at least as high.
    """
    count = grouped(-scores, weights)
    wrong, total = np.cumsum(grouped(-scores, weights * ~right), axis=1), np.cumsum(count, axis=1)
    risk = np.divide(wrong, total, out=np.zeros_like(wrong), where=total > 0)
    area: Numbers = (count * risk).sum(axis=1) / count.sum(axis=1)
    return area


def grouped(scores: Numbers, values: Numbers) -> Numbers:
    """Array (resamples, distinct scores): values summed over rows of equal score, lowest score first."""
    order = np.argsort(scores, kind="stable")
    ranked = scores[order]
    starts = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
    sums: Numbers = np.add.reduceat(values[:, order], starts, axis=1)
    return sums
