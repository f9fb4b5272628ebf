"""Which of a patient's medicines may cause what is told: the side effects that their records tell of it (ours).

A record's sentence speaks of a complaint where it states a finding that the case states. Silence is no acquittal: where
no record speaks of it, nothing is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from tools.medicines.checks import is_taken, record_of
from tools.medicines.constraints import asked_of, constraints_in, named_in
from tools.medicines.names import Medicine
from tools.medicines.pages import slug
from tools.medicines.records import Record
from tools.text.questions import is_question, parts
from tools.yaml_files import read_patterns

States = Callable[[str], frozenset[str]]
"""Ids of the findings that a text states, with what they are kinds of."""
MOST = 4  # ours: medicines that are named


class Suspect(NamedTuple):
    """A medicine that is taken, by the name of its page, and the sentence of its record that tells the complaint."""

    page: str
    says: str


def asks_of_blame(question: str, case: str = "") -> bool:
    """Whether a question asks if what a patient has comes from his medicines: from those that he takes, one that it
    names, or one that was begun or stopped before it came."""
    words, asked, told = _words(), asked_of(question), f"{case}\n{question}"
    if not any(is_question(part) for part in parts(question)):
        return False
    normal = asks_if_usual(question) and words["since"].search(told)
    return bool((words["medicines"].search(asked) or words["blames"].search(asked) or normal) and _taken(told))


def asks_if_usual(question: str) -> bool:
    """Whether a question asks if what is told is normal: to that neither yes nor no is a harmless answer."""
    return any(is_question(part) and _words()["normal"].search(part) for part in parts(question))


def suspects(question: str, case: str, states: States) -> tuple[Suspect, ...]:
    """The medicines whose records tell what the case complains of, those with most of it first; of the ones that the
    question names, where it names any."""
    asked, told = asked_of(question), f"{case}\n{question}"
    own = {m.generic for m in named_in(asked)}
    taken = [m for m in _taken(told) if not own or m.generic in own]
    complaint = " ".join(p for p in parts(told) if p.strip() not in asked) if not own else told
    wanted, stopped = states(_nameless(complaint)), _words()["stopped"].search(told) is not None
    found: list[tuple[int, Suspect]] = []
    for medicine in taken:
        record = record_of(medicine)
        if record is not None:
            found += [
                (n, Suspect(slug(record.name), says))
                for n, says in [_telling(record, wanted, states, stopped=stopped)]
                if n
            ]
    ordered = sorted(found, key=lambda one: -one[0])
    return tuple(dict.fromkeys(suspect for _, suspect in ordered))[:MOST]


def _nameless(text: str) -> str:
    """A text without the names of medicines: that one is taken is no complaint."""
    for medicine in sorted(named_in(text), key=lambda m: -m.start):
        text = f"{text[: medicine.start]}it{text[medicine.start + len(medicine.written) :]}"
    return text


def _telling(record: Record, wanted: frozenset[str], states: States, *, stopped: bool) -> tuple[int, str]:
    """The side effect's sentence that states most of what is wanted, and how much; of a medicine that was stopped what
    comes of that stands for one finding more."""
    of_stopping = [says for says in record.taking if stopped and _words()["stopping"].search(says)]
    each = [
        (len(states(_nameless(says)) & wanted) + (says in of_stopping), says)
        for says in (*of_stopping, *record.side_effects)
    ]
    return max(each, key=lambda one: one[0])


def _taken(told: str) -> list[Medicine]:
    """The medicines that a text tells as taken, or as stopped before what it complains of, each once."""
    allergies = {c.named.lower() for c in constraints_in(told) if c.why == "allergy"}
    named = {m.generic: m for m in named_in(told) if m.generic and m.written.lower() not in allergies}
    stopped = asks_if_usual(told) and _words()["stopped"].search(told)
    return [m for m in named.values() if stopped or is_taken(told, m)]


@lru_cache(maxsize=1)
def _words() -> dict[str, re.Pattern[str]]:
    return read_patterns(Path(__file__).with_name("blame.yaml"))
