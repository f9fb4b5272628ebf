"""Red flags of an emergency: what numbers show, and what a trained head hears, each with a name and what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from graphs.triage import questions
from graphs.triage.contract import RedFlag
from graphs.triage.head import emergency_chance, emergency_in
from graphs.triage.readings import alarms
from tools.text.sentences import sentences
from tools.yaml_files import read_yaml

NAMES = Path(__file__).parent / "red_flags.yaml"
UNNAMED = "emergency"  # code of one that is like examples of several
NAMED = 0.3  # ours: probability from which an emergency is named; held out, two in three are, 81 % of these rightly
ADVISED = 0.5  # ours: the same of what to do
VIGNETTE = re.compile(
    r"^\W*(?:an? |the )(?:[\w-]+ ){0,4}(?:man|woman|patient|boy|girl|child|infant|baby|male|female|\S*-old)\b", re.I
)
QUOTED = 200  # ours: characters of a message that are told


class Emergency(NamedTuple):
    """What an emergency is called, and what to do, by language."""

    code: str
    name: dict[str, str]
    advice: dict[str, str]


class Emergencies(NamedTuple):
    """Every emergency by its code, and the code of each kind of example."""

    named: dict[str, Emergency]
    exemplars: dict[str, str]


def red_flags(text: str, language: str, *, alone: bool = True, exam: bool = False) -> tuple[RedFlag, ...]:
    """The emergencies that a message shows, worded in ``language``: by its numbers, and by what it tells.

    Args:
        alone: nothing was said before. exam: options are given; the patient of an examination's vignette is nobody.
    """
    if exam and VIGNETTE.match(text):
        return ()
    shown = () if exam else by_numbers(text, language)
    heard = emergency_in(text, alone=alone and not exam)
    if heard is None:
        return shown
    found = _likeliest(heard.kinds)
    if shown and (found.code == UNNAMED or any(flag.code == found.code for flag in shown)):
        return shown
    return (_flag(found, language, f"“{_told(text)}”"), *shown)


def by_numbers(text: str, language: str) -> tuple[RedFlag, ...]:
    """The emergencies that a patient's numbers show."""
    found = alarms(text)
    if not found or all(map(questions.is_question, questions.parts(text))):
        return ()  # "Is a pressure of 84/50 dangerous?"
    quotes = {a.code: "; ".join(f"“{text[start:end].strip()}”" for start, end in sorted(set(a.spans))) for a in found}
    return tuple(_flag(emergencies().named[code], language, told) for code, told in quotes.items())


def _likeliest(kinds: Mapping[str, float]) -> Emergency:
    """What an emergency is by its likeness to each kind of example; unnamed where that is not sure enough."""
    known = emergencies()
    codes: dict[str, float] = {}
    for kind, share in kinds.items():
        codes[known.exemplars[kind]] = codes.get(known.exemplars[kind], 0.0) + share
    code = max(codes, key=codes.__getitem__)
    if codes[code] >= NAMED:
        return known.named[code]
    advice: dict[str, float] = {}
    for other, share in codes.items():
        told = known.named[other].advice["en"]
        advice[told] = advice.get(told, 0.0) + share
    sure = next((e for c, e in known.named.items() if c in codes and advice[e.advice["en"]] >= ADVISED), None)
    unnamed = known.named[UNNAMED]
    return unnamed if sure is None else unnamed._replace(advice=sure.advice)


def _told(text: str) -> str:
    """What of a message tells of an emergency most plainly: of a long one the one or two sentences that do by
    themselves, else the likeliest; cut where it is long."""
    text = text.strip()
    parts = [part for span in sentences(text) if (part := span.of(text).strip())]
    if len(text) > QUOTED and len(parts) > 1:
        sure = [part for part in parts if emergency_in(part)] or [max(parts, key=emergency_chance)]
        text = " ".join(sure[:2])
    return text if len(text) <= QUOTED else f"{text[:QUOTED].rstrip()}…"


def _flag(found: Emergency, language: str, quotes: str) -> RedFlag:
    mark = "：" if language == "zh" else ": "
    return RedFlag(code=found.code, seen=found.name[language] + mark + quotes, advice=found.advice[language])


@lru_cache(maxsize=1)
def emergencies() -> Emergencies:
    """The names and advice of this room's YAML file."""
    data: dict[str, Any] = read_yaml(NAMES)
    named = {
        e["code"]: Emergency(e["code"], {"en": e["en"], "zh": e["zh"]}, data["advice"][e["advice"]])
        for e in data["named"]
    }
    return Emergencies(named, data["exemplars"])
