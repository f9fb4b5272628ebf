"""Questions with a gold answer: multiple choice as MIRAGE gives it, and PubMedQA.

Sources: Xiong et al. 2024 (MIRAGE: MedQA, MedMCQA, MMLU-Med); Jin et al. 2019 (PubMedQA, expert-labelled part).
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evals.datasets.rows import read_jsonl
from tools.reading.corpus import PUBMEDQA

EXAM = "mirage/exam_dev.jsonl"


class ExamQuestion(BaseModel):
    """A multiple-choice question; ``answer`` is a letter of ``options``."""

    model_config = ConfigDict(frozen=True)

    dataset: Literal["medqa", "medmcqa", "mmlu"]
    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    options: dict[str, str] = Field(min_length=2)
    answer: str

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if self.answer not in self.options:
            raise ValueError(f"the answer {self.answer!r} is none of the options")
        return self


class Context(BaseModel):
    """A section of an abstract without its conclusion."""

    model_config = ConfigDict(frozen=True)

    label: str
    text: str = Field(min_length=1)


class PubMedQuestion(BaseModel):
    """A question that the abstract of one article answers with yes, no or maybe."""

    model_config = ConfigDict(frozen=True)

    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    pmid: str
    answer: Literal["yes", "no", "maybe"]
    contexts: tuple[Context, ...] = Field(min_length=1)


def read_exam(data: Path) -> dict[str, list[ExamQuestion]]:
    """The exam questions by the collection that they come from."""
    out: dict[str, list[ExamQuestion]] = {}
    for row in read_jsonl(data / EXAM, ExamQuestion):
        out.setdefault(row.dataset, []).append(row)
    return dict(sorted(out.items()))


def read_pubmedqa(data: Path) -> list[PubMedQuestion]:
    """The questions of PubMedQA."""
    return read_jsonl(data / PUBMEDQA, PubMedQuestion)
