"""`understanding`, turns: what a message within a conversation is taken for, by the triage beside one case or answer.

``turns.LANGUAGE.right``: messages of which the turn is as meant; ``turns.GROUP.right`` the same of those that ask to
have something explained, ask of the disease without its name, lean on the question before, stand alone, or tell
something.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from evals.contract import Figure, TaskContext
from evals.datasets.rows import SHIPPED, read_jsonl
from evals.statistics import share
from graphs.triage.asked import ASPECTS, OF_DISEASE
from graphs.triage.contract import AskedQuestion, Kind, SessionView, TriageDecision
from graphs.triage.local import TriageLocal
from tools.reading.messages import Meaning
from tools.text.language import language_of

TURNS = SHIPPED / "unseen" / "turns.jsonl"
ASKING = (Kind.EVIDENCE, Kind.EXPLAIN, Kind.MULTIPLE_CHOICE)
CASES = {
    "en": "A 34-year-old teacher has had pain in the right ear for three days, fever and muffled hearing.",
    "zh": "34岁女性，右耳痛三天，伴发热，听力下降。",
}
LEADING = {"en": "acute otitis media", "zh": "急性中耳炎"}
ASKED = {"en": "Is there any discharge from the ear?", "zh": "耳朵有流脓吗？"}
QUESTIONS = {"en": "Do statins reduce the risk of stroke?", "zh": "他汀类药物能降低卒中风险吗？"}


class Turn(BaseModel):
    """A message within a conversation, what it means there, and what was said before."""

    model_config = ConfigDict(frozen=True)

    text: str = Field(min_length=1)
    means: Meaning
    after: Literal["case", "answer"]


def figures(context: TaskContext, triage: TriageLocal) -> list[Figure]:
    """Every figure."""
    rows = context.sample(read_jsonl(TURNS, Turn))
    read = [(row, triage.decide_now(row.text, view_of(row))) for row in context.tick(rows, "turns", len(rows))]
    return turn_figures(read)


def turn_figures(read: Sequence[tuple[Turn, TriageDecision]]) -> list[Figure]:
    """How many turns are as meant."""
    out: list[Figure] = []
    for language in ("en", "zh"):
        some = [is_right(*one) for one in read if language_of(one[0].text) == language]
        out += share(f"turns.{language}.right", some)
    for name in ("explained", "of_disease", "leans", "alone", "tells"):
        out += share(f"turns.{name}.right", [is_right(*one) for one in read if group_of(one[0].means) == name])
    return out


def group_of(meaning: Meaning) -> str:
    """What is to become of a message."""
    if meaning in ASPECTS or meaning is Meaning.NAMED:
        return "explained"
    if meaning in OF_DISEASE:
        return "of_disease"
    return "leans" if meaning in (Meaning.LEANS, Meaning.PATIENT) else meaning.value


def is_right(row: Turn, decision: TriageDecision) -> bool:
    """Whether a turn is what its writer meant."""
    group, kind = group_of(row.means), decision.kind
    if group == "explained":
        told = decision.explain is not None and decision.explain.aspect is ASPECTS.get(
            row.means, decision.explain.aspect
        )
        goes_on = row.means in (Meaning.NAMED, Meaning.ELSE) and kind in (Kind.CASE, Kind.EVIDENCE)  # as a question
        return told or goes_on
    if group == "alone":
        return (
            kind in (Kind.EVIDENCE, Kind.MULTIPLE_CHOICE) and not decision.about_case and decision.question == row.text
        )
    if group == "tells":
        return kind not in ASKING
    own = kind is Kind.CASE or decision.about_case if row.after == "case" else kind is Kind.EVIDENCE
    return own and decision.question != row.text


def view_of(row: Turn) -> SessionView:
    """What was said before a message."""
    language = language_of(row.text)
    if row.after == "answer":
        return SessionView(messages=(QUESTIONS[language],), kind="evidence", question=QUESTIONS[language])
    case = CASES[language]
    asked = AskedQuestion(finding="ear-discharge", text=ASKED[language])
    return SessionView(
        messages=(case,), case=case, kind="case", question=case, asked=asked, leading=LEADING[language],
        leading_en=LEADING["en"],
    )  # fmt: skip
