"""How good labels are, how classes weigh against each other, and the split that keeps a case on one side."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphs.completeness.classifier import LABELS, Probabilities
from graphs.completeness.contract import Label

Classes = NDArray[np.int64]
FACTORS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0)  # ours: what A and B may weigh against C
LEVEL_MARK = "@"  # what follows it in an id is a shortening of the case before it


def classes_of(labels: Sequence[Label]) -> Classes:
    """Array (units,): positions in `LABELS`."""
    return np.array([LABELS.index(label) for label in labels], dtype=np.int64)


def f1_by_class(said: Classes, true: Classes) -> NDArray[np.float64]:
    """Array (3,): F1 of A, B and C, 0..1; of a class that neither has, 0."""
    both = np.bincount(true[said == true], minlength=len(LABELS))
    due = np.bincount(said, minlength=len(LABELS)) + np.bincount(true, minlength=len(LABELS))
    scores: NDArray[np.float64] = np.divide(2.0 * both, due, out=np.zeros(len(LABELS)), where=due > 0)
    return scores


def macro_f1(said: Classes, true: Classes) -> float:
    """The mean of the F1 of the classes, 0..1."""
    return float(f1_by_class(said, true).mean())


def chosen(probabilities: Probabilities, weights: Probabilities) -> Classes:
    """Array (units,): the class whose weighed probability is largest."""
    best: Classes = (probabilities * weights).argmax(axis=1)
    return best


def best_weights(probabilities: Probabilities, true: Classes) -> Probabilities:
    """Array (3,): the weights, C's being 1, with the best macro-F1; the smallest of equals.

    ``probabilities`` must be of units that were not trained on.
    """
    pairs = sorted(itertools.product(FACTORS, FACTORS), key=sum)
    options = [np.array([a, b, 1.0]) for a, b in pairs]
    return max(options, key=lambda weights: macro_f1(chosen(probabilities, weights), true))


def class_weights(classes: Classes) -> list[float]:
    """Weights of A, B and C in the loss: by the root of how rare a label is (ours: in full, rare ones shout)."""
    counts = np.bincount(classes, minlength=len(LABELS))
    weights = np.sqrt(len(classes) / np.maximum(counts, 1))
    return [float(weight) for weight in weights / weights.mean()]


def measured(said: Classes, true: Classes) -> dict[str, float]:
    """What a card tells of labels: macro-F1, F1 of each, units, macro-F1 of the commonest label."""
    commonest = np.full_like(true, np.bincount(true, minlength=len(LABELS)).argmax())
    by_class = {f"f1_{label.value}": score for label, score in zip(LABELS, f1_by_class(said, true), strict=True)}
    told = {"macro_f1": macro_f1(said, true), **by_class, "majority_macro_f1": macro_f1(commonest, true)}
    return {name: round(float(value), 4) for name, value in told.items()} | {"units": float(len(true))}


def group_of(case_id: str) -> str:
    """The case that an id is a shortening of: ``patient-7`` of ``patient-7@50``."""
    return case_id.partition(LEVEL_MARK)[0]


def folds(groups: Sequence[str], count: int, seed: int) -> list[NDArray[np.bool_]]:
    """For each fold an array (rows,) that is True where a row belongs to it; a group is in one fold whole.

    Groups are dealt out by the seed, larger ones first, each to the fold with the fewest rows.
    """
    names = sorted(set(groups))
    random.Random(seed).shuffle(names)  # noqa: S311
    sizes = dict.fromkeys(names, 0)
    for group in groups:
        sizes[group] += 1
    rows, of = [0] * count, {}
    for name in sorted(names, key=lambda name: -sizes[name]):
        fold = rows.index(min(rows))
        of[name] = fold
        rows[fold] += sizes[name]
    numbers = np.array([of[group] for group in groups])
    return [numbers == fold for fold in range(count)]
