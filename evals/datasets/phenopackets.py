"""Published patients with a genetic disease, as phenopackets: phenotype terms, diagnosis and the paper they come from.

Source: the Phenopacket Store of the Monarch Initiative. The lay wordings of a hundred of them are this product's own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from evals.datasets.rows import read_jsonl, read_yaml_rows
from prompts.errors import DataError

PATIENTS = "cases/phenopackets_dev.jsonl"
LAY = Path(__file__).parent.parent / "resources" / "lay_hpo_cases.yaml"
OBSERVED, EXCLUDED = 12, 4  # ours: terms that a patient told as prose has at most
SEXES = {"MALE": "male", "FEMALE": "female"}
_YEARS = re.compile(r"P(\d+)Y")
LEAST_TERMS = 3  # the task's own rule: a patient with fewer observed terms is not ranked


class Named(BaseModel):
    """An id with its label."""

    model_config = ConfigDict(frozen=True)

    id: str = Field(min_length=1)
    label: str = Field(min_length=1)


class Patient(BaseModel):
    """A patient: terms observed and looked for in vain, the diagnosis, and the PubMed id of the paper.

    ``sex`` is MALE or FEMALE, ``age`` a duration as the standard writes it (P28Y).
    """

    model_config = ConfigDict(frozen=True)

    id: str = Field(min_length=1)
    observed: tuple[Named, ...]
    excluded: tuple[Named, ...]
    gold_diagnosis: Named
    pmid: str = Field(pattern=r"^\d+$")
    sex: str | None = None
    age: str | None = None

    def labels(self) -> str:
        """The labels of the terms as a text, one sentence each."""
        told = [f"{term.label}." for term in self.observed]
        return " ".join([*told, *(f"No {term.label}." for term in self.excluded)])

    def prose(self) -> str:
        """The patient as a short letter would say: age and sex, the first findings, and what was looked for in vain."""
        years = _YEARS.match(self.age or "")
        who = SEXES.get(self.sex or "", "patient")
        has = [_begun(term.label) for term in self.observed[:OBSERVED]]
        lacks = [f"no {_begun(term.label)}" for term in self.excluded[:EXCLUDED]]
        told = f"A {years[1] + '-year-old ' if years else ''}{who} has {', '.join(has[:-1])} and {has[-1]}."
        return f"{told} There is {', '.join(lacks)}." if lacks else told


class LayCase(BaseModel):
    """A patient in the words of the patient or a parent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    text: str = Field(min_length=1)


def read_patients(data: Path, annotated: Collection[str]) -> list[Patient]:
    """One patient a paper: the first of it with enough terms and a diagnosis among ``annotated``, in file order."""
    first: dict[str, Patient] = {}
    for row in read_jsonl(data / PATIENTS, Patient):
        if len(row.observed) >= LEAST_TERMS and row.gold_diagnosis.id in annotated:
            first.setdefault(row.pmid, row)
    if not first:
        raise DataError(f"{Path(PATIENTS).name} has no patient whose disease is annotated.", "Give the whole file.")
    return list(first.values())


def read_lay(patients: Sequence[Patient]) -> list[tuple[Patient, str]]:
    """The patients that have a lay wording, with it."""
    texts = {case.id: case.text for case in read_yaml_rows(LAY, LayCase)}
    return [(p, texts[p.id]) for p in patients if p.id in texts]


def _begun(label: str) -> str:
    """A label inside a sentence: its first letter small, unless it begins an abbreviation."""
    return label if any(c.isupper() for c in label.split()[0][1:]) else label[:1].lower() + label[1:]
