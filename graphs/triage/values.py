"""Replies that are values: a place to "where does it hurt?", a home measurement to "is your oxygen low?". All ours."""

from __future__ import annotations

import re
from typing import NamedTuple

from tools.text.body_sites import sites
from tools.text.language import language_of
from tools.text.measures import readings

ASKS_PLACE = re.compile(r"^\W*where\b.*\bpain\b|哪里.*痛", re.IGNORECASE)
NOWHERE = re.compile(
    r"^\W*(?:nowhere|no pain|not anywhere|none|无痛|没有?疼?痛|不痛|不疼|哪里?都不[痛疼])", re.IGNORECASE
)
HURTS = re.compile(r"\b(?:pains?|painful|\w*aches?|aching|hurts?|hurting|sore)\b|[痛疼]", re.IGNORECASE)
LEADING = re.compile(
    r"^(?:and |also )?(?:it'?s |it is )?(?:only |just |mostly |mainly )?(?:in|on|at|around)\s+", re.IGNORECASE
)
BETWEEN = re.compile(r"\s*(?:[,;，、；]|\band\b|和|以及|还有)\s*", re.IGNORECASE)
WORDS_OF_DEGREE = re.compile(r"\b(low|high|fast|slow)\b", re.IGNORECASE)
# What a question asks to be measured -> how the number is written for the reader of vital signs.
MEASURED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\boxygen\b|血氧", re.IGNORECASE), "SpO2 {}"),
    (re.compile(r"blood pressure|血压", re.IGNORECASE), "BP {}"),
    (re.compile(r"\bpulse\b|heart rate|脉搏|心率", re.IGNORECASE), "HR {}"),
    (re.compile(r"\bbreathing faster\b|breaths a minute|呼吸.*快", re.IGNORECASE), "RR {}"),
)
NUMBER = re.compile(r"(?<![\d.])\d{2,3}(?:\s*/\s*\d{2,3})?(?![\d.])")
DEGREE_ZH = {"低": "low", "高": "high", "快": "fast", "慢": "slow"}


class Measured(NamedTuple):
    """A measurement in reply: whether it shows what was asked about, and how the case states it."""

    present: bool | None
    statement: str


def places_of(text: str) -> tuple[str, ...]:
    """A statement of pain for each place that a reply names: ``chest and left arm`` -> two; () when none is named."""
    parts = [LEADING.sub("", p).strip(" .。!！") for p in BETWEEN.split(text)]
    named = [p for p in parts if p]
    if not named or not sites(text) or not all(sites(p) or HURTS.search(p) for p in named):
        return ()  # no list of places: what else it tells would be lost
    if language_of(text) == "zh":
        return tuple(f"{p}。" if HURTS.search(p) else f"{p}疼痛。" for p in named)
    return tuple(f"{p[:1].upper()}{p[1:]}." if HURTS.search(p) else f"Pain in {p}." for p in named)


def read_measurement(text: str, question: str) -> Measured | None:
    """A number in reply to a question about something measured; None when there is none, or none is asked for."""
    form = next((form for topic, form in MEASURED if topic.search(question)), None)
    number = NUMBER.search(text)
    if form is None or number is None:
        return None
    told = form.format(re.sub(r"\s", "", number[0]))
    found = readings(told)
    if not found:
        return None
    wanted = _degree(question)
    if wanted is None:
        return Measured(None, f"{told}.")
    present = next((r.present for r in found if wanted in r.words), False)
    return Measured(present, f"{told}.")


def _degree(question: str) -> str | None:
    match = WORDS_OF_DEGREE.search(question.replace("faster", "fast").replace("slowly", "slow"))
    if match:
        return match[1].lower()
    return next((word for sign, word in DEGREE_ZH.items() if sign in question), None)
