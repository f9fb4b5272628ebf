"""Breakpoints: the published rule, and the exact solution under sizes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tools.passages.continuity import exact, top_minima


def test_top_minima_are_the_lowest_local_minima_in_order_of_place() -> None:
    curve = np.array([0.9, 0.2, 0.8, 0.3, 0.25, 0.7])
    assert top_minima(curve, 3) == [2, 5]  # 0.3 is lower than 0.7 but no local minimum


def test_top_minima_falls_back_to_other_gaps() -> None:
    assert top_minima(np.array([0.1, 0.2, 0.3]), 3) == [1, 2]
    assert top_minima(np.array([0.1, 0.2]), 1) == []


def test_exact_equals_brute_force() -> None:
    generator = np.random.default_rng(7)
    for _ in range(60):
        n = int(generator.integers(2, 9))
        curve, sizes = generator.random(n - 1), generator.integers(1, 20, n)
        count, largest = int(generator.integers(1, n + 1)), 40
        found = exact(curve, sizes, count, 5, largest)
        totals = np.concatenate(([0], np.cumsum(sizes)))
        costs = {}
        for breaks in combinations(range(1, n), len(found)):
            pieces = np.diff(totals[[0, *breaks, n]])
            if pieces.max() <= largest and pieces.min() >= 5:
                costs[breaks] = sum(curve[b - 1] for b in breaks)
        if costs:
            assert costs[tuple(found)] == pytest.approx(min(costs.values()))


def test_exact_takes_more_partitions_when_the_largest_size_asks_for_them() -> None:
    breaks = exact(np.full(5, 0.5), np.full(6, 30), 2, 10, 60)
    assert breaks == [2, 4]


def test_exact_gives_up_the_smallest_size_before_the_largest() -> None:
    assert exact(np.array([0.5]), np.array([50, 5]), 2, 20, 50) == [1]


def test_exact_refuses_a_unit_over_the_largest_size() -> None:
    with pytest.raises(ValueError, match="larger"):
        exact(np.array([0.5]), np.array([10, 90]), 2, 0, 50)


def test_exact_is_fast_on_a_long_text() -> None:
    generator = np.random.default_rng(1)
    sizes = generator.integers(10, 40, 2000)
    breaks = exact(generator.random(1999), sizes, int(np.ceil(sizes.sum() / 128)), 32, 254)
    pieces = np.diff(np.concatenate(([0], np.cumsum(sizes)))[[0, *breaks, 2000]])
    assert pieces.min() >= 32
    assert pieces.max() <= 254
