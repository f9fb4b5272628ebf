"""Dates as documents write them, as ISO dates as precise as they are."""

from __future__ import annotations

import datetime as dt
import re

ISO = re.compile(r"^\s*(?P<year>\d{4})(?:[-/](?P<month>\d{1,2})(?:[-/](?P<day>\d{1,2}))?)?(?!\d)")
FIRST, LAST = 1800, 2200  # ours: years outside are no dates of documents


def iso_date(value: object) -> str:
    """``2024``, ``2024-05`` or ``2024-05-17`` from a date, a year, or text that begins with one; "" for all else.

    A part that no calendar has (month 13, 30 February) is left out with all that is finer.
    """
    if isinstance(value, dt.date):
        return value.isoformat()[:10]
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return ""
    match = ISO.match(str(value))
    if match is None or not FIRST <= int(match["year"]) <= LAST:
        return ""
    year, month, day = (int(match[part] or 0) for part in ("year", "month", "day"))
    if not 1 <= month <= 12:
        return f"{year}"
    try:
        return dt.date(year, month, day).isoformat()
    except ValueError:
        return f"{year}-{month:02d}"
