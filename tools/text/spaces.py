"""Runs of white space, made short before any pattern reads them."""

from __future__ import annotations

import re

GAP = 8  # ours: a table keeps its columns; no pattern is slow on so few
LONG_GAP = re.compile(rf"[^\S\n]{{{GAP + 1},}}")
EMPTY_LINES = re.compile(r"\n(?:[^\S\n]{0,8}\n){3,}")


def without_gaps(text: str) -> str:
    """The text with every run of spaces at most `GAP` long, and at most two empty lines together."""
    return EMPTY_LINES.sub("\n\n\n", LONG_GAP.sub(" " * GAP, text))
