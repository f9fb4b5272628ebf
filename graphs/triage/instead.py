"""Statements that put one thing in the place of another: ``the left knee, not the right``. All ours."""

from __future__ import annotations

import re
from typing import NamedTuple

SPAN_ZH = re.compile(r"([一二两三四五六七八九十半几\d]+) ?个?(分钟|小时|天|日|周|星期|月|年)(?!大|龄)")
NOT_FIRST = re.compile(
    r"^(?:(?:it|he|she|i|that)(?:'s| is| was| am)? )?not (?:the |my |his |her |an? |on the |"
    r"in the )?(?P<old>[\w .'/-]{1,40}?)"
    r"\s*(?:,|;|\bbut\b|-)\s*(?:(?:but|rather|it(?:'s| is| was)?|is|on|in) )*(?P<new>[\w .'/-]{1,50}?)\W*$",
    re.IGNORECASE,
)
NOT_LAST = re.compile(
    r"(?:(?:it|he|she|i|that)(?:'s|'m| is| was| am)? )?(?P<new>[\w .'/-]{1,50}?),? (?:and not|not|"
    r"instead of|rather than) "
    r"(?:the |my |his |her |an? |on the |in the )?(?P<old>[\w.'/-]+(?: [\w.'/-]+){0,4}?)\W*$",
    re.IGNORECASE,
)
SAID = re.compile(
    r"\b(?:i|we) (?:said|say|put|wrote|typed) (?P<old>[\w'-]+(?: [\w'-]+){0,3}?)\s*[,?;.]?\s*(?:but )?(?:i|we) meant "
    r"(?:the |my |his |her )?(?P<new>[\w'-]+(?: [\w'-]+){0,3})",
    re.IGNORECASE,
)
# ``not red, actually`` denies too: what follows is no other thing
FILLER = re.compile(
    r"^(?:actually|really|sorry|in fact|though|anyway|at all|any ?more|now|thanks?(?: you)?|i think|i believe|"
    r"i(?:'m| am| was) (?:wrong|sorry|mistaken)|my mistake)$",
    re.IGNORECASE,
)
# ``the pain is not severe`` denies; it names nothing in another's place
DENIES = re.compile(
    r"\b(?:is|was|are|were|am|do|does|did|has|have|had|be|been|it's|'s|'m|will|can|could|it)$", re.IGNORECASE
)
NOT_LAST_ZH = re.compile(
    r"(?:应该)?是?(?P<new>[\u4e00-\u9fff\d./]{1,14}?)[，,、]?(?:而|并)?不是(?P<old>[\u4e00-\u9fff\d./]{1,12})\W*$"
)
NOT_FIRST_ZH = re.compile(
    r"不是(?P<old>[\u4e00-\u9fff\d./]{1,12}?)[，,、]?(?:而|应该)?是(?P<new>[\u4e00-\u9fff\d./]{1,14})\W*$"
)
LONGER = 2  # ours: characters by which a Chinese word may be longer than the one that it replaces
NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Instead(NamedTuple):
    """``the left knee, not the right``: what holds, and what does not."""

    new: str
    old: str


def instead(statement: str) -> Instead | None:
    """What a statement puts in the place of what; None when it only states or denies."""
    for pattern in (SAID, NOT_FIRST, NOT_LAST, NOT_FIRST_ZH, NOT_LAST_ZH):
        match = pattern.search(statement)
        new = match["new"].strip() if match else ""
        if match and new and not DENIES.search(new) and not FILLER.match(new):
            return Instead(new, match["old"].strip().rstrip("."))
    return None


def positive(statement: str) -> str:
    """The statement without what it says does not hold."""
    found = instead(statement)
    if found is None:
        return statement
    return re.sub(
        rf",?\s*(?:and |而|并)?(?:not|instead of|rather than|不是)\s*(?:the |my |his |her |an? |on the |in the )?"
        rf"{re.escape(found.old)}\s*(?:[,;，]|\bbut\b|-|而|(?=\W*$))?",
        "", statement, count=1, flags=re.IGNORECASE,
    ).strip(" ,;，")  # fmt: skip


def aligned(found: Instead) -> str:
    """As much of the new as stands in the place of the old: as many words, a number for a number."""
    new, old = found
    if re.search(r"[\u4e00-\u9fff]", old + new):
        span = SPAN_ZH.search(new)
        if span and SPAN_ZH.fullmatch(old):
            return span[0]
        windows = [new[i : i + len(old)] for i in range(max(len(new) - len(old), 0) + 1)]
        best = max(windows, key=lambda w: sum(a == b for a, b in zip(w, old, strict=False)))
        alike = any(a == b for a, b in zip(best, old, strict=False))
        return best if alike and not 0 < len(new) - len(old) <= LONGER else new
    words = new.split()
    tail = " ".join(words[-len(old.split()) :])
    if NUMBER.search(old) and not NUMBER.search(tail):
        number = NUMBER.search(new)
        return number[0] if number else tail
    return tail
