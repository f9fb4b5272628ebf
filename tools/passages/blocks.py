"""The blocks of a section: what blank lines part, for a text that has them says there where its subject changes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tools.passages.neighbours import continues, leans_back
from tools.passages.units import Unit

BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
LEAST = 0.25  # ours: share of the budget below which a block joins its neighbour, so that no passage is a mere line


def blocks(text: str, units: Sequence[Unit], budget: int) -> list[list[Unit]]:
    """The units of a section, parted at blank lines (ours).

    A block joins the one before it when it goes on with a list or a sentence; when it begins with a sentence that leans
    on that one, and both fit one passage; and when either of the two is shorter than a quarter of the budget.
    """
    parted: list[list[Unit]] = []
    for unit in units:
        if not parted or BLANK_LINE.search(text, parted[-1][-1].end, unit.start):
            parted.append([unit])
        else:
            parted[-1].append(unit)
    joined: list[list[Unit]] = []
    for block in parted:
        if joined and _belongs(text, joined[-1], block, budget):
            joined[-1] += block
        else:
            joined.append(block)
    return joined


def _belongs(text: str, before: Sequence[Unit], block: Sequence[Unit], budget: int) -> bool:
    sizes = _tokens(before), _tokens(block)
    opening = text[block[0].start : block[0].end]
    return min(sizes) < LEAST * budget or continues(opening) or (leans_back(opening) and sum(sizes) <= budget)


def _tokens(block: Sequence[Unit]) -> int:
    return sum(unit.tokens for unit in block)
