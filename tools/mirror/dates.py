"""Dates of queries and of records as numbers YYYYMMDD.

A publication date without month counts as January, one without day as the first (PubMed User Guide, "Publication
Date [dp]").
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from tools.mirror.syntax import Dates, Field, QueryError

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
