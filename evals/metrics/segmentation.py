"""Agreement of two segmentations of the same units: Pk, WindowDiff and boundary similarity.

A segmentation is the set of its boundaries: b in 1..n - 1 is the first unit of a segment.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from prompts.errors import InputError

NEAR = 1  # code: segeval's default (n_t = 2): a boundary one unit off is a near miss


def window(n: int, reference: AbstractSet[int]) -> int:
    """Half the mean length of the reference's segments, rounded, at least 1 (Beeferman et al. 1999)."""
    return max(1, round(n / (len(reference) + 1) / 2))


def pk(n: int, reference: AbstractSet[int], found: AbstractSet[int]) -> float:
    """Pk, 0..1, lower is better (Beeferman, Berger and Lafferty 1999).

    The share of windows of `window` units whose two ends are held to be in one segment by one segmentation and in
    two by the other.
    """
    size = _size(n, reference)
    ours, gold = _counts(n, found), _counts(n, reference)
    wrong = sum((ours[i + size] == ours[i]) != (gold[i + size] == gold[i]) for i in range(n - size))
    return wrong / (n - size)


def window_diff(n: int, reference: AbstractSet[int], found: AbstractSet[int]) -> float:
    """WindowDiff, 0..1, lower is better (Pevzner and Hearst 2002): the windows whose numbers of boundaries differ."""
    size = _size(n, reference)
    ours, gold = _counts(n, found), _counts(n, reference)
    wrong = sum(ours[i + size] - ours[i] != gold[i + size] - gold[i] for i in range(n - size))
    return wrong / (n - size)


def boundary_similarity(reference: AbstractSet[int], found: AbstractSet[int]) -> float:
    """Boundary similarity B, 0..1, higher is better (Fournier 2013).

    A boundary one unit off counts half; a boundary of one segmentation alone counts nothing. Two segmentations
    without any boundary agree wholly.
    """
    matches = reference & found
    missed, extra = sorted(reference - found), sorted(found - reference)
    near = 0
    for boundary in missed:
        close = next((other for other in extra if abs(other - boundary) <= NEAR), None)
        if close is not None:
            extra.remove(close)
            near += 1
    pairs = len(matches) + len(missed) + len(extra)
    return (len(matches) + near / 2) / pairs if pairs else 1.0


def _size(n: int, reference: AbstractSet[int]) -> int:
    size = window(n, reference)
    if n <= size:
        raise InputError(f"{n} units are too few to compare.", "Give texts of two sentences or more.")
    return size


def _counts(n: int, boundaries: AbstractSet[int]) -> list[int]:
    """Boundaries up to and including each unit: two units are in one segment when theirs are equal."""
    counts, seen = [], 0
    for unit in range(n):
        seen += unit in boundaries
        counts.append(seen)
    return counts
