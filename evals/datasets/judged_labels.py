"""Labels that people gave: how well an answer addresses or fulfils, and whether a document answers a question."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from evals.datasets.rows import RESOURCES, read_jsonl
from tools.evidence import Frozen

SAMPLE = RESOURCES / "judged_labels.jsonl"
Kind = Literal["answerability", "relevancy", "adherence"]
LEVELS = (0, 2)  # answerability: 0 no, 1 in part, 2 in full
POINTS = (1, 5)  # relevancy and adherence


class LabelledText(Frozen):
    """One row of a file of labels.

    Attributes:
        kind: what was labelled. question: what was asked.
        text: the answer that was judged; for ``answerability`` the document.
        golden: for ``adherence`` the golden answer.
        labels: by rater. ``answerability`` 0 no, 1 in part, 2 in full; the others 1 to 5.
    """

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


def read_labels(path: Path) -> list[LabelledText]:
    """The rows of a file of labels; raises DataError for a damaged row."""
    return read_jsonl(path, LabelledText)
