"""Intervals and tests against values worked out by hand or by another route."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evals.statistics import bootstrap_mean, clustered_share, exact_mcnemar, mean, paired_difference, share, wilson


@pytest.mark.parametrize(("k", "n"), [(0, 10), (7, 10), (365, 588), (10, 10)])
def test_wilson_is_the_closed_formula(k: int, n: int) -> None:
    z, p = 1.959963984540054, k / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert wilson(k, n) == pytest.approx((max(0.0, centre - half), min(1.0, centre + half)), abs=1e-9)


def test_share_is_in_percent_and_silent_without_rows() -> None:
    (figure,) = share("a.b.c", [True, True, False, False])
    assert (figure.value, figure.n) == (50.0, 4)
    assert figure.ci95 is not None
    assert 0 <= figure.ci95[0] < 50 < figure.ci95[1] <= 100
    assert share("a.b.c", []) == []


def test_rows_that_stand_and_fall_together_do_not_narrow_the_interval() -> None:
    single = [[n % 5 == 0] for n in range(60)]
    (one,) = clustered_share("a.b.c", single, seed=0)
    (many,) = clustered_share("a.b.c", [[*row] * 7 for row in single], seed=0)
    assert (one.value, many.value, many.n) == (20, 20, 420)
    assert one.ci95 == many.ci95
    low, high = wilson(12, 60)
    assert one.ci95 == pytest.approx((100 * low, 100 * high), abs=2.5)


def test_a_share_of_all_or_none_has_the_interval_of_its_clusters() -> None:
    for hit, k in ((True, 3), (False, 0)):
        (figure,) = clustered_share("a.b.c", [[hit] * 40, [], [hit] * 2, [hit]], seed=0)
        assert (figure.value, figure.n) == (100 * hit, 43)
        assert figure.ci95 == pytest.approx([100 * end for end in wilson(k, 3)])
    assert clustered_share("a.b.c", [[], []], seed=0) == []


def test_bootstrap_agrees_with_the_normal_interval_and_with_itself() -> None:
    values = list(np.random.default_rng(3).normal(10, 2, 400))
    low, high = bootstrap_mean(values, seed=1)
    half = 1.96 * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    assert (low, high) == pytest.approx((float(np.mean(values)) - half, float(np.mean(values)) + half), abs=0.03)
    assert bootstrap_mean(values, seed=1) == (low, high)
    assert bootstrap_mean(values, seed=2) != (low, high)


def test_bootstrap_of_one_value_and_of_equal_values() -> None:
    assert bootstrap_mean([4.0], seed=0) == (4.0, 4.0)
    assert bootstrap_mean([2.0, 2.0, 2.0], seed=0) == (2.0, 2.0)


def test_paired_difference_uses_the_pairs() -> None:
    first = [float(i) for i in range(50)]
    (figure,) = paired_difference("a.b.c", first, [x - 1 for x in first], seed=0)
    assert (figure.value, figure.ci95) == (1.0, (1.0, 1.0))
    with pytest.raises(ValueError):
        paired_difference("a.b.c", [1.0, 2.0], [1.0], seed=0)


def test_mcnemar_counts_only_the_pairs_that_differ() -> None:
    first = [True] * 8 + [False] * 2 + [True] * 50
    second = [False] * 8 + [True] * 2 + [True] * 50
    both = 2 * sum(math.comb(10, i) for i in (8, 9, 10)) / 2**10
    assert exact_mcnemar(first, second) == pytest.approx(both)
    assert exact_mcnemar(first, second, alternative="greater") == pytest.approx(both / 2)
    assert exact_mcnemar([True, False], [True, False]) == 1.0


def test_mean_is_silent_without_rows() -> None:
    assert mean("a.b.c", [], seed=0) == []
