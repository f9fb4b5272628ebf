"""PubMedQA's expert-labelled questions: ori_pqal.json, and test_ground_truth.json, which names the test questions.

Format: the repository pubmedqa/pubmedqa (data/ori_pqal.json: PubMed id -> QUESTION, CONTEXTS, LABELS, MESHES, YEAR,
LONG_ANSWER, final_decision and the annotators' predictions; data/test_ground_truth.json: PubMed id -> answer); Jin et
al. 2019.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, Field, field_validator, model_validator

from evals.datasets.releases import (
    Conversion,
    Converted,
    Found,
    Member,
    Original,
    Placed,
    Problem,
    Record,
    json_entries,
    read_files,
)
from evals.datasets.rows import Row, read_jsonl
from tools.reading.corpus import PUBMEDQA

QUESTIONS, TRUTH = "ori_pqal.json", "test_ground_truth.json"
Answer = Literal["yes", "no", "maybe"]


class Context(Row):
    """A section of an abstract without its conclusion."""

    label: str
    text: str = Field(min_length=1)


class PubMedQuestion(Record):
    """A question that the abstract of one article answers with yes, no or maybe.

    Attributes:
        split: ``test`` for a question that test_ground_truth.json names, else ``dev``.
        long_answer: the abstract's conclusion.
    """

    split: Literal["dev", "test"] = "dev"
    question: str = Field(alias="QUESTION", min_length=1)
    pmid: str = Field(pattern=r"^\d+$")
    answer: Answer = Field(validation_alias=AliasChoices("final_decision", "answer"))
    long_answer: str = Field(default="", alias="LONG_ANSWER")
    contexts: tuple[Context, ...] = Field(min_length=1)
    mesh: tuple[str, ...] = Field(default=(), alias="MESHES")
    year: int | None = Field(default=None, alias="YEAR")
    reasoning_required_pred: Answer | None = None
    reasoning_free_pred: Answer | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_release(cls, values: Any) -> Any:
        """A label for each context, as the release has them side by side."""
        if not isinstance(values, dict) or "CONTEXTS" not in values:
            return values
        labels, texts = values["LABELS"], values["CONTEXTS"]
        if len(labels) != len(texts):
            raise ValueError(f"{len(labels)} labels for {len(texts)} contexts")
        if not values.get("LONG_ANSWER"):
            raise ValueError("there is no LONG_ANSWER")
        return values | {"contexts": [{"label": a, "text": b} for a, b in zip(labels, texts, strict=True)]}

    @field_validator("year", mode="before")
    @classmethod
    def _no_year(cls, year: object) -> object:
        return year or None


def read_pubmedqa(data: Path) -> list[PubMedQuestion]:
    """The questions in the project's form."""
    return read_jsonl(data / PUBMEDQA, PubMedQuestion)


class _Truth(Record):
    answer: Answer


def read(path: Path) -> Found:
    """The questions of ori_pqal.json; of a folder with both files, those of the test set are marked and compared."""
    truth: dict[str, tuple[Placed, str]] = {}
    for one in read_files(path, _is(TRUTH), _truths) if path.is_dir() else ():
        if isinstance(one, Problem):
            yield one if one.line else one._replace(what=f"{one.what} Without {TRUTH} every question counts as dev.")
        elif isinstance(one.row, _Truth):
            truth[one.row.id] = (one, one.row.answer)
    seen: set[str] = set()
    for one in read_files(path, _is(QUESTIONS), _questions):
        row = one.row if isinstance(one, Placed) else None
        if not isinstance(row, PubMedQuestion) or row.pmid not in truth:
            yield one
        elif truth[row.pmid][1] == row.answer:
            yield Placed(one.file, one.line, row.model_copy(update={"split": "test"}))
        else:
            yield Problem(one.file, one.line, f"{row.pmid} has another answer in {TRUTH}.")
        seen.update([row.pmid] if isinstance(row, PubMedQuestion) else [])
    for key, (one, _) in truth.items():
        if key not in seen:
            yield Problem(one.file, one.line, f"{key} is no question of {QUESTIONS}.")


def convert(records: Iterator[PubMedQuestion], conversion: Conversion) -> Converted:
    """The questions, as `answers` and `literature` read them; all of the file, test questions too."""
    del conversion
    return ((PUBMEDQA, row.model_dump(mode="json")) for row in records)


def _is(wanted: str) -> Callable[[str], bool]:
    return lambda name: name.rpartition("/")[2] == wanted


def _truths(member: Member) -> Found:
    for entry in json_entries(member):
        yield entry._replace(value={"answer": entry.value}).placed(_Truth, id=entry.keys[0])


def _questions(member: Member) -> Found:
    for entry in json_entries(member):
        yield entry.placed(PubMedQuestion, id=f"pubmedqa-{entry.keys[0]}", pmid=entry.keys[0])


ORIGINAL = Original("pubmedqa", f"{QUESTIONS}, and {TRUTH} beside it", read, convert)
