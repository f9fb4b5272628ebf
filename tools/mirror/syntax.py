"""PubMed's query language as a typed tree.

The tree is what the text says, before any mapping: `tools.mirror.resolution` maps untagged words, `tools.mirror.engine`
finds the records. Operators are kept in a flat chain because PubMed evaluates them strictly from left to right
(PubMed User Guide, "Combining search terms with Boolean operators").
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from dataclasses import field as attribute
from datetime import date, timedelta
from enum import Enum

from prompts.errors import InputError


class QueryError(InputError):
    """A query that PubMed's language does not allow, or that this mirror cannot answer rightly.

    Args:
        at: the position in the query, in characters from 0.
    """

    def __init__(self, what: str, advice: str = "", at: int = 0) -> None:
        super().__init__(f"{what} (at character {at + 1} of the query).", advice)
        self.at = at


class Field(Enum):
    """The searchable fields; the value is PubMed's name in a query translation."""

    ALL = "All Fields"
    TITLE_ABSTRACT = "Title/Abstract"
    TITLE = "Title"
    ABSTRACT = "Abstract"
    TEXT = "Text Word"
    KEYWORD = "Other Term"
    MESH = "MeSH Terms"
    MAJOR = "MeSH Major Topic"
    TYPE = "Publication Type"
    PUBLISHED = "Date - Publication"
    ENTERED = "Date - Entry"
    LANGUAGE = "Language"
    AUTHOR = "Author"
    JOURNAL = "Journal"
    PMID = "UID"
    IDENTIFIER = "Article Identifier"
    SUBSET = "Filter"


class Operator(Enum):
    """A Boolean operator."""

    AND = "AND"
    OR = "OR"
    NOT = "NOT"


DATES = frozenset({Field.PUBLISHED, Field.ENTERED})
WORDS = frozenset({Field.ALL, Field.TITLE_ABSTRACT, Field.TITLE, Field.ABSTRACT, Field.TEXT, Field.KEYWORD})
EXPLODED = frozenset({Field.MESH, Field.MAJOR, Field.TYPE})
NEARNESS = frozenset({Field.TITLE, Field.TITLE_ABSTRACT})  # PubMed also allows the affiliation, which is not held


@dataclass(frozen=True, slots=True)
class Untagged:
    """Words without a tag or with [all], for automatic term mapping.

    Attributes:
        units: the words between spaces, each as its indexed words; a hyphenated one has several.
        text: as typed. at: where it stands.
    """

    units: tuple[tuple[str, ...], ...]
    text: str
    at: int = attribute(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Term:
    """A term to find in one field.

    Attributes:
        words: the indexed words; more than one is a phrase.
        text: as typed, without quotes, star and tag.
        quoted, truncated, explode: whether it was in quotes, ended with a star, includes narrower headings.
        tagged: False for a quoted or truncated term without a tag.
        held: another member of the same OR finds all that this one finds; it is written, not evaluated.
    """

    words: tuple[str, ...]
    field: Field
    text: str
    quoted: bool = False
    truncated: bool = False
    explode: bool = True
    tagged: bool = True
    held: bool = attribute(default=False, compare=False)
    at: int = attribute(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Near:
    """Words in any order with at most ``distance`` other words among them, in one field."""

    words: tuple[str, ...]
    field: Field
    distance: int
    text: str
    at: int = attribute(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Dates:
    """A range of dates, both ends included, as numbers YYYYMMDD; ``text`` as PubMed writes it."""

    field: Field
    low: int
    high: int
    text: str
    at: int = attribute(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Combination:
    """A chain of operators, evaluated from left to right; terms without an operator between them are joined by AND."""

    first: Node
    rest: tuple[tuple[Operator, Node], ...]


Node = Untagged | Term | Near | Dates | Combination


# Dates of queries and of records as numbers YYYYMMDD.
# A publication date without month counts as January, one without day as the first (PubMed User Guide, "Publication
# Date [dp]").

DATE = re.compile(r"(\d{4})(?:/(\d{1,2})(?:/(\d{1,2}))?)?")
LAST = re.compile(r"last (?:(\d{1,5}) )?(day|month|year)s?")
ADVICE = "Write dates as YYYY, YYYY/MM or YYYY/MM/DD."
UNDATED = 0  # a record whose date is not known; no range begins so early


def number(iso: str) -> int:
    """A record's ISO date (year, month or day) as YYYYMMDD, UNDATED for ""."""
    parts = [int(p) for p in iso.split("-") if p.isdecimal()][:3]
    year, month, day = [*parts, 1, 1, 1][:3] if parts else (0, 0, 0)
    return year * 10_000 + month * 100 + day


def read_dates(field: Field, text: str, at: int, today: date) -> Dates:
    """``2010``, ``2010/01:2012``, ``last 5 years``. Raises QueryError for anything else."""
    last = LAST.fullmatch(" ".join(text.lower().split()))
    if last:
        begin = _before(today, int(last[1] or 1), last[2], at)
        return _range(field, f"{begin:%Y/%m/%d}", f"{today:%Y/%m/%d}", at)
    low, colon, high = text.partition(":")
    return _range(field, low.strip(), high.strip() if colon else low.strip(), at)


def _range(field: Field, low: str, high: str, at: int) -> Dates:
    first, last = _bound(low, at, last=False), _bound(high, at, last=True)
    if first > last:
        raise QueryError(f"The range of dates {low}:{high} ends before it begins", "Exchange its ends.", at)
    return Dates(field, first, last, low if low == high else f"{low}:{high}", at)


def _bound(text: str, at: int, *, last: bool) -> int:
    """The first or last day that a date covers."""
    match = DATE.fullmatch(text)
    if not match:
        raise QueryError(f"'{text[:40]}' is no date", ADVICE, at)
    month = int(match[2]) if match[2] else (12 if last else 1)
    day = int(match[3]) if match[3] else (31 if last else 1)
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        raise QueryError(f"'{text}' is no date", ADVICE, at)
    return int(match[1]) * 10_000 + month * 100 + day


def _before(today: date, count: int, unit: str, at: int) -> date:
    if unit == "day":
        return today - timedelta(days=min(count, today.toordinal() - 1))
    months = today.year * 12 + today.month - 1 - count * (12 if unit == "year" else 1)
    if months < 12:
        raise QueryError(f"'last {count} {unit}s' goes back before the calendar", ADVICE, at)
    year, month = divmod(months, 12)
    return date(year, month + 1, min(today.day, 28))  # 28: the last day that every month has
