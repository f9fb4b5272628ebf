"""Annotated cases in parts: what is trained on, what decides when to stop, and what is measured on, by case."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphs.completeness.annotation import AnnotatedCase
from graphs.completeness.classifier_metrics import Classes, classes_of, folds, group_of
from prompts.errors import InputError

PARTS = 6  # ours: one of six decides when to stop, one is measured on, the others are trained on
FEWEST = 20  # ours: units below which nothing is worth training


class Units(NamedTuple):
    """Units, each beside its case, and their classes."""

    pairs: list[tuple[str, str]]
    classes: Classes


class Split(NamedTuple):
    """Units to train on, to stop by, and to measure on."""

    train: Units
    stop: Units
    test: Units


def split_cases(cases: Sequence[AnnotatedCase], seed: int) -> Split:
    """The parts by case; raises InputError where there is too little to make them of."""
    groups = [group_of(case.id) for case in cases for _ in case.units]
    classes = classes_of([unit.label for case in cases for unit in case.units])
    pairs = [(unit.text, case.text) for case in cases for unit in case.units]
    check_enough(len(pairs), set(groups), classes)
    stop, test, *_ = folds(groups, PARTS, seed)
    return Split(*(_units(pairs, classes, rows) for rows in (~stop & ~test, stop, test)))


def check_enough(units: int, groups: Collection[str], classes: Classes) -> None:
    """Raise InputError where there is too little to make parts of."""
    if units < FEWEST or len(set(classes.tolist())) < 2 or len(groups) < PARTS:
        what = f"{units} units of {len(groups)} cases are too few, or have one label only."
        raise InputError(what, f"Give at least {FEWEST} units of {PARTS} cases, and more than one label.")


def _units(pairs: Sequence[tuple[str, str]], classes: Classes, rows: NDArray[np.bool_]) -> Units:
    return Units([pair for pair, here in zip(pairs, rows, strict=True) if here], classes[rows])
