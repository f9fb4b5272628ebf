"""Vital signs told as numbers, turned into words: ``T 38.6`` is fever, ``BP 92/50`` is low blood pressure.

Adult limits of common early-warning scores; breathing and pulse of children under twelve are not judged.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Reading(NamedTuple):
    """What a number says: the finding in words, whether it is present, and the number's characters in the text."""

    words: str
    present: bool
    start: int
    end: int


_TEMPERATURE = re.compile(
    r"(?:\b(?:T|temp|temperature|Temp)\b\D{0,12}?|体温\D{0,5}?)(3[4-9](?:\.\d)?|4[0-2](?:\.\d)?)(?!\d)\s*(?:°?C\b|℃|degrees)?|"
    r"\b((?:3[5-9]|4[0-2])\.\d)\s*(?:°C?|℃|degrees|度)"
)
_FAHRENHEIT = re.compile(r"\b(9[5-9](?:\.\d)?|10[0-7](?:\.\d)?)\s*(?:°?F\b|℉)")
_PULSE = re.compile(
    r"(?:\b(?:HR|P|pulse|heart rate)\b\D{0,8}?|(?:心率|脉搏)\D{0,3}?)(\d{2,3})(?![\d/])(?:\s*/?\s*(?:bpm|min|次/分))?",
    re.I,
)
_PRESSURE = re.compile(r"(?:\b(?:BP|blood pressure)\b\D{0,8}?|血压\D{0,3}?)(\d{2,3})\s*/\s*(\d{2,3})", re.I)
_BREATHING = re.compile(
    r"(?:\b(?:RR|resps?|resp(?:iratory)? rate)\b\D{0,5}?|呼吸(?:频率)?\D{0,2}?)(\d{2})(?![\d/])", re.I
)
_OXYGEN = re.compile(
    r"(?:\b(?:SpO2|SaO2|sats?|saturations?|O2 sats?)\b\D{0,12}?|血氧(?:饱和度)?\D{0,3}?)(\d{2,3})\s?%?", re.I
)
BORDERLINE = 100  # mmHg; ours: a systolic pressure up to here is not called normal
CHILD = 12.0  # years; ours


def readings(text: str, age: float | None = None) -> list[Reading]:
    """The vital signs of a text in order. ``age`` in years, None for an adult."""
    found: list[Reading] = []
    for match in _TEMPERATURE.finditer(text):
        found += _told(_temperature(float(match[1] or match[2])), match)
    for match in _FAHRENHEIT.finditer(text):
        found += _told(_temperature((float(match[1]) - 32) / 1.8), match)
    for match in _PRESSURE.finditer(text):
        found += _told(_pressure(int(match[1]), int(match[2])), match)
    for match in _OXYGEN.finditer(text):
        if 50 <= int(match[1]) <= 100:
            found += _told([("low oxygen saturation", int(match[1]) < 94)], match)
    if age is None or age >= CHILD:
        for match in _PULSE.finditer(text):
            found += _told(_pulse(int(match[1])), match)
        for match in _BREATHING.finditer(text):
            found += _told([("fast breathing", int(match[1]) > 20)], match)
    return sorted(found, key=lambda r: r.start)


def _told(words: list[tuple[str, bool]], match: re.Match[str]) -> list[Reading]:
    return [Reading(name, present, *match.span()) for name, present in words]


def _temperature(celsius: float) -> list[tuple[str, bool]]:
    if celsius >= 39:
        return [("high fever", True)]
    if celsius >= 38:
        return [("fever", True)]
    return [("low-grade fever", True)] if celsius >= 37.5 else [("fever", False)]


def _pressure(systolic: int, diastolic: int) -> list[tuple[str, bool]]:
    if systolic < 90:
        return [("low blood pressure", True)]
    high = [("high blood pressure reading", systolic >= 140 or diastolic >= 90)]
    return [*high, ("low blood pressure", False)] if systolic > BORDERLINE else high


def _pulse(rate: int) -> list[tuple[str, bool]]:
    if rate < 50:
        return [("slow heart rate", True)]
    return [("fast heart rate", rate > 100)]
