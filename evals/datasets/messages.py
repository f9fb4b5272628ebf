"""Messages as people write them, with what is known of each: what sort it is, whether it tells of an emergency.

Sources: `evals/data/unseen` and `strangers` were written for this project by people who saw neither its rules nor its
code; LiveQA-Med 2017 and K-QA (Manes et al. 2024) are questions that patients sent.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field

from evals.datasets.ddxplus import RELEASED_CONDITIONS
from evals.datasets.rows import Row, read_jsonl, read_object

UNSEEN_KINDS, UNSEEN_EMERGENCIES = "unseen/kinds.jsonl", "unseen/emergencies.jsonl"
VIGNETTES = "unseen/vignettes.jsonl"
STRANGERS_KINDS, STRANGERS_EMERGENCIES = "strangers/kinds.jsonl", "strangers/emergencies.jsonl"
KQA = "effects/kqa_dev.jsonl"
MILD = 4  # code: DDXPlus gives each condition a severity, 1 the worst and 5 the least; ours: from where it is no danger

# The kind of turn that a message of a sort makes; both files' words.
KIND_OF = {
    "case": "case", "question": "evidence", "patient_question": "evidence", "evidence": "evidence",
    "assistant": "assistant", "meta": "assistant", "courtesy": "small_talk", "small_talk": "small_talk",
    "other": "out_of_scope", "out_of_scope": "out_of_scope",
}  # fmt: skip


class Message(Row):
    """A message and its sort."""

    text: str = Field(min_length=1)
    kind: Literal[
        "case", "question", "patient_question", "assistant", "courtesy", "other", "evidence", "meta", "small_talk",
        "out_of_scope",
    ]  # fmt: skip


class Told(Row):
    """A message that tells of an emergency, or of something that only looks like one."""

    text: str = Field(min_length=1)
    urgent: bool | Literal["emergency", "look_alike"] = Field(validation_alias=AliasChoices("label", "emergency"))

    @property
    def emergency(self) -> bool:
        """Whether help is needed now."""
        return self.urgent in (True, "emergency")


class Question(Row):
    """A question as somebody sent it."""

    text: str = Field(min_length=1, validation_alias=AliasChoices("question", "Question", "message"))


def read_questions(path: Path) -> list[str]:
    """The texts of questions; raises DataError as `read_jsonl` does."""
    return [row.text for row in read_jsonl(path, Question)]


def mild_conditions(data: Path) -> frozenset[str]:
    """Names of DDXPlus's conditions that are no danger."""
    return frozenset(
        c["condition_name"] for c in read_object(data / RELEASED_CONDITIONS).values() if c["severity"] >= MILD
    )
