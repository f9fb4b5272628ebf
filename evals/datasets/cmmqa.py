"""Cancer questions told as clinical narratives, as `anamnesis eval build-cmmqa` makes them (after CoMeta's CMMQA)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evals.datasets.rows import read_jsonl

CMMQA = "questions/cmmqa.jsonl"


class NarrativeQuestion(BaseModel):
    """A question told as a narrative.

    Attributes:
        source: the collection that it is from.
        question: as it was; narrative: as it is asked.
        writer: the model and prompt that told it, or ``template``.
        options, answer: of a multiple-choice question; empty for an open one.
        headings: of MeSH, by which it was chosen.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    source: Literal["healthsearchqa", "medqa", "medmcqa", "mmlu", "pubmedqa", "bioasq"]
    question: str = Field(min_length=1)
    narrative: str = Field(min_length=1)
    writer: str = Field(min_length=1)
    options: dict[str, str] = Field(default_factory=dict)
    answer: str = ""
    headings: tuple[str, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if self.answer not in self.options and (self.answer or self.options):
            raise ValueError(f"the answer {self.answer!r} is none of the options")
        return self


def read_cmmqa(data: Path) -> list[NarrativeQuestion]:
    """All questions, open ones among them; raises DataError as `read_jsonl` does."""
    return read_jsonl(data / CMMQA, NarrativeQuestion)
