"""How long something has lasted, in days, as a text tells it: ``for 3 days``, ``since yesterday``, ``两周`` (ours)."""

from __future__ import annotations

import re

DAYS = {"hour": 1 / 24, "day": 1.0, "week": 7.0, "month": 30.0, "year": 365.0}
UNITS_ZH = {"小时": "hour", "天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week"}
UNITS_ZH |= {"个月": "month", "年": "year"}
ENGLISH = "a one two three four five six seven eight nine ten eleven twelve".split()
NUMBERS = {word: float(max(n, 1)) for n, word in enumerate(ENGLISH)} | {"an": 1.0, "couple of": 2.0}
NUMBERS |= {"a couple of": 2.0, "few": 4.0, "a few": 4.0, "several": 5.0}  # ours: what people mean by a few
NUMBERS |= dict(zip("半一二三四五六七八九十", (0.5, *map(float, range(1, 11))), strict=True)) | {"两": 2.0, "几": 4.0}
_COUNT = r"\d+(?:\.\d+)?|" + "|".join(sorted((n for n in NUMBERS if n.isascii()), key=len, reverse=True))
_TOLD = re.compile(
    rf"\b(?:(?:\d+|\w+) ?(?:-|–|to|or) ?)?(?P<n>{_COUNT})[- ]?(?P<unit>hour|day|week|month|year)s?\b(?!['’]?[- ]old)",
    re.IGNORECASE,
)
_TOLD_ZH = re.compile(
    rf"(?P<n>(?<!\d)\d{{1,6}}(?:\.\d{{1,3}})?|[半一二两三四五六七八九十几])(?:多|余)?(?P<unit>{'|'.join(UNITS_ZH)})(?![龄岁])"
)
_RECENT = re.compile(
    r"\bsince (?:yesterday|last night|this \w+|today)\b|(?:昨|今)[天日晚早]?(?:起|开始|以来)", re.IGNORECASE
)
_LONG = re.compile(r"\b(?:weeks|months|years|ages)\b|数[日天周月年]|多[日天周月年]|长期|一直", re.IGNORECASE)
_LEAST = re.compile(r"\blast(?:s|ed|ing) (?:for )?(?:more|longer) than (?P<rest>.+)$", re.IGNORECASE)
# A clause of nothing but these words tells when, not what
_ONLY_WHEN = re.compile(
    rf"(?:\W*\b(?:{_COUNT}|half|the|it|this|that|all|and|has|have|had|been|was|is|started|starting|began|came|come|on"
    r"|going|for|since|about|around|roughly|over|nearly|almost|at|least|just|only|now|ago|back|earlier|last|past|of"
    r"|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|morning|night|evening|afternoon|noon|today|yesterday"
    r"|tonight|am|pm)\b)+\W*",
    re.IGNORECASE,
)


def only_when(text: str) -> bool:
    """Whether a text tells when something was and nothing else: ``started half an hour ago``."""
    return _ONLY_WHEN.fullmatch(text) is not None


def told_days(text: str) -> float | None:
    """Days of the longest stretch of time that a text names; None when it names none, or one without a number."""
    if _LONG.search(_TOLD.sub(" # ", text)):
        return None
    found = [_number(m["n"]) * DAYS[m["unit"].lower()] for m in _TOLD.finditer(text)]
    found += [_number(m["n"]) * DAYS[UNITS_ZH[m["unit"]]] for m in _TOLD_ZH.finditer(text)]
    found += [1.0] if _RECENT.search(text) else []
    return max(found, default=None)


def least_days(name: str) -> float:
    """Days that a finding must have lasted by its name (``fever lasting more than two weeks``); 0 for no rule."""
    match = _LEAST.search(name)
    return (told_days(match["rest"]) or 0.0) if match is not None else 0.0


def _number(text: str) -> float:
    return NUMBERS.get(text.lower()) or float(text)
