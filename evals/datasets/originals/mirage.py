"""MIRAGE's benchmark.json: multiple-choice questions of five collections, by collection and id.

Format: the repository Teddy-XiongGZ/MIRAGE (README.md, rawdata/build.py and benchmark.json itself); Xiong et al. 2024.
Later versions give the PubMed ids of the two literature collections (PMID). The file was written by a table library,
so that an option that is a number may be one, and one that reads "None" may be NaN: the first is read as its text, the
second is a problem.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, Self, get_args

from pydantic import Field, field_validator, model_validator

from evals.datasets.exams import EXAM
from evals.datasets.originals.contract import Conversion, Converted, Found, Original, Problem, Row, placed
from evals.datasets.originals.entries import json_entries
from evals.datasets.originals.json_rows import JsonText
from evals.datasets.originals.members import Member, members

Collection = Literal["medqa", "medmcqa", "pubmedqa", "bioasq", "mmlu"]
EXAMS = ("medqa", "medmcqa", "mmlu")  # those that `answers` asks as exams; the others have readers of their own


class MirageQuestion(Row):
    """A question; ``answer`` is a letter of ``options``, which run from A without a gap."""

    dataset: Collection
    question: str = Field(min_length=1)
    options: dict[str, str] = Field(min_length=2)
    answer: str
    pmids: tuple[str, ...] = ()
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

    @field_validator("pmids", mode="before")
    @classmethod
    def _ids_as_text(cls, ids: object) -> object:
        return [str(i) for i in ids] if isinstance(ids, list) else [str(ids)] if isinstance(ids, str | int) else ids

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if sorted(self.options) != [chr(ord("A") + at) for at in range(len(self.options))]:
            raise ValueError("the options are not lettered from A on")
        if self.answer not in self.options:
            raise ValueError(f"the answer {self.answer!r} is none of the options")
        return self


def read(path: Path) -> Found:
    """The questions of a benchmark.json."""
    return json_entries(members(path, lambda name: name.endswith("benchmark.json")), _questions)


def convert(records: Iterator[Row], conversion: Conversion) -> Converted:
    """The exam questions, as `answers` reads them."""
    for row in records:
        if isinstance(row, MirageQuestion) and row.dataset in EXAMS:
            yield EXAM, row.model_dump(mode="json", exclude={"pmids"})
        else:
            conversion.leave_out("a question of a literature collection (take PubMedQA's and BioASQ's own files)")


def _questions(text: JsonText, member: Member) -> Found:
    for line, collection in text.entries():
        if collection not in get_args(Collection):
            yield Problem(member.name, line, f"{collection!r} is no collection of MIRAGE.")
            text.value()
            continue
        for at, key in text.entries():
            value = text.value()
            named = {"dataset": collection, "id": key}
            more = {"pmids": value["PMID"]} if isinstance(value, dict) and "PMID" in value else {}
            yield placed(MirageQuestion, value | named | more if isinstance(value, dict) else value, member.name, at)


ORIGINAL = Original("mirage", "benchmark.json", read, convert)
