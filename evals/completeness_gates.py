"""Our gate and its comparators as one kind of thing: fitted on some rows, they score others.

A score is higher, the surer a gate is that the direct answer is right. Every gate has its probability and its
threshold by one rule: calibrated on the rows that it is fitted on (Platt), and above the threshold at most `RISK` of
these rows wrong, by the upper bound (`evals.training.gate_calibration`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from evals.completeness_pool import Pool
from evals.training.gate_calibration import FOLDS, Form, calibrate, calibrated_head, folds_of, platt, risk_table
from graphs.completeness.calibrated import KEPT, PARTS, CalibratedModel, sigmoid, threshold_of

RISK = 0.05  # asked: of direct answers at most this share may be wrong
FORMS = (Form(), Form(leaders=False))  # what our gate chooses from
Matrix = NDArray[np.float64]
Positions = Sequence[int] | NDArray[np.int64]


class Fitted(NamedTuple):
    """A fitted gate: score and probability of a row by its position, and the threshold of the probability."""

    score: Callable[[int], float]
    probability: Callable[[int], float]
    theta1: float


class Gate(Protocol):
    """A gate that can be fitted on rows of a pool, which ``groups`` hold together."""

    def fitted(self, pool: Pool, rows: Positions, groups: Sequence[str]) -> Fitted:
        """The gate fitted on these rows."""


@dataclass(frozen=True)
class Ours:
    """The calibrated gate, of whichever form predicts held-out groups best."""

    forms: tuple[Form, ...] = FORMS

    def fitted(self, pool: Pool, rows: Positions, groups: Sequence[str]) -> Fitted:
        """Fitted and calibrated on these rows."""
        examples = [pool.examples[i] for i in rows]
        return as_fitted(calibrate(examples, self.forms, groups=[groups[i] for i in rows]), pool)


def as_fitted(model: CalibratedModel, pool: Pool) -> Fitted:
    """A calibrated model over a pool."""

    def probability(row: int) -> float:
        return model.probability(pool.examples[row].features)

    return Fitted(probability, probability, model.threshold(RISK))


@dataclass(frozen=True)
class ByNumber:
    """A gate that is one number of each row."""

    values: Matrix

    def fitted(self, pool: Pool, rows: Positions, groups: Sequence[str]) -> Fitted:
        """Its probability and threshold by these rows; the score is the number itself."""
        at = np.asarray(rows)
        mean, scale = self.values[at].mean(), self.values[at].std() or 1.0
        slope, offset = platt((self.values[at] - mean) / scale, pool.right[at].astype(float), np.ones(len(at)))

        def probability(row: int) -> float:
            return sigmoid(slope * (self.values[row] - mean) / scale + offset)

        told = [probability(i) for i in at]
        table = risk_table(told, pool.right[at].tolist(), [groups[i] for i in at])
        return Fitted(lambda row: float(self.values[row]), probability, threshold_of(table, RISK))


@dataclass(frozen=True)
class Constant:
    """Retrieve always (0), or never (1)."""

    value: float

    def fitted(self, pool: Pool, rows: Positions, groups: Sequence[str]) -> Fitted:
        """Nothing is fitted."""
        del pool, rows, groups
        return Fitted(lambda _: self.value, lambda _: self.value, 0.5)


@dataclass(frozen=True)
class WholeInput:
    """One small classifier of the whole text; ``values``: (rows, dimension + 1), what it sees of each."""

    values: Matrix
    encoder: str

    def fitted(self, pool: Pool, rows: Positions, groups: Sequence[str]) -> Fitted:
        """Fitted and calibrated on these rows."""
        at = np.asarray(rows)
        head = calibrated_head(self.values[at], pool.right[at].tolist(), [groups[i] for i in at], self.encoder)

        def probability(row: int) -> float:
            return head.probability(self.values[row].tolist())

        return Fitted(probability, probability, head.threshold(RISK))


class Scored(NamedTuple):
    """Every row of a pool by models that saw nothing of its group: score, probability, and whether it goes direct."""

    score: Matrix
    probability: Matrix
    direct: NDArray[np.bool_]


def crossed(gate: Gate, pool: Pool, split: str, seed: int, folds: int = FOLDS) -> Scored:
    """All rows, each scored by the gate fitted on the other folds of a split."""
    groups = pool.groups(split)
    fold = np.array(folds_of(groups, folds, seed))
    score, probability, direct = np.zeros(len(groups)), np.zeros(len(groups)), np.zeros(len(groups), dtype=bool)
    for held in range(folds):
        rows, others = np.flatnonzero(fold == held), np.flatnonzero(fold != held)
        if len(rows) == 0 or len(others) == 0:
            continue
        fitted = gate.fitted(pool, others, groups)
        for i in rows:
            score[i], probability[i] = fitted.score(int(i)), fitted.probability(int(i))
            direct[i] = probability[i] > fitted.theta1
    return Scored(score, probability, direct)


def scored(fitted: Fitted, count: int) -> Scored:
    """All rows by one fitted gate."""
    probability = np.array([fitted.probability(i) for i in range(count)])
    return Scored(np.array([fitted.score(i) for i in range(count)]), probability, probability > fitted.theta1)


def forms_without(part: str) -> tuple[Form, ...]:
    """The forms of our gate without a part: one of the features, what leaders differ by, or confirming findings."""
    if part == "leaders":
        return (Form(leaders=False),)
    if part == "findings":
        return (Form(findings=False), Form(leaders=False))
    names = tuple(n for p in KEPT if p != part for n in PARTS[p])
    return (Form(names=names), Form(names=names, leaders=False))


def forms_with(part: str) -> tuple[Form, ...]:
    """The forms of our gate with a part that is not kept."""
    names = tuple(n for p in (*KEPT, part) for n in PARTS[p])
    return (Form(names=names), Form(names=names, leaders=False))
