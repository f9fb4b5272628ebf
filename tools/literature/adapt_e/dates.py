"""Date constraints out of words: since 2019, in the last five years, between 2010 and 2015. English only."""

from __future__ import annotations

import re
from datetime import date

from tools.literature.adapt_e.contract import DateRange

FIRST_YEAR = 1781  # code: the earliest publication year that PubMed holds
NUMBERS = {
    word: number
    for number, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split(), start=1
    )
} | {"twenty": 20, "couple of": 2, "few": 3, "decade": 10}
YEAR = r"((?:1[789]|20)\d\d)"
COUNT = rf"(\d{{1,2}}|{'|'.join(NUMBERS)})"
PUBLISHED = (
    r"(?:published|papers?|studies|trials|literature|articles|evidence|research|reviews?|data)\s+(?:\w+\s+){0,3}?"
)
SPAN = re.compile(rf"\b(?:between|from)\s+{YEAR}\s*(?:and|to|until|[-–])\s*{YEAR}\b", re.IGNORECASE)
SINCE = re.compile(rf"\b(?:since|after|from)\s+{YEAR}(?:\s+(?:on|onwards?))?\b", re.IGNORECASE)
UNTIL = re.compile(rf"\b(?:before|until|up to|till)\s+{YEAR}\b", re.IGNORECASE)
LAST = re.compile(
    rf"\b(?:in|over|during|from|within)\s+the\s+(?:last|past)\s+(?:{COUNT}\s+)?(year|month|decade)s?\b", re.IGNORECASE
)
IN_YEAR = re.compile(rf"\b{PUBLISHED}(?:in|during|of)\s+{YEAR}\b", re.IGNORECASE)
ABOUT_PAPERS = re.compile(
    r"\b(?:publish|paper|stud(?:y|ies)|trial|literature|article|evidence|research|review|guideline|data|update|new|known|"
    r"progress|advance|approv|recent)\w*",
    re.IGNORECASE,
)


def date_constraint(text: str, today: date, *, case: bool) -> DateRange | None:
    """The publication dates that a text asks for, None when it asks for none.

    The dates of a patient's story (treated since 1991) are no constraint: in a case the words must stand in a
    sentence that speaks of publications.
    """
    for sentence in re.split(r"(?<=[.?!])\s+", text):
        if case and not re.search(PUBLISHED, sentence, re.IGNORECASE):
            continue
        found = _of(sentence, today, strict=case or not ABOUT_PAPERS.search(sentence))
        if found is not None:
            return found
    return None


def _of(sentence: str, today: date, *, strict: bool) -> DateRange | None:
    if m := SPAN.search(sentence):
        first, last = sorted((int(m[1]), int(m[2])))
        return DateRange(since=date(first, 1, 1), until=date(last, 12, 31), because=m[0])
    if m := IN_YEAR.search(sentence):
        return DateRange(since=date(int(m[1]), 1, 1), until=date(int(m[1]), 12, 31), because=m[0])
    if m := LAST.search(sentence):
        return DateRange(since=_ago(m[1], m[2], today), because=m[0])
    if m := SINCE.search(sentence):
        year = int(m[1]) + (1 if m[0].lower().startswith("after") else 0)
        return DateRange(since=date(year, 1, 1), because=m[0]) if year <= today.year else None
    if (m := UNTIL.search(sentence)) and not strict:
        year = int(m[1]) - (1 if m[0].lower().startswith("before") else 0)
        return DateRange(until=date(year, 12, 31), because=m[0])
    return None


def _ago(count: str | None, unit: str, today: date) -> date:
    number = 1 if count is None else int(count) if count.isdigit() else NUMBERS[count.lower()]
    months = number * {"year": 12, "month": 1, "decade": 120}[unit.lower()]
    year, month = divmod(today.year * 12 + today.month - 1 - months, 12)
    return date(max(year, FIRST_YEAR), month + 1, 1)
