"""Abbreviations that a text defines itself: ``myasthenia gravis (MG)``.

The rule is that of Schwartz and Hearst (2003): the letters of the short form, read from its end, are found in the words
in front of the brackets, and the first letter begins a word. The code is ours.
"""

from __future__ import annotations

import re
from functools import lru_cache

SHORT = re.compile(r"\(([A-Za-z][A-Za-z0-9-]{1,9})\)")
NEAR = 400  # characters; ours: how far back a long form may begin
MOST_EXTRA = 5  # words that the long form may have beyond the letters of the short one (paper)


@lru_cache(maxsize=256)  # ours: a case is read clause by clause, each time with the same whole text
def definitions(text: str) -> dict[str, str]:
    """Short form -> long form, for each that the text defines in brackets behind it."""
    found: dict[str, str] = {}
    if "(" not in text:
        return found
    for match in SHORT.finditer(text):
        short = match[1]
        if sum(c.isupper() for c in short) < 2:
            continue
        words = re.split(r"[.;:!?\n]", text[max(0, match.start() - NEAR) : match.start()])[-1].split()
        most = min(len(short) + MOST_EXTRA, 2 * len(short))  # paper
        long = _long_form(short, " ".join(words[-most:]))
        if long:
            found.setdefault(short, long)
    return found


def _long_form(short: str, before: str) -> str:
    """The words at the end of a text whose letters make the short form; "" when they do not."""
    at = len(before)
    for number, letter in enumerate(reversed(short.lower())):
        if not letter.isalnum():
            continue
        first = number == len(short) - 1
        at -= 1
        while at >= 0 and (before[at].lower() != letter or (first and at > 0 and before[at - 1].isalnum())):
            at -= 1
        if at < 0:
            return ""
    return before[at:].strip()
