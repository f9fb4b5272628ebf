"""Cases whose disease the graph holds (inside) and cases whose disease it does not (outside), split into two halves.

A case's side is found at run time: its diagnosis is looked for among the names, other names and ICD-10 codes of the
graph's diseases, so that a graph that grows moves cases from one side to the other. What the score of
`tools.knowledge_graph.outside` is fitted on is the half *fit*; figures are of the half *judge*, of DDXPlus's validate
rows and of the strangers' cases, which are never fitted on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from evals.contract import TaskContext
from evals.datasets.cases import DIFFERENTIAL, FIRST, SECOND, DifferentialCase, read_cases, read_chinese
from evals.datasets.clinical import CASES as CLINIC
from evals.datasets.clinical import read_clinic
from evals.datasets.ddxplus import CODES, TEXTS, TextPatient, read_conditions, split_texts, validate_texts
from evals.datasets.phenopackets import LEAST_TERMS, PATIENTS, Patient, read_lay
from evals.datasets.rows import read_jsonl, read_yaml_rows
from evals.tasks.cases import SHIPPED
from tools.knowledge_graph.names import DiagnosisNames

Half = Literal["fit", "judge"]
STRANGERS_OUTSIDE, STRANGERS_INSIDE = "strangers/outside_graph.jsonl", "strangers/inside_graph.jsonl"
INPUTS = (CLINIC, PATIENTS, TEXTS, CODES)
SHORT = Path(__file__).parent / "resources" / "short_cases.yaml"
OPTIONAL = (STRANGERS_OUTSIDE, STRANGERS_INSIDE)


@dataclass(frozen=True)
class SidedCase:
    """A case and where its disease is.

    Attributes:
        source: the set that it is from. disease: id of the graph's disease, "" where the graph lacks it.
    """

    source: str
    id: str
    text: str
    disease: str

    @property
    def inside(self) -> bool:
        """Whether the graph holds the disease."""
        return bool(self.disease)


class ShortCase(BaseModel):
    """A short vignette of our own, and its diagnosis: an id of the graph, or a name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    diagnosis: str = Field(min_length=1)
    text: str = Field(min_length=1)


class Stranger(BaseModel):
    """A vignette by a writer who saw neither the code nor the rules."""

    model_config = ConfigDict(frozen=True)

    text: str = Field(min_length=1)
    disease: str = Field(min_length=1)
    icd10: str = ""


def half_of(key: str) -> Half:
    """The half of a case, by the hash of its key (all patients of a paper have one key)."""
    return "fit" if hashlib.sha256(key.encode()).digest()[0] % 2 == 0 else "judge"


def judged_cases(context: TaskContext, names: DiagnosisNames) -> list[SidedCase]:
    """What the figures are of; of DDXPlus and the phenopackets at most ``limit`` cases each."""
    data = context.data
    return [
        *clinic_cases(data, names, "judge"),
        *context.sample(phenopacket_cases(data, names, "judge")),
        *lay_cases(data, names, "judge"),
        *_strangers(data, STRANGERS_OUTSIDE, "strangers_outside", names),
        *_ddxplus(context.sample(validate_texts(data))),
        *_strangers(data, STRANGERS_INSIDE, "strangers_inside", names),
    ]


def fitted_cases(context: TaskContext, names: DiagnosisNames) -> list[SidedCase]:
    """What the score may be fitted on: the other halves, DDXPlus's train rows, the project's own written cases."""
    data = context.data
    return [
        *clinic_cases(data, names, "fit"),
        *context.sample(phenopacket_cases(data, names, "fit")),
        *lay_cases(data, names, "fit"),
        *_ddxplus(split_texts(data, "train")),
        *written_cases(),
        *short_cases(names),
    ]


def clinic_cases(data: Path, names: DiagnosisNames, half: Half) -> list[SidedCase]:
    """AgentClinic's cases of a half."""
    rows = [c for c in read_clinic(data) if half_of(c.id) == half]
    return [SidedCase("agentclinic", c.id, c.text, names.disease(c.gold_diagnosis) or "") for c in rows]


def phenopacket_cases(data: Path, names: DiagnosisNames, half: Half) -> list[SidedCase]:
    """The first patient of each paper with enough terms, told as prose."""
    first: dict[str, Patient] = {}
    for row in read_jsonl(data / PATIENTS, Patient):
        if len(row.observed) >= LEAST_TERMS and half_of(row.pmid) == half:
            first.setdefault(row.pmid, row)
    return [_patient("phenopackets", p, p.prose(), names) for p in first.values()]


def lay_cases(data: Path, names: DiagnosisNames, half: Half) -> list[SidedCase]:
    """The patients that were worded as a patient or a parent might."""
    told = read_lay(read_jsonl(data / PATIENTS, Patient))
    return [_patient("phenopackets_lay", p, text, names) for p, text in told if half_of(p.pmid) == half]


def written_cases() -> list[SidedCase]:
    """The project's own cases of the graph's diseases, English and Chinese."""
    rows = read_cases(SHIPPED, DIFFERENTIAL, DifferentialCase)
    own = [SidedCase("written", c.id, c.text, c.disease) for c in rows]
    return own + [SidedCase("chinese", c.id, c.text, c.disease) for p in (FIRST, SECOND) for c in read_chinese(p)]


def short_cases(names: DiagnosisNames) -> list[SidedCase]:
    """The short vignettes."""
    rows = read_yaml_rows(SHORT, ShortCase)
    return [SidedCase("short", c.id, c.text, names.disease(c.diagnosis) or "") for c in rows]


def _patient(source: str, patient: Patient, text: str, names: DiagnosisNames) -> SidedCase:
    return SidedCase(source, patient.id, text, names.disease(patient.gold_diagnosis.label) or "")


def _ddxplus(rows: Sequence[TextPatient]) -> Iterator[SidedCase]:
    conditions = read_conditions()
    for row in rows:
        yield SidedCase("ddxplus", row.id, row.text, conditions[row.pathology])


def _strangers(data: Path, file: str, source: str, names: DiagnosisNames) -> Iterator[SidedCase]:
    if not (data / file).exists():
        return
    for number, row in enumerate(read_jsonl(data / file, Stranger)):
        known = names.disease(row.disease) or (names.disease(row.icd10) if row.icd10 else None) or ""
        yield SidedCase(source, f"{source}-{number}", row.text, known)
