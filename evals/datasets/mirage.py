"""MIRAGE: multiple-choice questions of five collections, as benchmark.json has them by collection and id.

Format: the repository Teddy-XiongGZ/MIRAGE (README.md, rawdata/build.py and benchmark.json itself); Xiong et al. 2024.
The file was written by a table library, so that an option that is a number may be one, and one that reads "None" may be
NaN: the first is read as its text, the second is a problem. The project's form has MedQA, MedMCQA and MMLU-Med.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from evals.datasets.releases import Conversion, Converted, Found, Original, Record, json_entries, read_files
from evals.datasets.rows import read_jsonl

EXAM = "mirage/exam_dev.jsonl"
EXAMS = ("medqa", "medmcqa", "mmlu")  # those that `answers` asks as exams; the others have readers of their own


class ExamQuestion(Record):
    """A multiple-choice question; ``answer`` is a letter of ``options``, which run from A without a gap."""

    id: str = Field(min_length=1)
    dataset: Literal["medqa", "medmcqa", "pubmedqa", "bioasq", "mmlu"]
    question: str = Field(min_length=1)
    options: dict[str, str] = Field(min_length=2)
    answer: str
    subject: str | None = None
    topic: str | None = None

    @property
    def key(self) -> str:
        """Collection and id."""
        return f"{self.dataset}:{self.id}"

    @field_validator("options", mode="before")
    @classmethod
    def _numbers_as_text(cls, options: object) -> object:
        if not isinstance(options, dict):
            return options
        numbers = {k: v for k, v in options.items() if isinstance(v, int | float) and not isinstance(v, bool)}
        return options | {k: str(v) for k, v in numbers.items() if v == v}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if sorted(self.options) != [chr(ord("A") + at) for at in range(len(self.options))]:
            raise ValueError("the options are not lettered from A on")
        if self.answer not in self.options:
            raise ValueError(f"the answer {self.answer!r} is none of the options")
        return self


def read_exam(data: Path) -> dict[str, list[ExamQuestion]]:
    """The exam questions by the collection that they come from."""
    out: dict[str, list[ExamQuestion]] = {}
    for row in read_jsonl(data / EXAM, ExamQuestion):
        out.setdefault(row.dataset, []).append(row)
    return dict(sorted(out.items()))


def read(path: Path) -> Found:
    """The questions of a benchmark.json."""
    return read_files(
        path,
        lambda name: name.endswith("benchmark.json"),
        lambda m: (e.placed(ExamQuestion, dataset=e.keys[0], id=e.keys[1]) for e in json_entries(m, depth=2)),
    )


def convert(records: Iterator[ExamQuestion], conversion: Conversion) -> Converted:
    """The exam questions, as `answers` reads them."""
    for row in records:
        if row.dataset in EXAMS:
            yield EXAM, row.model_dump(mode="json")
        else:
            conversion.leave_out("a question of a literature collection (take PubMedQA's and BioASQ's own files)")


ORIGINAL = Original("mirage", "benchmark.json", read, convert)
