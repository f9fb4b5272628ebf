"""Recovering the passage that another one leans on: a pronoun without its noun, a contrast without its first half."""

from __future__ import annotations

import re

LEANS_BACK = re.compile(
    r"""(?:this|these|those|they|it|its|their|such|both|he|she|however|therefore|thus|hence|moreover|furthermore
    |instead|otherwise|nevertheless|similarly|conversely|also|but|in\ contrast|by\ contrast|as\ a\ result
    |in\ addition|on\ the\ other\ hand|the\ (?:former|latter|same|above)|as\ such|if\ (?:so|not)|thereafter
    |(?:in|for|of|among|with|after|from|under|by|during|without)\ (?:this|these|those|such|them|both))\b
    |这|该|此|其|它|他们|她们|然而|但|因此|所以|此外|同时|另外|相反|否则|上述|对此|对这|在这|对于[这此]""",
    re.IGNORECASE | re.VERBOSE,
)
LIST_ITEM = re.compile(r"(?:[-*•·]|\(?\d{1,2}[.)、]|\(?[a-z][.)])\s*\S")
LIST_START = re.compile(r"\(?[1a][.)、]", re.IGNORECASE)
BROKEN_OFF = re.compile(r"[:：,，;；]\s*$")


def leans_back(text: str) -> bool:
    """Whether a passage begins with a reference to what came before it, or in the middle of a list or sentence."""
    return bool(LEANS_BACK.match(text)) or continues(text)


def continues(text: str) -> bool:
    """Whether a passage begins in the middle of a list or of a sentence."""
    return (bool(LIST_ITEM.match(text)) and not LIST_START.match(text)) or text[:1].islower()


def leans_on_next(text: str) -> bool:
    """Whether a passage ends in the middle: with a colon before a list, or a clause that goes on."""
    return bool(BROKEN_OFF.search(text))
