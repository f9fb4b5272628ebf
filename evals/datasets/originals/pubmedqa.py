"""PubMedQA's expert-labelled questions: ori_pqal.json, and test_ground_truth.json, which names the test questions.

Format: the repository pubmedqa/pubmedqa (data/ori_pqal.json: PubMed id -> QUESTION, CONTEXTS, LABELS, MESHES, YEAR,
LONG_ANSWER, final_decision and the annotators' predictions; data/test_ground_truth.json: PubMed id -> answer); Jin et
al. 2019.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, Self

from pydantic import AliasChoices, Field, field_validator, model_validator

from evals.datasets.originals.contract import Conversion, Converted, Found, Original, Placed, Problem, Row, placed
from evals.datasets.originals.entries import json_entries
from evals.datasets.originals.json_rows import JsonText
from evals.datasets.originals.members import Member, members
from tools.reading.corpus import PUBMEDQA

QUESTIONS, TRUTH = "ori_pqal.json", "test_ground_truth.json"
Answer = Literal["yes", "no", "maybe"]


class PubmedqaQuestion(Row):
    """A question with the sections of the abstract that lead to its answer; ``id`` is the PubMed id.

    Attributes:
        split: ``test`` for a question that test_ground_truth.json names, else ``dev``.
        long_answer: the abstract's conclusion.
    """

    id: str = Field(pattern=r"^\d+$")
    split: Literal["dev", "test"] = "dev"
    question: str = Field(alias="QUESTION", min_length=1)
    contexts: tuple[str, ...] = Field(alias="CONTEXTS", min_length=1)
    labels: tuple[str, ...] = Field(alias="LABELS")
    meshes: tuple[str, ...] = Field(default=(), alias="MESHES")
    year: int | None = Field(default=None, alias="YEAR")
    long_answer: str = Field(alias="LONG_ANSWER", min_length=1)
    answer: Answer = Field(validation_alias=AliasChoices("final_decision", "answer"))
    reasoning_required_pred: Answer | None = None
    reasoning_free_pred: Answer | None = None

    model_config = Row.model_config | {"populate_by_name": True}

    @field_validator("year", mode="before")
    @classmethod
    def _no_year(cls, year: object) -> object:
        return year or None

    @model_validator(mode="after")
    def _a_label_each(self) -> Self:
        if len(self.labels) != len(self.contexts):
            raise ValueError(f"{len(self.labels)} labels for {len(self.contexts)} contexts")
        return self


def read(path: Path) -> Found:
    """The questions of ori_pqal.json; of a folder with both files, those of the test set are marked and compared."""
    truth: dict[str, tuple[str, int, str]] = {}
    if path.is_dir():
        for one in json_entries(members(path, _named(TRUTH)), _truth):
            if isinstance(one, Problem):
                yield (
                    one if one.line else one._replace(what=f"{one.what} Without {TRUTH} every question counts as dev.")
                )
            elif isinstance(one.row, _Truth):
                truth[one.row.id] = (one.file, one.line, one.row.answer)
    seen: set[str] = set()
    for one in json_entries(members(path, _named(QUESTIONS)), _questions):
        if isinstance(one, Placed) and isinstance(one.row, PubmedqaQuestion):
            seen.add(one.row.id)
            yield _marked(one, one.row, truth)
        else:
            yield one
    missing = [(file, line, key) for key, (file, line, _) in truth.items() if key not in seen]
    yield from (Problem(file, line, f"{key} is no question of {QUESTIONS}.") for file, line, key in missing)


def convert(records: Iterator[Row], conversion: Conversion) -> Converted:
    """The questions, as `answers` and `literature` read them; all of the file, test questions too."""
    del conversion
    for row in records:
        if isinstance(row, PubmedqaQuestion):
            contexts = [{"label": a, "text": b} for a, b in zip(row.labels, row.contexts, strict=True)]
            yield (
                PUBMEDQA,
                {
                    "id": f"pubmedqa-{row.id}", "split": row.split, "question": row.question, "pmid": row.id,
                    "answer": row.answer, "long_answer": row.long_answer, "contexts": contexts,
                    "mesh": list(row.meshes), "year": row.year,
                    "reasoning_required_pred": row.reasoning_required_pred,
                    "reasoning_free_pred": row.reasoning_free_pred,
                },
            )  # fmt: skip


class _Truth(Row):
    answer: Answer


def _named(name: str) -> Callable[[str], bool]:
    return lambda given: given.rpartition("/")[2] == name


def _marked(one: Placed, row: PubmedqaQuestion, truth: dict[str, tuple[str, int, str]]) -> Placed | Problem:
    if row.id not in truth:
        return one
    if truth[row.id][2] != row.answer:
        return Problem(one.file, one.line, f"{row.id} has another answer in {TRUTH}.")
    return one._replace(row=row.model_copy(update={"split": "test"}))


def _truth(text: JsonText, member: Member) -> Found:
    for line, key in text.entries():
        yield placed(_Truth, {"id": key, "answer": text.value()}, member.name, line)


def _questions(text: JsonText, member: Member) -> Found:
    for line, key in text.entries():
        value = text.value()
        yield placed(PubmedqaQuestion, value | {"id": key} if isinstance(value, dict) else value, member.name, line)


ORIGINAL = Original("pubmedqa", f"{QUESTIONS}, and {TRUTH} beside it", read, convert)
