"""The baseline of the built graph: Bernoulli naive Bayes over evidence codes, add-one smoothing (Laplace)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

SMOOTHING = 1.0  # the textbook's add-one


class NaiveBayes:
    """Conditions by their evidences. An evidence that no training row has says nothing.

    Args:
        rows: (condition, evidences with their values) of each training row.
    """

    def __init__(self, rows: Sequence[tuple[str, Collection[str]]]) -> None:
        self.conditions = tuple(dict.fromkeys(condition for condition, _ in rows))
        self._column = {code: i for i, code in enumerate(dict.fromkeys(c for _, codes in rows for c in codes))}
        present = np.zeros((len(self.conditions), len(self._column)))
        count = np.zeros(len(self.conditions))
        for condition, codes in rows:
            at = self.conditions.index(condition)
            count[at] += 1
            present[at, [self._column[c] for c in set(codes)]] += 1
        rate = (present + SMOOTHING) / (count[:, None] + 2 * SMOOTHING)
        self._yes, self._no = np.log(rate), np.log(1 - rate)
        self._prior = np.log(count / count.sum())

    def rank(self, evidences: Collection[str]) -> list[tuple[str, float]]:
        """(condition, probability), most probable first."""
        there = np.zeros(len(self._column), dtype=bool)
        there[[self._column[c] for c in evidences if c in self._column]] = True
        log = self._prior + np.where(there, self._yes, self._no).sum(axis=1)
        share = np.exp(log - log.max())
        share /= share.sum()
        return [(self.conditions[i], float(share[i])) for i in np.argsort(-share, kind="stable")]
