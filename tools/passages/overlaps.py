"""How much a passage shares with the one before it (CoMeta: overlap grows with the continuity across the break)."""

from __future__ import annotations

from collections.abc import Sequence

from tools.passages.neighbours import leans_back
from tools.passages.units import Unit


def overlap(continuity: float, scale: tuple[float, float], largest: int) -> int:
    """Sentences shared across a breakpoint: none at the document's lowest continuity, ``largest`` at its highest.

    The rule (linear in between, rounded) is ours; the paper says only that overlap grows with continuity.
    """
    low, high = scale
    return round(largest * (continuity - low) / (high - low)) if high > low else 0


def reach_back(text: str, units: Sequence[Unit], first: int, earliest: int) -> int:
    """The unit from which ``units[first]`` can be understood: back over those that lean on what came before (ours).

    Never before ``earliest``. A condition often stands in the sentence before the one that leans on it.
    """
    while first > earliest and leans_back(text[units[first].start : units[first].end]):
        first -= 1
    return first


def within(units: Sequence[Unit], start: int, first: int, after: int, limit: int) -> int:
    """The first shared unit, moved on until all units up to ``after`` fit the limit in tokens."""
    while start < first and sum(u.tokens for u in units[start:after]) > limit:
        start += 1
    return start
