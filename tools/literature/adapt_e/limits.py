"""Limits that a text asks for in words: dates of publication, language, species, type of publication. English only.

Dates: since 2019, in the last five years, between 2010 and 2015, 1998-2001. The others are data (``limits.yaml``).
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path

from tools.literature.adapt_e.contract import DateRange, Limit
from tools.literature.terms import QUESTIONS
from tools.yaml_files import read_yaml

LINKING = frozenset("and or only please published in of from with limit limited to studies".split())  # ours
FIRST_YEAR = 1781  # code: the earliest publication year that PubMed holds
NUMBERS = {
    word: number
    for number, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split(), start=1
    )
} | {"twenty": 20, "couple of": 2, "few": 3, "decade": 10}
YEAR = r"((?:1[789]|20)\d\d)"
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
MONTH = rf"(?:({'|'.join(MONTHS)})[a-z]{{0,6}},?\s+)?"  # its group is None where only a year is said
COUNT = rf"(\d{{1,2}}|{'|'.join(NUMBERS)})"
PUBLISHED = (
    r"(?:published|papers?|studies|trials|literature|articles|evidence|research|reviews?|data)\s+(?:\w+\s+){0,3}?"
)
SPAN = re.compile(rf"\b(?:between|from)\s+{MONTH}{YEAR}\s*(?:and|to|until|[-–])\s*{MONTH}{YEAR}\b", re.IGNORECASE)
SINCE = re.compile(rf"\b(?:since|after|from)\s+{MONTH}{YEAR}(?:\s+(?:on|onwards?))?\b", re.IGNORECASE)
UNTIL = re.compile(rf"\b(?:before|until|up to|till)\s+{MONTH}{YEAR}\b", re.IGNORECASE)
LAST = re.compile(
    rf"\b(?:in|over|during|from|within)\s+the\s+(?:last|past)\s+(?:{COUNT}\s+)?(year|month|decade)s?\b", re.IGNORECASE
)
YEARS = re.compile(rf"(?<![\w/.-]){YEAR}\s*[-–]\s*{YEAR}(?![\w/-])")
ALONE = re.compile(rf"(?:^|,)\s*{YEAR}\s*(?:$|[,.])")
IN_YEAR = re.compile(rf"\b{PUBLISHED}(?:in|during|of)\s+{MONTH}{YEAR}\b", re.IGNORECASE)


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
        (first, _), (_, last) = sorted((_period(m[1], m[2]), _period(m[3], m[4])))
        return DateRange(since=first, until=last, because=m[0])
    if m := IN_YEAR.search(sentence):
        first, last = _period(m[1], m[2])
        return DateRange(since=first, until=last, because=m[0])
    if m := LAST.search(sentence):
        return DateRange(since=_ago(m[1], m[2], today), because=m[0])
    if m := SINCE.search(sentence):
        first, last = _period(m[1], m[2])
        since = last + timedelta(days=1) if m[0].lower().startswith("after") else first
        return DateRange(since=since, because=m[0]) if since <= today else None
    if (m := UNTIL.search(sentence)) and not strict:
        first, last = _period(m[1], m[2])
        return DateRange(until=first - timedelta(days=1) if m[0].lower().startswith("before") else last, because=m[0])
    return None


def _period(month: str | None, year: str) -> tuple[date, date]:
    """The first and the last day of a month, or of a year."""
    if month is None:
        return date(int(year), 1, 1), date(int(year), 12, 31)
    first = date(int(year), MONTHS.index(month.lower()) + 1, 1)
    return first, (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)


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
    if case:
        return []
    asks = QUESTIONS["asks"].search(text) is not None
    beside = " ".join(s for s in re.split(r"(?<=[.?!])\s+", text) if _only_limits(s)) if asks else text
    return [
        Limit(what=what, clause=clause, because=found[0].strip())
        for what, words, clause, asked in _rows()
        if (found := words.search(text if asked else beside))
    ]


def _only_limits(sentence: str) -> bool:
    """Whether a sentence beside a question says limits and nothing else: "Randomised trials since 2015, humans." """
    if QUESTIONS["asks"].search(sentence):
        return False
    for dated in (SPAN, IN_YEAR, LAST, SINCE, UNTIL, YEARS):
        sentence = dated.sub(" ", sentence)
    for _, words, _, _ in _rows():
        sentence = words.sub(" ", sentence)
    return not set(re.findall(r"[^\W_]+", sentence.lower())) - LINKING


def without_limits(text: str, dates: DateRange | None, limits: list[Limit]) -> str:
    """The text without the words of its limits, which are no subject of a search."""
    for said in [dates.because if dates is not None else "", *(limit.because for limit in limits)]:
        text = text.replace(said, ", ", 1) if said else text
    return text


@lru_cache(maxsize=1)
def _rows() -> list[tuple[str, re.Pattern[str], str, bool]]:
    return [
        (row["what"], re.compile("|".join(row["words"]), re.IGNORECASE), row["clause"], row["asked"])
        for row in read_yaml(Path(__file__).with_name("limits.yaml"))
    ]
