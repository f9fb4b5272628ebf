"""Whether a message opens another patient, or says again what it said before. All rules ours."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphs.triage import revisions
from tools.text.demographics import read_person
from tools.text.tokens import tokens

NEW_CASE = (
    "another patient", "different patient", "new patient", "new case", "next patient", "另一个患者", "另一位患者",
    "新病例",
    "换一个",
)  # fmt: skip
# A person who comes in with an age: ``A 2-year-old girl``, ``45M``, ``2岁女孩``, ``男,45岁``.
INTRODUCED = re.compile(
    r"(?i:^\W*(?:(?:an?|the|this|another) )?(?:\w+ ){0,2}?[\d.]{1,4}[- ]?"
    r"(?:years?|yrs?|months?|mths?|weeks?|wks?|days?)"
    r"[- ]old\b)|^\W*\d{1,3} ?(?:yo|y/o|y)?[ -]?(?:M|F|(?i:male|female))\b|"
    r"^\W*(?:一?[名位个])?(?:患者|病人)?[，, ]?"
    r"(?:[男女][性孩童]?[，,、 ]*\d{1,3} ?(?:岁|个月)|\d{1,3} ?(?:岁|个月)(?:大)?的?[男女])",
)
PEOPLE = 1.5  # years by which two ages must differ to be two people when nobody is introduced
ROUNDING = 0.05  # years; ages that differ by less are the same
MOST = 0.8  # of a message's words that the case must hold for it to have been told


def is_other_patient(text: str, case: str) -> bool:
    """Whether a message begins the case of somebody else than ``case`` is about."""
    if any(words in text.lower() for words in NEW_CASE):
        return True
    if not case or revisions.corrects_person(text, case):
        return False
    now, before = read_person(text), read_person(case)
    introduced = INTRODUCED.match(text) is not None
    if introduced and (now.sex and before.sex) and now.sex != before.sex:
        return True
    if now.age is None or before.age is None:
        return False
    return abs(now.age - before.age) > (ROUNDING if introduced else PEOPLE)


def is_repeated(text: str, messages: Sequence[str], case: str) -> bool:
    """Whether the user sent this message before and the case already holds what it says."""
    if revisions.same(text) not in {revisions.same(m) for m in messages}:
        return False
    words, known = set(tokens(text)), set(tokens(case))
    return len(words & known) >= MOST * len(words)
