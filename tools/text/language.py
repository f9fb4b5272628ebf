"""Which of the two languages a text is in."""

from __future__ import annotations

import re

HAN = re.compile(r"[\u4e00-\u9fff]")
LETTER = re.compile(r"[^\W\d_]")
HAN_SHARE = 0.2  # ours: a Chinese note with Latin abbreviations stays Chinese


def language_of(text: str) -> str:
    """``zh`` when at least a fifth of the letters are Han characters, else ``en``."""
    letters = len(LETTER.findall(text))
    return "zh" if letters and len(HAN.findall(text)) >= HAN_SHARE * letters else "en"
