"""Pk, WindowDiff and boundary similarity: values worked by hand, nltk's own where it has them, and their bounds."""

from __future__ import annotations

from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.tasks.segmentation import boundary_similarity, pk, window, window_diff
from prompts.errors import InputError

THEIRS = import_module("nltk.metrics.segmentation")  # nltk hides it behind another name
SIZES = st.integers(4, 30)


@st.composite
def cases(draw: st.DrawFn) -> tuple[int, frozenset[int], frozenset[int]]:
    n = draw(SIZES)
    boundaries = st.frozensets(st.integers(1, n - 1), max_size=n - 1)
    return n, draw(boundaries), draw(boundaries)


def test_values_worked_by_hand() -> None:
    # Eight units, gold cut at 4: windows of round(4 / 2) = 2 units, six of them, (0,2) (1,3) (2,4) (3,5) (4,6) (5,7).
    gold = frozenset({4})
    assert window(8, gold) == 2
    assert pk(8, gold, frozenset({5})) == pytest.approx(2 / 6)  # (2,4) and (4,6)
    assert pk(8, gold, frozenset()) == pytest.approx(2 / 6)  # (2,4) and (3,5)
    assert pk(8, gold, frozenset({4, 5})) == pytest.approx(1 / 6)  # (4,6)
    assert window_diff(8, gold, frozenset({4, 5})) == pytest.approx(2 / 6)  # (4,6), and two for one in (3,5)
    assert boundary_similarity(gold, frozenset({5})) == pytest.approx(1 / 2)  # a near miss
    assert boundary_similarity(gold, frozenset({6})) == 0.0  # one missed, one too many
    assert boundary_similarity(frozenset({2, 5, 9}), frozenset({2, 6})) == pytest.approx(1.5 / 3)
    with pytest.raises(InputError):
        pk(1, frozenset(), frozenset())


@given(cases())
def test_they_agree_with_nltk_and_stay_in_bounds(case: tuple[int, frozenset[int], frozenset[int]]) -> None:
    n, gold, found = case
    size = window(n, gold)
    a, b = ("".join("1" if unit in cut else "0" for unit in range(1, n)) for cut in (gold, found))
    assert pk(n, gold, found) == pytest.approx(THEIRS.pk(a, b, k=size))
    assert window_diff(n, gold, found) == pytest.approx(THEIRS.windowdiff(a, b, size))
    assert 0 <= pk(n, gold, found) <= window_diff(n, gold, found) <= 1
    assert 0 <= boundary_similarity(gold, found) == boundary_similarity(found, gold) <= 1


@given(cases())
def test_a_segmentation_agrees_wholly_with_itself(case: tuple[int, frozenset[int], frozenset[int]]) -> None:
    n, gold, _ = case
    assert pk(n, gold, gold) == window_diff(n, gold, gold) == 0
    assert boundary_similarity(gold, gold) == 1
