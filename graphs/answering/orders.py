"""Sentences of a text that give orders to whoever reads it by machine: never followed, and not quoted as evidence."""

from __future__ import annotations

import re

# ours: an order to drop what was said before, or a speaker's label; `ignore the instructions` alone may be medicine
ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b(?: \w+){0,3}? (?:your|previous|prior|earlier|above|these)\b"
    r"(?: \w+){0,3}? (?:instructions?|prompts?|rules?)\b|"
    r"\b(?:your|the) system prompt\b|^\W*(?:system|assistant)\s*:|"
    r"(?:忽略|无视|忘记|忘掉)[^。；]{0,4}(?:之前|以上|上述|先前|你)[^。；]{0,6}(?:指示|指令|提示|规则)",
    re.IGNORECASE,
)


def is_order(sentence: str) -> bool:
    """Whether a sentence gives such an order."""
    return ORDER.search(sentence) is not None
