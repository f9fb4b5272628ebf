"""Dates as PubMed's records write them, to ISO and as precise as they are known."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

MONTHS = {m: n for n, m in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
YEAR = re.compile(r"(?<!\d)(1[89]|20|21)\d\d(?!\d)")
DAYS = re.compile(r"[0-9]{1,2}")


def iso_date(element: Any) -> str:
    """``2019-02-05``, ``2019-02`` or ``2019`` from an element with Year, Month and Day; "" when there is no year.

    A season is left out, a range (``2007 Dec-2008 Jan``) gives its first year, and a part that no calendar has
    (month 13, 30 February, an empty string) is left out with all that is finer.
    """
    if element is None:
        return ""
    match = YEAR.search((element.findtext("Year") or element.findtext("MedlineDate") or "").strip())
    if match is None:
        return ""
    year = match[0]
    month = _month((element.findtext("Month") or "").strip())
    if not month:
        return year
    day = (element.findtext("Day") or "").strip()
    try:
        return date(int(year), month, int(day)).isoformat() if DAYS.fullmatch(day) else f"{year}-{month:02d}"
    except ValueError:
        return f"{year}-{month:02d}"


def _month(text: str) -> int:
    if DAYS.fullmatch(text):
        return int(text) if 1 <= int(text) <= 12 else 0
    return MONTHS.get(text[:3].lower(), 0)
