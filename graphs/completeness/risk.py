"""How often the answers above a threshold are wrong, and the bound below which that share is believed to lie."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np

SURE = 0.95  # ours: confidence of the bound, one-sided
STEPS = 100  # ours: thresholds that are tried, at equal numbers of cases
# ours: the strictest threshold has so many cases above it, as a share and as a number: no bound of fewer is low
FIRST, FEWEST = 0.1, 100


def risk_table(
    scores: Sequence[float], right: Sequence[bool], groups: Sequence[Hashable]
) -> tuple[tuple[float, float], ...]:
    """Thresholds, lowest first, each with an upper bound of the share of wrong cases above it.

    Thresholds are tested from the strictest on, as Learn then Test does in a fixed sequence (Angelopoulos et al. 2021):
    a threshold is given the highest bound of all stricter ones, so that the first that fails ends the row.
    """
    order = np.argsort(-np.asarray(scores), kind="stable")
    ranked = [scores[i] for i in order]
    cuts = sorted({ranked[min(len(ranked) - 1, round(len(ranked) * s / STEPS))] for s in range(1, STEPS + 1)})
    out: list[tuple[float, float]] = []
    highest = 0.0
    for cut in reversed(cuts):
        above = [i for i in order if scores[i] > cut]
        if len(above) >= max(FEWEST, FIRST * len(ranked)):
            highest = max(highest, upper_bound([not right[i] for i in above], [groups[i] for i in above]))
            out.append((cut, highest))
    return tuple(reversed([(math.ceil(p * 1e4) / 1e4, round(bound, 4)) for p, bound in out]))


def upper_bound(wrong: Sequence[bool], groups: Sequence[Hashable]) -> float:
    """Upper bound of a share (Clopper and Pearson 1934), cases of a group counted as alike as they are.

    The number of cases is divided by the design effect: how much more the share varies when groups are drawn.
    """
    from scipy.stats import beta

    n, k = len(wrong), sum(wrong)
    if n == 0 or k == n:
        return 1.0
    share = k / n
    residuals: dict[Hashable, float] = {}
    for w, group in zip(wrong, groups, strict=True):
        residuals[group] = residuals.get(group, 0.0) + (w - share)
    effect = max(1.0, sum(r * r for r in residuals.values()) / (n * share * (1 - share))) if k else n / len(residuals)
    return float(beta.ppf(SURE, k / effect + 1, (n - k) / effect))
