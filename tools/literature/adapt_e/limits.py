"""Limits that a text asks for in words: dates of publication, language, species, type of publication. English only.

Dates: since 2019, in the last five years, between 2010 and 2015, 1998-2001. The others are data (``limits.yaml``).
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from pathlib import Path

from tools.literature.adapt_e.contract import DateRange, Limit
from tools.literature.terms import QUESTIONS
from tools.yaml_files import read_yaml

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
YEARS = re.compile(rf"(?<![\w/.-]){YEAR}\s*[-–]\s*{YEAR}(?![\w/-])")
ALONE = re.compile(rf"(?:^|,)\s*{YEAR}\s*(?:$|[,.])")
IN_YEAR = re.compile(rf"\b{PUBLISHED}(?:in|during|of)\s+{YEAR}\b", re.IGNORECASE)


def date_constraint(text: str, today: date, *, case: bool) -> DateRange | None:
    """The publication dates that a text asks for, None when it asks for none.

    The dates of a patient's story (treated since 1991) are no constraint: in a case the words must stand in a
    sentence that speaks of publications.
    """
    for sentence in re.split(r"(?<=[.?!])\s+", text):
        if case and not re.search(PUBLISHED, sentence, re.IGNORECASE):
            continue
        asks = QUESTIONS["asks"].search(sentence) is not None
        strict = case or (asks and not QUESTIONS["about_papers"].search(sentence))
        found = _of(sentence, today, strict=strict) or (None if case or asks else _of_years(sentence))
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


def _of_years(sentence: str) -> DateRange | None:
    """The years that stand by themselves in a text that names what is searched for, and asks nothing."""
    if m := YEARS.search(sentence):
        first, last = sorted((int(m[1]), int(m[2])))
        return DateRange(since=date(first, 1, 1), until=date(last, 12, 31), because=m[0].strip())
    if m := ALONE.search(sentence):
        return DateRange(since=date(int(m[1]), 1, 1), until=date(int(m[1]), 12, 31), because=m[1])
    return None


def _ago(count: str | None, unit: str, today: date) -> date:
    number = 1 if count is None else int(count) if count.isdigit() else NUMBERS[count.lower()]
    months = number * {"year": 12, "month": 1, "decade": 120}[unit.lower()]
    year, month = divmod(today.year * 12 + today.month - 1 - months, 12)
    return date(max(year, FIRST_YEAR), month + 1, 1)


def limits_in(text: str, *, case: bool) -> list[Limit]:
    """The other limits that a text asks for; a patient's story has none."""
    asks = QUESTIONS["asks"].search(text) is not None
    return (
        []
        if case
        else [
            Limit(what=what, clause=clause, because=found[0].strip())
            for what, words, clause, asked in _rows()
            if (asked or not asks) and (found := words.search(text))
        ]
    )


def without_limits(text: str, dates: DateRange | None, limits: list[Limit]) -> str:
    """The text without the words of its limits, which are no subject of a search."""
    for said in [*(limit.because for limit in limits), dates.because if dates is not None else ""]:
        text = text.replace(said, ", ", 1) if said else text
    return text


@lru_cache(maxsize=1)
def _rows() -> list[tuple[str, re.Pattern[str], str, bool]]:
    return [
        (row["what"], re.compile("|".join(row["words"]), re.IGNORECASE), row["clause"], row["asked"])
        for row in read_yaml(Path(__file__).with_name("limits.yaml"))
    ]
