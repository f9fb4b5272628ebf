"""`understanding`, additions: what a case still holds of all that was told over several messages, and what was mended.

``additions.facts.kept``: facts of a dialogue (age, sex, side, duration, finding, medicine, history, allergy, pregnancy)
whose words the session's case holds at its end, those replaced left out; ``additions.FACT.kept`` the same of one kind.
``additions.replaced.right``: replaced facts of which the case holds the new words and no longer states the old.
``additions.cases.kept``: dialogues in which nothing is lost. The questions of the program are not part of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from evals.contract import Figure, TaskContext
from evals.datasets.rows import SHIPPED, read_jsonl
from evals.statistics import share
from graphs.triage.contract import Kind, SessionView
from graphs.triage.local import TriageLocal
from tools.text.clauses import clauses
from tools.text.demographics import read_person

ADDITIONS = SHIPPED / "unseen" / "additions.jsonl"


class Fact(BaseModel):
    """What one message told; ``value`` in its own words."""

    model_config = ConfigDict(frozen=True)

    fact: Literal["finding", "age", "duration", "history", "sex", "medicine", "side", "allergy", "pregnant"]
    value: str | int | float


class Replaced(BaseModel):
    """What a later message put right."""

    model_config = ConfigDict(frozen=True)

    fact: str
    old: str | int | float | None
    new: str | int | float | None


class Dialogue(BaseModel):
    """A patient's messages in order, what they come to, and what was put right on the way."""

    model_config = ConfigDict(frozen=True)

    messages: tuple[str, ...] = Field(min_length=2)
    facts: tuple[Fact, ...]
    replaced: tuple[Replaced, ...] = ()


def figures(context: TaskContext, triage: TriageLocal) -> list[Figure]:
    """Every figure."""
    rows = context.sample(read_jsonl(ADDITIONS, Dialogue))
    read = [(row, final_case(triage, row.messages)) for row in context.tick(rows, "additions", len(rows))]
    return kept_figures(read)


def kept_figures(read: Sequence[tuple[Dialogue, str]]) -> list[Figure]:
    """What the cases hold of their dialogues."""
    kept = [[(f.fact, holds(case, f)) for f in row.facts] for row, case in read]
    every = [one for row in kept for one in row]
    out = share("additions.facts.kept", [held for _, held in every])
    for kind in sorted({fact for fact, _ in every}):
        out += share(f"additions.{kind}.kept", [held for fact, held in every if fact == kind])
    out += share("additions.cases.kept", [all(held for _, held in row) for row in kept])
    return out + share("additions.replaced.right", [mended(case, one) for row, case in read for one in row.replaced])


def final_case(triage: TriageLocal, messages: Sequence[str]) -> str:
    """The session's case behind the last message."""
    view = SessionView()
    for text in messages:
        decision = triage.decide_now(text, view)
        asked = decision.kind in (Kind.EVIDENCE, Kind.MULTIPLE_CHOICE)
        view = SessionView(
            messages=(*view.messages, text),
            case=decision.case or view.case,
            kind=Kind.CASE.value if decision.kind is Kind.FOLLOW_UP else decision.kind.value,
            question=decision.question if asked or decision.case else view.question,
        )
    return view.case


def holds(case: str, fact: Fact) -> bool:
    """Whether a case holds a fact: the age and sex as they are read, else the words."""
    if fact.fact == "age" and (age := read_person(case).age) is not None:
        return any(age == float(n) or round(age * 12) == float(n) for n in re.findall(r"\d+", str(fact.value)))
    if fact.fact == "sex":
        return (read_person(case).sex or "?")[0] == _sex(str(fact.value))
    return _in(str(fact.value), case)


def mended(case: str, one: Replaced) -> bool:
    """Whether a case holds the new words, and states the old ones no longer (a denial of them states nothing)."""
    if one.fact == "sex":
        return (read_person(case).sex or "?")[0] == _sex(str(one.new))
    stated = [c.text for c in clauses(case) if c.present is not False]
    old, new = (str(v).lower() if v is not None else "" for v in (one.old, one.new))
    left = " ; ".join(stated).lower().replace(new, " ") if new else " ; ".join(stated).lower()
    return (not new or _in(new, case)) and not (old and re.search(rf"(?<!\w){re.escape(old)}(?!\w)", left))


def _in(value: str, case: str) -> bool:
    whole = case.lower()
    return value.lower() in whole or all(word in whole for word in _words(value.lower()))


def _words(value: str) -> Iterator[str]:
    return (m[0] for m in re.finditer(r"[\u4e00-\u9fff]+|[\w.]+", value))


def _sex(value: str) -> str:
    return "f" if value.lower().startswith(("f", "w", "女")) else "m"
