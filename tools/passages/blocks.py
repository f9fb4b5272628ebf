"""The blocks of a section: what blank lines part, for a text that has them says there where its subject changes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tools.passages.neighbours import leans_back
from tools.passages.units import Unit

BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
LEAST = 0.5  # ours: share of the budget below which a block joins its neighbour, so that short paragraphs stay together


def blocks(text: str, units: Sequence[Unit], budget: int) -> list[list[Unit]]:
    """The units of a section, parted at blank lines (ours).

    A block joins the one before it when it begins with a sentence that leans on that, or the item of a list, and when
    either of the two is shorter than half the budget.
    """
    parted: list[list[Unit]] = []
    for unit in units:
        if not parted or BLANK_LINE.search(text, parted[-1][-1].end, unit.start):
            parted.append([unit])
        else:
            parted[-1].append(unit)
    joined: list[list[Unit]] = []
    for block in parted:
        if joined and (_short(block, budget) or _short(joined[-1], budget) or _leans(text, block)):
            joined[-1] += block
        else:
            joined.append(block)
    return joined


def _short(block: Sequence[Unit], budget: int) -> bool:
    return sum(unit.tokens for unit in block) < LEAST * budget


def _leans(text: str, block: Sequence[Unit]) -> bool:
    return leans_back(text[block[0].start : block[0].end])
