"""Folds by group, macro-F1, and the weights of labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.training.gate_labellers import best_weights, chosen, f1_by_class, folds, macro_f1


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=60), st.integers(1, 5), st.integers(0, 3))
def test_folds_hold_every_row_once_and_groups_whole(groups: list[str], count: int, seed: int) -> None:
    found = np.array(folds(groups, count, seed))
    assert (found.sum(axis=0) == 1).all()
    for group in set(groups):
        rows = found[:, [g == group for g in groups]]
        assert (rows.any(axis=1) == rows.all(axis=1)).all()


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40))
def test_macro_f1_is_the_mean_of_what_each_class_has(pairs: list[tuple[int, int]]) -> None:
    said, true = (np.array(column) for column in zip(*pairs, strict=True))
    for label, score in enumerate(f1_by_class(said, true)):
        both = sum(s == t == label for s, t in pairs)
        due = sum(s == label for s, _ in pairs) + sum(t == label for _, t in pairs)
        assert score == pytest.approx(2 * both / due if due else 0)
    assert macro_f1(true, true) == pytest.approx(len(set(true.tolist())) / 3)


def test_rare_labels_weigh_more_where_that_helps() -> None:
    rare = np.array([[0.3, 0.0, 0.7], [0.05, 0.0, 0.95], [0.05, 0.0, 0.95]])
    true = np.array([0, 2, 2])
    weights = best_weights(rare, true)
    assert chosen(rare, weights).tolist() == [0, 2, 2]
    assert weights[1] == 1.0  # of equal ones the smallest
