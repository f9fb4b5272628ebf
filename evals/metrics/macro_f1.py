"""Macro-F1 of labels over three classes, in percent; intervals resample patients, whose units hang together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evals.contract import Figure
from evals.statistics import LEVEL
from evals.training.gate_labellers import Classes, macro_f1
from graphs.completeness.labellers import LABELS

RESAMPLES = 2000  # ours: enough for two digits of an interval's ends
Counts = NDArray[np.float64]


def macro_figure(name: str, said: Classes, true: Classes, groups: Sequence[str], seed: int) -> list[Figure]:
    """Macro-F1 in percent; n is the units, the interval is by group; nothing for no units."""
    if not len(true):
        return []
    drawn = _drawn(_counts(said, true, groups), seed)
    return [Figure(name=name, value=100 * macro_f1(said, true), n=len(true), ci95=_interval(drawn))]


def macro_difference(
    name: str, first: Classes, second: Classes, true: Classes, groups: Sequence[str], seed: int
) -> list[Figure]:
    """Macro-F1 of the first less that of the second in points, paired: both over the same resampled groups."""
    if not len(true):
        return []
    drawn = _drawn(_counts(first, true, groups), seed) - _drawn(_counts(second, true, groups), seed)
    value = 100 * (macro_f1(first, true) - macro_f1(second, true))
    return [Figure(name=name, value=value, n=len(true), ci95=_interval(drawn))]


def _counts(said: Classes, true: Classes, groups: Sequence[str]) -> Counts:
    """Array (groups, 2, 3): for each class the units that both have, and those that each has, summed."""
    place = {name: n for n, name in enumerate(dict.fromkeys(groups))}
    rows = np.array([place[group] for group in groups])
    out = np.zeros((len(place), 2, len(LABELS)))
    same = said == true
    both, due = out[:, 0], out[:, 1]
    np.add.at(both, (rows[same], true[same]), 1)
    np.add.at(due, (rows, said), 1)
    np.add.at(due, (rows, true), 1)
    return out


def _drawn(counts: Counts, seed: int) -> Counts:
    """Array (resamples,): macro-F1 of groups drawn with replacement; the same groups for the same seed."""
    random = np.random.default_rng(seed)
    times = random.multinomial(len(counts), np.full(len(counts), 1 / len(counts)), RESAMPLES).astype(np.float64)
    both, due = (times @ counts[:, part] for part in (0, 1))
    scores: Counts = np.divide(2 * both, due, out=np.zeros_like(due), where=due > 0).mean(axis=1)
    return scores


def _interval(drawn: Counts) -> tuple[float, float]:
    tail = 50 * (1 - LEVEL)
    low, high = np.percentile(100 * drawn, [tail, 100 - tail])
    return float(low), float(high)
