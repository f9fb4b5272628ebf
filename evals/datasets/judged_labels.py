"""Labels that people gave: how well an answer addresses or fulfils, and whether a document answers a question."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evals.datasets.answered_questions import LIVEQA, LIVEQA_ANSWERS
from evals.datasets.rows import read_jsonl

SAMPLE = Path(__file__).parents[1] / "resources" / "judged_labels.jsonl"
Kind = Literal["answerability", "relevancy", "adherence"]
LEVELS = (0, 2)  # answerability: 0 no, 1 in part, 2 in full
POINTS = (1, 5)  # relevancy and adherence


class LabelledText(BaseModel):
    """One row of a file of labels.

    Attributes:
        kind: what was labelled. question: what was asked.
        text: the answer that was judged; for ``answerability`` the document.
        golden: for ``adherence`` the golden answer.
        labels: by rater. ``answerability`` 0 no, 1 in part, 2 in full; the others 1 to 5.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    kind: Kind
    question: str = Field(min_length=1)
    text: str = Field(min_length=1)
    golden: str = ""
    labels: dict[str, int] = Field(min_length=1)

    @model_validator(mode="after")
    def _in_range(self) -> LabelledText:
        least, most = LEVELS if self.kind == "answerability" else POINTS
        if any(not least <= label <= most for label in self.labels.values()):
            raise ValueError(f"a label of {self.kind} is {least} to {most}")
        if (self.kind == "adherence") is not bool(self.golden):
            raise ValueError("adherence, and nothing else, has a golden answer")
        return self


class Graded(BaseModel):
    """An answer of LiveQA with the mean of the grades (1 to 4) that people gave it for a question.

    ``golden`` is the first reference answer of the question.
    """

    model_config = ConfigDict(frozen=True)

    question_id: str
    question: str
    golden: str
    answer: str
    grade: float


class _Grade(BaseModel):
    answer_id: str
    grade: int = Field(ge=1, le=4)


class _Reference(BaseModel):
    answer: str


class LiveQuestion(BaseModel):
    """A consumer's message of LiveQA with its graded answers and its reference answers."""

    model_config = ConfigDict(frozen=True)

    id: str
    subject: str = ""
    message: str = Field(min_length=1)
    qrels: tuple[_Grade, ...] = ()
    reference_answers: tuple[_Reference, ...] = ()

    @property
    def text(self) -> str:
        """Subject and message."""
        return ". ".join(part.strip() for part in (self.subject, self.message) if part.strip())

    @property
    def golden(self) -> str:
        """The first reference answer; "" without one."""
        return next((r.answer.strip() for r in self.reference_answers if r.answer.strip()), "")


class _Answer(BaseModel):
    answer_id: str
    answer: str


def read_labels(path: Path) -> list[LabelledText]:
    """The rows of a file of labels; raises DataError for a damaged row."""
    return read_jsonl(path, LabelledText)


def read_live(data: Path) -> list[LiveQuestion]:
    """The messages of LiveQA; raises DataError for a damaged row."""
    return read_jsonl(data / LIVEQA, LiveQuestion)


def read_graded(data: Path) -> list[Graded]:
    """Every judged answer once a question, empty ones left out; an answer that was graded twice has the mean."""
    answers = {row.answer_id: row.answer.strip() for row in read_jsonl(data / LIVEQA_ANSWERS, _Answer)}
    out: list[Graded] = []
    for row in read_live(data):
        grades: dict[str, list[int]] = {}
        for judged in row.qrels:
            if answers.get(judged.answer_id):
                grades.setdefault(judged.answer_id, []).append(judged.grade)
        out += [
            Graded(
                question_id=row.id,
                question=row.text,
                golden=row.golden,
                answer=answers[key],
                grade=sum(given) / len(given),
            )
            for key, given in grades.items()
        ]
    return out
