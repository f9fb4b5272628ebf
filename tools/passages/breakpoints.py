"""Where SEOS breaks a text: the top minima of the continuity curve, or the same curve solved exactly under sizes.

Source: CoMeta, section on semantic segmentation with overlap (SEOS). The paper gives the number of partitions N
and takes the top semantic minima as the N - 1 breakpoints; the exact solution is ours.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Curve = NDArray[np.float64]  # (n - 1,): continuity across the gap after each unit but the last
Sizes = NDArray[np.int64]  # (n,): tokens of each unit


def top_minima(curve: Curve, count: int) -> list[int]:
    """The N - 1 lowest local minima as breakpoints (``seos_paper``), in order of place.

    Args:
        curve: (n - 1,) continuity of each gap; gap g lies before unit g + 1.
        count: N, the number of partitions wanted.

    Returns:
        Breakpoints b, each the index of the first unit of a partition. Where there are fewer local minima than
        N - 1, the lowest other gaps follow (ours).
    """
    padded = np.concatenate(([np.inf], curve, [np.inf]))
    minimum = (curve <= padded[:-2]) & (curve <= padded[2:])
    order = np.lexsort((np.arange(len(curve)), curve, ~minimum))
    return sorted(int(gap) + 1 for gap in order[: max(0, count - 1)])


def exact(curve: Curve, sizes: Sizes, count: int, smallest: int, largest: int) -> list[int]:
    """Breakpoints with the least total continuity, every partition within its sizes (``seos``).

    Args:
        curve: (n - 1,) continuity of each gap.
        sizes: (n,) tokens of each unit, none above ``largest``.
        count: N; more partitions are taken only when N cannot be had within the sizes.
        smallest, largest: tokens of a partition. ``smallest`` is halved, then given up, when no solution keeps it.
    """
    for least in (smallest, smallest // 2, 0):
        breaks = _solve(curve, sizes, count, least, largest)
        if breaks is not None:
            return breaks
    raise ValueError("a unit is larger than the largest partition")


def _solve(curve: Curve, sizes: Sizes, count: int, smallest: int, largest: int) -> list[int] | None:
    """Dynamic programming over (partitions, units), one vectorised step a partition; None when nothing fits."""
    n = len(sizes)
    totals = np.concatenate(([0], np.cumsum(sizes)))
    ends = np.arange(1, n + 1)
    low = np.searchsorted(totals, totals[ends] - largest, side="left")
    high = np.minimum(np.searchsorted(totals, totals[ends] - smallest, side="right") - 1, ends - 1)
    width = int((high - low).max()) + 1
    if width <= 0:
        return None
    starts = low[:, None] + np.arange(width)  # (n, width): candidate first units of the partition that ends here
    allowed = starts <= high[:, None]
    starts = np.where(allowed, starts, 0)
    price = np.concatenate(([0.0], curve))  # cost of a partition that starts at this unit
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    chosen: list[NDArray[np.int64]] = []
    for made in range(1, n + 1):
        options = np.where(allowed, (best[:-1] + price)[starts], np.inf)
        pick = options.argmin(axis=1)
        best = np.concatenate(([np.inf], options[np.arange(n), pick]))
        chosen.append(starts[np.arange(n), pick])
        if made >= count and np.isfinite(best[n]):
            return _trace(chosen, n)
        if not np.isfinite(best).any():
            return None
    return None


def _trace(chosen: list[NDArray[np.int64]], n: int) -> list[int]:
    breaks: list[int] = []
    end = n
    for step in reversed(chosen):
        end = int(step[end - 1])
        breaks.append(end)
    return breaks[-2::-1]
