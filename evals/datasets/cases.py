"""Cases that this project wrote: the shipped ones, Chinese ones in two sets, and cases with reference reports."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self, TypeVar

from pydantic import Field, model_validator

from evals.datasets.rows import RESOURCES, read_jsonl, read_yaml_rows
from prompts.errors import DataError
from tools.evidence import Frozen

DIFFERENTIAL, EMERGENCIES, EVIDENCE, DECLINE = "differential*.yaml", "emergencies.yaml", "evidence.yaml", "decline.yaml"
FIRST, SECOND = RESOURCES / "chinese_cases.yaml", RESOURCES / "chinese_cases_second.yaml"
REPORTS, SAMPLE = "*.jsonl", RESOURCES / "report_references"


class WrittenCase(Frozen):
    """A message and its language."""

    id: str = Field(min_length=1)
    language: Literal["en", "zh"]
    text: str = Field(min_length=1)


class DifferentialCase(WrittenCase):
    """A case of one disease of the starter graph, worded unlike the graph."""

    disease: str = Field(min_length=1)


class EmergencyCase(WrittenCase):
    """An emergency, or something that only sounds like one."""

    emergency: bool


class EvidenceCase(WrittenCase):
    """An evidence question, and the id of the monograph that answers it."""

    monograph: str = Field(min_length=1)


class DeclineCase(WrittenCase):
    """What must not be answered: small talk, what is out of scope, and what there is no evidence for."""

    kind: Literal["small_talk", "out_of_scope", "no_evidence"]


Written = TypeVar("Written", bound=WrittenCase)


class ChineseCase(Frozen):
    """A case of one disease of the starter graph.

    Attributes:
        sentences: the complete case, a unit each. sparse: what is left of it when most is not told.
        labels: the letter that each sentence should have; "" where none was judged.
        terms: words of the case that must stay whole as tokens.
    """

    id: str = Field(min_length=1)
    disease: str = Field(min_length=1)
    department: str
    style: Literal["lay", "clinical"]
    sentences: tuple[str, ...] = Field(min_length=2)
    sparse: str = Field(min_length=1)
    labels: str = Field(default="", pattern="^[ABC]*$")
    terms: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.labels and len(self.labels) != len(self.sentences):
            raise ValueError("labels: one letter a sentence")
        lost = [t for t in self.terms if t not in self.text]
        if lost:
            raise ValueError(f"terms that the case does not hold: {', '.join(lost)}")
        return self

    @property
    def text(self) -> str:
        """The complete case."""
        return "".join(self.sentences)


class ReportCase(Frozen):
    """A case as it is told to the agent, and the report that a person wrote about it; of a file that the user gives."""

    id: str = Field(min_length=1)
    case: str = Field(min_length=1)
    report: str = Field(min_length=1)


def read_cases(data: Path, pattern: str, model: type[Written]) -> list[Written]:
    """The cases of every file of this name, in the order of the names."""
    return [case for path in sorted(data.glob(pattern)) for case in read_yaml_rows(path, model)]


def read_chinese(path: Path) -> list[ChineseCase]:
    """The cases, in the order of the file; raises DataError when a row is damaged."""
    return read_yaml_rows(path, ChineseCase)


def read_report_cases(folder: Path) -> list[ReportCase]:
    """The rows of every file of JSON lines of a folder, by name.

    Raises:
        DataError: a row is damaged, or two have one id.
    """
    rows = [row for path in sorted(folder.glob(REPORTS)) for row in read_jsonl(path, ReportCase)]
    seen: set[str] = set()
    for row in rows:
        if row.id in seen:
            raise DataError(f"Two cases have the id {row.id!r}.", "Give each case an id of its own.")
        seen.add(row.id)
    return rows
