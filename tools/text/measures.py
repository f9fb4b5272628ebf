"""Vital signs and laboratory values: numbers of a text by the ranges of `measures.yaml`, and what they tell.

``T 38.6`` is fever, ``Hb 84`` low haemoglobin, ``WCC 6.1`` neither a high nor a low count. Ranges are those of adults,
and of children where they are known. What lies near a limit, long ago or in another fluid tells nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from tools.text.demographics import Person
from tools.text.language import language_of
from tools.text.negation import is_other_person, is_past
from tools.yaml_files import read_yaml

RANGES = Path(__file__).with_name("measures.yaml")
ADULT = 12.0  # years; ours
NEAR = 80  # characters; ours: how far back the fluid is named
AHEAD = 300  # characters; ours: how far on what belongs to a number is told
AT_HOUR = r"(?:[@(]|\bat )?\s?\bT?\d{1,2}\s?(?:h|hrs?|hours?|mins?|minutes)\b\)?(?: (?:later|post))?"  # of a series
NUMBER = (
    r"(\d{1,3}(?:,\d{3})+|\d{1,6}(?:\.\d+)?)"
    r"(?!\d|,\d{3}|[./]\d|\s?[-–~]\s?\d|\s?(?:h|hrs?|hours?|days?|weeks?|months?|years?|times)\b)"
)
GAP = (
    rf"(?:\s|[:：=~≈<>≤≥(（+-]|{AT_HOUR}|\b(?:is|was|are|were|been|has|have|of|at|to|now|today|level|levels|count|only|just|came|"
    r"comes|come|back|about|around|up|down|as|result|results|reading|reads|measured|reported|dropped|fallen|fell|risen|rose|gone|from|"
    r"went|still|currently|raised|high|low|elevated|normal|fine|total|serum|random|fasting|this morning|"
    r"on admission)\b){0,9}?"
)
GAP_ZH = r"(?:\s|[:：=~≈<>≤≥(（为是约达到仅升高降低检查结果示,，]){0,6}?"
UNIT = (
    r"(?:[x×*]\s?10(?:\^|\*\*)?\s?[⁹69]?(?:/\s?[lL])?|(?:g|mg|ng|pg|[µμu]g|mcg|[pn]?mol|m?mol|m?[eE]q|[µμu]mol|[mµμu]?I?U|[kK](?=\s?/)|million|la(?:kh|c)s?)"
    r"(?:\s?/\s?(?:d?[lL]|m[lL]|m?mol|g|mm3|[µμu]L|h))?(?![A-Za-z])|mm\s?Hg|kPa|bpm|%|℃|°\s?[CF]|/\s?min|mm/h|次/分|度|万)"
)
RANGE = (
    r"[（(]\s*(?:[A-Za-z ]{0,16}\d[\d.,]*\s*[-–~]\s*\d[\d.,]*|(?:normal|ref\w*|nr)?\s*[<>≤≥]\s*\d[\d.,]*)"
    r"[^)）]{0,12}[)）]"
)
TAIL = re.compile(rf"(?:\s?{UNIT}){{0,2}}(?:\s*FEU)?(?:\s*{RANGE})?")
LATER = re.compile(rf"\s*(?:-+>|→|=>|\b(?:(?:up|down) )?(?:to|then|now)\b)\s*{NUMBER}", re.IGNORECASE)
# ours: of a measure that is taken in a series: "18 (0h), 96 (3h)", "12 and 85"
NEXT = re.compile(
    rf"(?:\s?n?[gG]/[mM]?[lL])?\s*(?:{AT_HOUR})?\s*(?:[,;/&]|-+>|→|=>|\b(?:and|then|to|now|rising to|repeat)\b)+\s*"
    rf"(?:(?:{AT_HOUR}|repeat|then|[:=<>])\s*){{0,4}}{NUMBER}(?!\s?%|\s?(?!at\b|ng?\b)[A-Za-z])",
    re.IGNORECASE,
)
DIRECTED = re.compile(
    r"\b(?:raised|high|low|elevated|reduced|deranged|abnormal)\b|[↑↓]|升高|降低|偏高|偏低", re.IGNORECASE
)
BEFORE = 12  # characters; ours: how far before a value it is said to be high or low
FLUID = re.compile(
    r"\b(?:csf|lumbar puncture|lp|spinal fluid|pleural|ascit\w+|peritoneal|synovial|joint (?:fluid|aspirate)|"
    r"aspirate|tap)\b|脑脊液|胸水|腹水|关节液",
    re.IGNORECASE,
)
URINE = re.compile(r"\b(?:urine|urinary|dip(?:stick)?|msu|u/a|ua|stool)\b|尿(?!酸)|大便", re.IGNORECASE)
BLOOD = re.compile(r"\b(?:blood|bloods|serum|plasma|fbc|cbc)\b|血", re.IGNORECASE)
NOT_NOW = re.compile(
    r"\b(?:target|aim(?:ing)?|goal|reference|usual|usually|threshold|cut-?off|baseline|(?:weeks?|months?|years?) ago|"
    r"last (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|spring|summer|autumn|winter|year|month)\w*)\b|"
    r"目标|参考|去年|月前",
    re.IGNORECASE,
)
PIECE = re.compile(r"[,;，；。\n](?!\d)|\.(?!\d)")
_MICRO = str.maketrans("µμ", "uu")
BRACKETS = re.compile(r"[(（][^()（）]*[)）]")


class Value(NamedTuple):
    """A measured number in its measure's unit, and its characters in the text; ``unit``: what follows it; ``first``:
    of a series the first number, in the same unit."""

    measure: str
    number: float
    start: int
    end: int
    unit: str = ""
    first: float | None = None


class Reading(NamedTuple):
    """What a number says: a finding in words, whether it is present, and the number's characters in the text.

    ``words`` is "" where the number tells nothing. ``normal``: it is as it should be.
    """

    words: str
    present: bool
    start: int
    end: int
    normal: bool = False


def readings(text: str, person: Person | None = None, patient: str = "") -> list[Reading]:
    """What the vital signs and values of a sentence tell, in order; each number is there, also what tells nothing.

    Args:
        text: a sentence.
        person: the patient; None for an adult of unknown sex.
        patient: the word by which the teller names the patient (``son``).
    """
    person = person or Person()
    told: list[Reading] = []
    silent: list[Reading] = []
    for value in _last_of_series(list(values(text))):
        said = [
            Reading(words, present, value.start, value.end, normal)
            for words, present, normal in _told(value, text, person, patient)
        ]
        told += said
        silent += [] if said or _is_directed(value, text) else [Reading("", False, value.start, value.end)]
    shown = {r.words for r in told if r.present}
    silent += [r._replace(words="") for r in told if not r.present and r.words in shown]
    told = [r for r in told if r.present or r.words not in shown]
    silent = [s for s in silent if not any(r.start <= s.start and s.end <= r.end for r in told)]
    return sorted(dict.fromkeys([*told, *silent]), key=lambda r: r.start)


def _last_of_series(found: list[Value]) -> list[Value]:
    """Values without those of a series that is told one by one (``T0 trop 9, T3 trop 64``) but its last."""
    out: list[Value] = []
    for value in found:
        same = [v for v in found if v.measure == value.measure and measures()[v.measure].get("series")]
        if not same or value is max(same, key=lambda v: v.start):
            began = min(same, key=lambda v: v.start).number if len(same) > 1 else value.first
            out.append(value._replace(first=began))
    return out


def with_directions(text: str) -> str:
    """A question with what its abnormal numbers mean behind them, to be searched by: ``6.3 (high potassium)``."""
    told: dict[int, str] = {}
    for value in values(text):
        rows = measures()[value.measure].get("tells", ())
        shown: Mapping[str, Any] = next((one for one in rows if _shown(value, one, Person())), {})
        if "asked" in shown and is_of_now(value, text):
            told[value.end] = shown["asked"][language_of(text)]
    for end in sorted(told, reverse=True):
        text = f"{text[:end]} ({told[end]}){text[end:]}"
    return text


def values(text: str, *, quiet: bool = False) -> Iterator[Value]:
    """Every number of a measure, whoever's and whenever it was; with ``quiet`` also of those for
    calculators and red flags alone."""
    if not any(c.isdigit() for c in text):
        return
    named: list[tuple[int, int]] = []
    for name, measure in measures().items():
        if measure.get("quiet") and not quiet:
            continue
        for match in measure["pattern"].finditer(text):
            found = list(_values(name, measure, match, text))
            if measure.get("unnamed") and any(a < v.end and v.start < b for v in found for a, b in named):
                continue
            named += [(v.start, v.end) for v in found]
            yield from found


def _values(name: str, measure: Mapping[str, Any], match: re.Match[str], text: str) -> Iterator[Value]:
    if "not_behind" in measure and re.search(
        measure["not_behind"], text[max(0, match.start() - NEAR) : match.start()], re.IGNORECASE
    ):
        return
    if "not_ahead" in measure and re.match(measure["not_ahead"], text[match.end() :], re.IGNORECASE):
        return
    numbers = [float(g.replace(",", "")) for g in match.groups() if g]
    if measure.get("drop"):
        numbers = [numbers[0] - numbers[1]] if measure["drop"] != "either way" else [abs(numbers[0] - numbers[1])]
    end, first = match.end(), None
    following = NEXT if measure.get("series") else LATER
    while measure.get("names") and (later := following.match(text, end)):  # of a series the last is that of now
        first = numbers[0] if first is None else first
        numbers, end = [float(later[1].replace(",", ""))], later.end(1)
    tail = measure["tail"].match(text, end)
    unit = "" if tail is None else tail[0].strip().lower().translate(_MICRO).replace("mcg", "ug")
    if measure.get("percent") and unit.startswith("%"):
        return
    for number in numbers:
        number = _in_unit(number, unit, measure)
        began = None if first is None else _in_unit(first, unit, measure)
        if measure["least"] <= number <= measure["most"]:
            yield Value(name, number, match.start(), end if tail is None else tail.end(), unit, began)


def converted(number: float, unit: str, measure: str) -> float | None:
    """A number with its unit in the unit of a measure; None for a unit that the measure is not given in."""
    written = unit.strip().lower().translate(_MICRO).replace(" ", "")
    rules = measures()[measure].get("units", ())
    factor = next((o for o in rules if "unit" in o and written.startswith(o["unit"])), None)
    return None if factor is None or not written else float((number + factor.get("plus", 0.0)) * factor["times"])


def _in_unit(number: float, unit: str, measure: Mapping[str, Any]) -> float:
    for other in measure.get("units", ()):
        said = unit.replace(" ", "").startswith(other["unit"]) if "unit" in other else False
        if said or number > other.get("over", float("inf")) or number < other.get("below", float("-inf")):
            return float((number + other.get("plus", 0.0)) * other["times"])
    return number


def _is_directed(value: Value, text: str) -> bool:
    """Whether words say that a number is high or low, of which its measure tells something: they then tell it."""
    said = DIRECTED.search(text, max(0, value.start - BEFORE), value.end)
    return said is not None and bool(measures()[value.measure].get("tells"))


def _told(value: Value, text: str, person: Person, patient: str) -> Iterator[tuple[str, bool, bool]]:
    """The findings that a number tells, whether each is present, and whether the number is then as it should be."""
    measure = measures()[value.measure]
    child = measure.get("child", ADULT)
    if person.age is not None and person.age < (0.0 if child is True else child):
        return
    if not is_of_now(value, text, patient):
        return
    after = text[value.end : value.end + AHEAD]
    verdicts = [(one, _shown(value, one, person)) for one in measure.get("tells", ())]
    present = next((one for one, shown in verdicts if shown), None)
    if present is not None:
        yield present["words"], True, present.get("normal", False)
    elif not ("supported" in measure and re.search(measure["supported"], after, re.IGNORECASE)):
        yield from ((one["words"], False, True) for one, shown in verdicts if shown is False)


def is_of_now(value: Value, text: str, patient: str = "") -> bool:
    """Whether a number is of the patient and of now, and of the fluid that its measure means."""
    before, after = text[max(0, value.start - NEAR) : value.start], text[value.end : value.end + AHEAD]
    piece = PIECE.split(before)[-1] + text[value.start : value.end] + PIECE.split(BRACKETS.sub("", after))[0]
    if is_past(piece) or NOT_NOW.search(piece) or is_other_person(piece, patient):
        return False
    if measures()[value.measure].get("sample"):
        fluids = list(FLUID.finditer(before))
        return not (URINE.search(piece) or (fluids and not BLOOD.search(before, fluids[-1].end())))
    return True


def is_usual(value: Value) -> bool:
    """Whether a number lies where it raises no emergency, by the measures that say so."""
    least, most = measures()[value.measure].get("usual", (1, 0))
    return bool(least <= value.number <= most)


def tells(value: Value, words: str, person: Person) -> bool:
    """Whether a number shows a finding of its measure in such a patient."""
    return any(one["words"] == words and _shown(value, one, person) for one in measures()[value.measure]["tells"])


def _shown(value: Value, one: Mapping[str, Any], person: Person) -> bool | None:
    """Whether a number shows a finding, of either sex where it is not known; None near the limit."""
    number, low = value.number, "below" in one
    limits = _limits(one["below"] if low else one.get("over", one.get("from")), person)
    if limits and all(number < x if low else number >= x if "from" in one else number > x for x in limits):
        return True
    clear = _limits(one["clear"], person) if "clear" in one else []
    risen = "rise" in one and value.first is not None and number - value.first >= one["rise"]
    if risen and all(number > x for x in clear):
        return True
    return False if clear and all(number >= x if low else number <= x for x in clear) else None


def _limits(limit: Any, person: Person) -> list[float]:
    """The limits of a finding that hold for a patient: one, none, one of each sex, or those of the first age in years
    that the patient is below; an adult's where no age is told."""
    if limit is None:
        return []
    if not isinstance(limit, Mapping):
        return [limit]
    if "m" in limit:
        return [limit[person.sex[0]]] if person.sex else list(limit.values())
    ages = sorted(limit)
    below = next((a for a in ages if person.age is not None and person.age < a), ages[-1])
    return _limits(limit[below], person)


@lru_cache(maxsize=1)
def measures() -> dict[str, dict[str, Any]]:
    """The measures by name, with their patterns."""

    out: dict[str, dict[str, Any]] = read_yaml(RANGES)
    for measure in out.values():
        if "names" in measure:
            english = rf"(?<![A-Za-z])(?:{measure['names']})(?![A-Za-z]){GAP}"
            measure["pattern"] = rf"(?:{english}|(?:{measure['zh']}){GAP_ZH}){NUMBER}"
        measure["pattern"] = re.compile(measure["pattern"], re.IGNORECASE)
        measure["tail"] = re.compile(measure["tail"], re.IGNORECASE) if "tail" in measure else TAIL
    return out
