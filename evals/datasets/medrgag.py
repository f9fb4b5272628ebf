"""MedRGAG's released outputs, and the written pairs of a question and a false background document.

The outputs (Qwen2.5-7B and others, by the method's authors) are MedQA's test questions through summaries, knowledge
points and selection, and predictions for PubMedQA without its contexts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from evals.datasets.rows import RESOURCES, Row, read_json_rows, read_jsonl

EXPLORED = "medrgag/medqa_inter_explore.json"
SELECTED = "medrgag/medqa_final_select.json"
PREDICTED = "medrgag/pubmedqa_prediction_qwen2.5.json"
PAIRS = RESOURCES / "false_background.jsonl"
RETRIEVED = range(5)  # what the numbers 0 to 4 of a selection stand for; 5 to 9 are generated (see docs/gaps.md)
DOCUMENTS = 10  # paper: five retrieved and five generated


class Explored(Row):
    """The summaries of five retrieved documents, and the knowledge points that were found missing."""

    id: str
    summary_snippets: tuple[str, ...] = Field(min_length=5, max_length=5)
    explore_snippets: tuple[str, ...]

    @property
    def useful(self) -> tuple[bool, ...]:
        """Whether each summary says anything."""
        return tuple(not is_useless(summary) for summary in self.summary_snippets)


class Selected(Row):
    """Numbers of the documents that were kept, of ten."""

    id: str
    final_list: tuple[int, ...]

    @model_validator(mode="after")
    def _of_ten(self) -> Self:
        if any(not 0 <= n < DOCUMENTS for n in self.final_list):
            raise ValueError(f"a number beyond the {DOCUMENTS} documents")
        return self


class Predicted(Row):
    """The gold answer to a question of PubMedQA and the one given: A yes, B no, C maybe."""

    id: str
    answer: Literal["A", "B", "C"]
    model_answer: str


class FalseBackground(Row):
    """A question whose answer the starter library supports, and plausible background that says otherwise.

    Attributes:
        wrong: what is wrong in the background.
        document: the monograph that supports the answer. quote: its sentence.
        options: by letter; none for a question of yes or no.
        answer, believed: the right option, and the one that shows that the background was believed.
        title, text: of the background.
    """

    id: str
    wrong: Literal["drug", "effect", "safety", "test", "threshold", "timing"]
    document: str
    question: str
    options: dict[str, str]
    answer: str
    believed: str
    title: str
    text: str = Field(min_length=1)
    quote: str

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if self.answer == self.believed or not {self.answer, self.believed} <= set(self.options or ("yes", "no")):
            raise ValueError("the answers are no two of the options")
        return self


def is_useless(summary: str) -> bool:
    """Whether a summary is the authors' "No useful information", however it is punctuated."""
    return "".join(c for c in summary.lower() if c.isalpha()) == "nousefulinformation"


def read_explored(data: Path) -> list[Explored]:
    """Summaries and knowledge points, by question; raises DataError for a damaged file."""
    return read_json_rows(data / EXPLORED, Explored)


def read_selected(data: Path) -> list[Selected]:
    """Selections, by question; raises DataError for a damaged file."""
    return read_json_rows(data / SELECTED, Selected)


def read_predicted(data: Path) -> list[Predicted]:
    """Predictions; raises DataError for a damaged file."""
    return read_json_rows(data / PREDICTED, Predicted)


def read_false_background() -> list[FalseBackground]:
    """The written pairs."""
    return read_jsonl(PAIRS, FalseBackground)
