"""The gates' figures with intervals: patients are drawn again, all levels of one together, the same for every gate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evals.completeness_gates import Scored
from evals.completeness_pool import Pool
from evals.contract import Figure
from evals.metrics.selective import aurc, auroc, bin_of, calibration_error, share_of
from evals.statistics import LEVEL

DRAWS = 2000  # ours: resamples; the ends of the intervals move by about 0.1 points with the seed
PERCENT = 100.0

Matrix = NDArray[np.float64]
Measure = Callable[[Matrix], Matrix]


class Setting:
    """Some rows of a pool, measured together.

    Args:
        name: in the figures' names. at: positions of the rows in the pool. seed: of the draws.
    """

    def __init__(self, name: str, pool: Pool, at: Sequence[int] | NDArray[np.int64], seed: int) -> None:
        self.name, self.at = name, np.asarray(at, dtype=np.int64)
        self._right, self._retrieve = pool.right[self.at], pool.retrieve_right[self.at]
        ids = [pool.rows[i].case.id for i in self.at]
        patients = {p: n for n, p in enumerate(dict.fromkeys(ids))}
        where = np.array([patients[p] for p in ids], dtype=np.int64)
        rng = np.random.default_rng(seed)
        count = len(patients)
        drawn = rng.multinomial(count, np.full(count, 1 / count), DRAWS) if count else np.zeros((DRAWS, 0), np.int64)
        self._weights = np.vstack([np.ones(len(ids)), drawn[:, where]]).astype(np.float64)

    def measures(self, scored: Scored) -> dict[str, Measure]:
        """The measures of a gate, each of weights."""
        score, told, direct = scored.score[self.at], scored.probability[self.at], scored.direct[self.at]
        every = np.ones(len(self.at), dtype=bool)
        answered = np.where(direct, self._right, self._retrieve)
        return {
            "accuracy": lambda w: PERCENT * share_of(answered, every, w),
            "retrieval_rate": lambda w: PERCENT * share_of(~direct, every, w),
            "wrong_enough": lambda w: PERCENT * share_of(~self._right, direct, w),
            "auroc": lambda w: auroc(score, self._right, w),
            "aurc": lambda w: aurc(score, self._right, w),
            "ece": lambda w: calibration_error(told, self._right, w),
        }

    def figures(self, gate: str, scored: Scored) -> list[Figure]:
        """Every figure of a gate; those that nothing is behind are left out."""
        if len(self.at) == 0:
            return []
        named = [(m, f(self._weights)) for m, f in self.measures(scored).items()]
        if gate in ("always", "never"):
            named = [(m, v) for m, v in named if m in ("accuracy", "retrieval_rate", "wrong_enough", "aurc")]
        return [
            f for m, v in named for f in self._figure(f"{gate}.{self.name}.{m}", v, _counted(m, scored.direct[self.at]))
        ]

    def over(self, name: str, ours: Scored, other: Scored, measures: Sequence[str]) -> list[Figure]:
        """How much better the first gate is than the second: paired differences, positive where the first is better."""
        first, second = self.measures(ours), self.measures(other)
        out: list[Figure] = []
        for m in measures if len(self.at) else ():
            better = first[m](self._weights) - second[m](self._weights)
            out += self._figure(f"{name}.{self.name}.{m}", -better if m in ("aurc", "ece") else better, len(self.at))
        return out

    def reliability(self, gate: str, scored: Scored) -> list[Figure]:
        """In each bin of the probability: its mean, and the share of direct answers that are right."""
        told, out = scored.probability[self.at], []
        bins = bin_of(told)
        for b in sorted(set(bins.tolist())):
            inside = bins == b
            mean = PERCENT * (self._weights @ (told * inside)) / np.maximum(self._weights @ inside.astype(float), 1e-9)
            name, n = f"{gate}.{self.name}_bin_{b}", int(inside.sum())
            out += self._figure(f"{name}.probability", mean, n)
            out += self._figure(f"{name}.right", PERCENT * share_of(self._right, inside, self._weights), n)
        return out

    def _figure(self, name: str, values: Matrix, n: int) -> list[Figure]:
        if n == 0 or np.isnan(values[0]):
            return []
        low, high = np.nanpercentile(values[1:], [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
        return [Figure(name=name, value=float(values[0]), n=n, ci95=(float(low), float(high)))]


def _counted(measure: str, direct: NDArray[np.bool_]) -> int:
    return int(direct.sum()) if measure == "wrong_enough" else len(direct)


def compared_gates(setting: Setting, scored: Mapping[str, Scored]) -> list[Figure]:
    """The figures of every gate in a setting, and what ``ours`` is over each other one."""
    ours = scored["ours"]
    if len(setting.at) == 0:
        return []
    out = [f for name, s in scored.items() for f in setting.figures(name, s)]
    for name, other in scored.items():
        if name in ("always", "never"):
            out += setting.over(f"ours_over_{name}", ours, other, ["accuracy"])
        elif name != "ours":
            out += setting.over(f"ours_over_{name}", ours, other, ["auroc", "aurc"])
    return out
