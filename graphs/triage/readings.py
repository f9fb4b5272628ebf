"""Emergencies by numbers: the values of a text (`tools/text/measures.py`) against the thresholds of `readings.yaml`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from graphs.triage.guards import Guarded
from tools.text.demographics import read_person
from tools.text.measures import ADULT, Value, values

THRESHOLDS = Path(__file__).parent / "readings.yaml"
COMPARED: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt
}  # fmt: skip
# Said beside a number rather than described: how far a pregnancy is, and a lung that is used to little oxygen.
ALSO = {
    "weeks": re.compile(r"\b\d{2}\s*(?:/\s*40|\+\s*\d|weeks?|wks?)\b|孕\s*\d{2}", re.IGNORECASE),
    "copd": re.compile(r"\bcopd\b|emphysema|chronic bronchitis|慢阻肺|肺气肿", re.IGNORECASE),
}


class Alarm(NamedTuple):
    """The code of an emergency and the characters that show it."""

    code: str
    spans: list[tuple[int, int]]


def alarms(text: str, guards: Sequence[Guarded], described: Callable[[str], bool]) -> list[Alarm]:
    """The emergencies that the numbers of a text show. ``described``: whether a concept is present in it."""
    rules = _rules()
    told = [v for v in values(text) if not any(g.start <= v.start < g.end for g in guards)]
    age = read_person(text).age
    found: dict[str, Alarm] = {}
    for flag in rules["flags"]:
        shown = next((spans for line in flag["when"] if (spans := _shown(line, told))), None)
        if shown and flag["code"] not in found and _applies(flag, age, text, described):
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


def _applies(flag: dict[str, Any], age: float | None, text: str, described: Callable[[str], bool]) -> bool:
    """Whether what a flag asks for beside the numbers is there."""
    if flag.get("adult") and age is not None and age < ADULT:
        return False
    if "under_months" in flag and (age is None or age * 12 >= flag["under_months"]):
        return False

    def there(name: str) -> bool:
        return ALSO[name].search(text) is not None if name in ALSO else described(name)

    return ("with" not in flag or any(map(there, flag["with"]))) and not any(map(there, flag.get("without", ())))


@lru_cache(maxsize=1)
def _rules() -> dict[str, Any]:
    import yaml

    rules: dict[str, Any] = yaml.safe_load(THRESHOLDS.read_text(encoding="utf-8"))
    return rules
