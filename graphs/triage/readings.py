"""Emergencies by numbers: the values of a text (`tools/text/measures.py`) against the thresholds of `readings.yaml`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from tools.text.clauses import clauses, patient_in
from tools.text.demographics import read_person
from tools.text.measures import ADULT, Value, is_of_now, values
from tools.yaml_files import read_yaml

THRESHOLDS = Path(__file__).parent / "readings.yaml"
COMPARED: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt
}  # fmt: skip


class Alarm(NamedTuple):
    """The code of an emergency and the characters that show it."""

    code: str
    spans: list[tuple[int, int]]


def alarms(text: str) -> list[Alarm]:
    """The emergencies that the numbers of a patient's text show."""
    patient = patient_in(text)
    told = [v for v in values(text) if is_of_now(v, text, patient)]
    found: dict[str, Alarm] = {}
    for flag in _rules()["flags"]:
        shown = next((spans for line in flag["when"] if (spans := _shown(line, told))), None)
        if shown and flag["code"] not in found and _applies(flag, text):
            found[flag["code"]] = Alarm(flag["code"], shown)
    return list(found.values())


def _shown(line: Sequence[str], told: Sequence[Value]) -> list[tuple[int, int]]:
    """The characters of the numbers by which every condition of a line holds; [] when one does not."""
    spans: list[tuple[int, int]] = []
    for condition in line:
        name, sign, limit = condition.split()
        hit = next((v for v in told if v.measure == name and COMPARED[sign](v.number, float(limit))), None)
        if hit is None:
            return []
        spans.append((hit.start, hit.end))
    return spans


def _applies(flag: dict[str, Any], text: str) -> bool:
    """Whether what a flag asks for beside the numbers is there."""
    age = read_person(text).age
    if flag.get("adult") and age is not None and age < ADULT:
        return False
    if "under_months" in flag and (age is None or age * 12 >= flag["under_months"]):
        return False
    if "without" in flag and _tells(text, flag["without"]):
        return False
    return "with" not in flag or _tells(text, flag["with"])


def _tells(text: str, name: str) -> bool:
    """Whether something of the words of this name is told and not denied."""
    words = _rules()["words"][name]
    if not words.search(text):
        return False
    return any(words.search(c.text) and c.present is not False and not c.other for c in clauses(text))


@lru_cache(maxsize=1)
def _rules() -> dict[str, Any]:
    rules: dict[str, Any] = read_yaml(THRESHOLDS)
    rules["words"] = {name: re.compile(words, re.IGNORECASE) for name, words in rules["words"].items()}
    return rules
