"""Clinical calculators from published formulas and scores: `calculate` of given inputs, `calculate_from` of a text."""

from __future__ import annotations

import re
from datetime import date, datetime
from functools import lru_cache

from prompts.errors import InputError
from tools.calculators.formulas import (
    Calculation,
    Given,
    Item,
    anion_gap,
    bmi,
    calculate,
    calculator,
    calculators,
    corrected_calcium,
    egfr,
    gestational_age,
    quantities,
)
from tools.text.clauses import Clause, clauses, patient_in
from tools.text.demographics import SEX_WORDS, Person, age_in, read_person
from tools.text.measures import Value, converted, is_of_now, measures, values
from tools.text.questions import is_closed, is_question, parts

__all__ = [
    "Calculation",
    "anion_gap",
    "asked_for",
    "bmi",
    "calculate",
    "calculate_from",
    "calculators",
    "completes",
    "corrected_calcium",
    "egfr",
    "gestational_age",
    "read",
    "told_of",
]


# Inputs of calculators read from a case or a question, each with the words that it was read from, and whether one
# is asked for. Numbers, age and sex, and what is present or denied come from the readers of `tools.text`.

SMALL = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
# ours: what may stand before a calculator's name where it is asked for, a value behind it that was given, and dates
LEAD = re.compile(
    r"(?:\W|(?:what|whats|is|s|was|would|be|the|an?|his|her|their|my|your|this|patients?|m[ou]ms?|mothers?|dads?|fathers?|wifes?|husbands?|calculate|compute|work|out|estimate|"
    r"find|determine|give|me|tell|please|can|could|will|you|how|high|many|points|score|on|and|also|所以|请|计算|他的|她的|我的|的)"
    r"(?![A-Za-z]))*",
    re.IGNORECASE,
)
STATED = re.compile(
    r"(?:\s*score)?(?:\s+(?:is|was|of)|\s*[=:：])?\s*\d+(?:\.\d+)?(?![\d.]|\s*(?:kg(?!\s*/)|lb|pound|cm|m\b|公斤|厘米)|[\s-]*(?:years?|yrs?|y/?o)\b|\s?[MF岁]\b)",
    re.IGNORECASE,
)
BIDDEN = re.compile(r"\b(?:calculate|compute|work out|estimate|find|determine|give|tell)\b|计算", re.IGNORECASE)
HEADS = re.compile(r"(?:\s*score)?\s*[:：]", re.IGNORECASE)
TRAIL = re.compile(r"(?:\s*score)?(?:是多少|是几分|多少|几分)?\W*")
PERIOD = re.compile(
    r"(?:\bLMP\b|last (?:menstrual )?period|末次月经)\D{0,30}?"
    r"(\d{4}-\d{1,2}-\d{1,2}|\d{1,2}(?:st|nd|rd|th)? [A-Za-z]{3,9},? \d{4}|"
    r"\b[A-Za-z]{3,9} \d{1,2}(?:st|nd|rd|th)?,? \d{4})",
    re.IGNORECASE,
)
DATES = ("%Y-%m-%d", "%d %B %Y", "%d %b %Y", "%B %d %Y", "%b %d %Y")


def asked_for(message: str, case: str = "") -> list[str]:
    """The calculators that a message asks for by name, and of which it or the case tells an input; mostly none.

    A name with its value (``a CHA2DS2-VASc of 3``) or in the middle of another question asks for no calculation.
    """
    message = message.translate(SMALL)
    found = [name for name, pattern in _names() if any(_asks(part, pattern) for part in parts(message))]
    return [name for name in found if _tells(name, told_of(message, case))]


def completes(message: str, asked: str, case: str = "") -> bool:
    """Whether a message gives what a calculation that was asked for lacked, and asks nothing: ``creatinine is 140``.

    Args:
        asked: the question that asked for the calculation. case: the patient's, told beside it.
    """
    if any(map(is_question, parts(message))) or asked_for(message, case):
        return False
    return any(_given(name, message) - _given(name, told_of(asked, case)) for name in asked_for(asked, case))


def _given(name: str, text: str) -> frozenset[str]:
    """The inputs that a text tells; none where one cannot be."""
    try:
        return frozenset(read(name, text))
    except InputError:
        return frozenset()


def told_of(message: str, case: str = "") -> str:
    """What inputs are read from: the message, after the case where the message tells of no patient of its own."""
    return message if not case or age_in(message)[0] is not None else f"{case}\n{message}"


def _tells(name: str, text: str) -> bool:
    """Whether a text tells an input of a calculator, also one that cannot be."""
    try:
        return bool(read(name, text).keys() & set(calculator(name).counted))
    except InputError:
        return True


def calculate_from(name: str, text: str, today: date | None = None) -> Calculation:
    """The calculation of a text's inputs; raises InputError for a value that cannot be."""
    return calculate(name, read(name, text, today))


def read(name: str, text: str, today: date | None = None) -> dict[str, Given]:
    """The inputs of a calculator that a text tells, each with the words that tell it.

    Args:
        name: as in `calculators`. text: a case or a question. today: the day that gestation is counted to.

    Raises:
        InputError: a value has a unit that its measure is not given in.
    """
    made = calculator(name)
    person = read_person(text)
    found = {**_person(text, person), **_numbers(text)}
    if "last_period" in made.needs:
        found |= _dates(text, today)
    told = [c for c in clauses(text, person) if not (c.other or c.reading)]
    for key, item in made.items.items():
        if item.told and (given := _condition(item, told)) is not None:
            found[key] = given
    return {key: value for key, value in found.items() if key in made.inputs}


def _asks(part: str, pattern: re.Pattern[str]) -> bool:
    for match in pattern.finditer(part):
        before = _any_name().sub(" ", part[: match.start()])
        leads = LEAD.fullmatch(before) is not None or "计算" in before
        trails = TRAIL.fullmatch(part, match.end()) is not None
        asks = not is_closed(part) and (
            not part.endswith((".", "!", "。")) or HEADS.match(part, match.end()) is not None
        )
        bids = BIDDEN.search(part, 0, match.start()) is not None
        if (leads or trails) and (asks or bids) and not STATED.match(part, match.end()):
            return True
    return False


def _person(text: str, person: Person) -> dict[str, Given]:
    _, (start, end) = age_in(text)
    found: dict[str, Given] = {}
    if person.age is not None:
        found["age"] = Given(person.age, text[start:end].strip())
    if person.sex is not None:
        word = re.search(rf"\b(?:{SEX_WORDS[person.sex]})\b", text, re.IGNORECASE)
        letter = text[start:end].strip() if person.sex[0].upper() in text[start:end].upper() else ""
        found["sex"] = Given(person.sex, word[0] if word else letter)
    return found


def _numbers(text: str) -> dict[str, Given]:
    """The last number of each quantity that is the patient's and of now."""
    patient = patient_in(text)
    own = [v for v in values(text, quiet=True) if is_of_now(v, text, patient)]
    return {
        name: Given(_in_unit(v), text[v.start : v.end].strip())
        for name, kind in quantities().items()
        for v in sorted((v for v in own if v.measure in kind.measures), key=lambda v: v.start)
    }


def _in_unit(value: Value) -> float:
    known = measures()[value.measure].get("quiet") and value.unit
    if known and converted(value.number, value.unit, value.measure) is None:
        raise InputError(f"{value.measure.replace('_', ' ')}: the unit {value.unit!r} is not known.", "Give another.")
    return value.number


def _dates(text: str, today: date | None) -> dict[str, Given]:
    now = datetime.now().astimezone()
    day = {"day": Given(today or now.date(), "today")}
    match = PERIOD.search(text)
    if match is None:
        return {}
    written = re.sub(r"(?<=\d)(?:st|nd|rd|th)|,", "", match[1])
    for form in DATES:
        try:
            return {
                "last_period": Given(datetime.strptime(written, form).replace(tzinfo=now.tzinfo).date(), match[0]),
                **day,
            }
        except ValueError:
            continue
    raise InputError(f"{match[1]!r} is no date.", "Write it as 2026-03-04.")


def _condition(item: Item, told: list[Clause]) -> Given | None:
    """Whether a condition is stated or denied; None where it is not told, uncertain, or of the past."""
    denied: Given | None = None
    for clause in told:
        words = _words("|".join(filter(None, (item.told, item.denied if clause.present is False else ""))))
        match = next((m for t in (clause.text, clause.plain) for m in [words.search(t)] if m), None)
        if match is None or clause.present is None or (clause.past and clause.present and not item.ever):
            continue
        if clause.present:
            return Given(True, match[0] if match[0] in clause.text else clause.text)
        denied = Given(False, clause.text.strip())
    return denied


@lru_cache(maxsize=256)
def _words(told: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z])(?:{told})(?![A-Za-z])", re.IGNORECASE)


@lru_cache(maxsize=1)
def _any_name() -> re.Pattern[str]:
    return re.compile("|".join(made.names for made in calculators().values()), re.IGNORECASE)


@lru_cache(maxsize=1)
def _names() -> list[tuple[str, re.Pattern[str]]]:
    return [
        (name, re.compile(rf"(?<![A-Za-z])(?:{made.names})(?![A-Za-z])", re.IGNORECASE))
        for name, made in calculators().items()
    ]
