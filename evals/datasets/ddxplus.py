"""DDXPlus: patients as fixed texts and as codes, and its conditions as diseases of our graph.

Source: Fansi Tchango et al. 2022, "DDXPlus: a new dataset for automatic medical diagnosis" (synthetic patients).
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from evals.datasets.rows import read_jsonl, read_yaml_rows
from prompts.errors import DataError

TEXTS = "ddxplus/patients_dev_text.jsonl"
CODES = "ddxplus/patients_dev.jsonl"
LAY = Path(__file__).parent.parent / "resources" / "ddxplus_lay.yaml"
CONDITIONS = Path(__file__).parent / "ddxplus_conditions.yaml"


class TextPatient(BaseModel):
    """A patient in the first person. ``names_gold``: a history item of the text names the gold diagnosis."""

    model_config = ConfigDict(frozen=True)

    id: str = Field(min_length=1)
    text: str = Field(min_length=1)
    initial_text: str
    pathology: str = Field(min_length=1)
    age: int = Field(ge=0, le=130)
    sex: Literal["F", "M"]
    names_gold: bool


class CodedPatient(BaseModel):
    """The same patient as the release codes it. ``differential``: condition and probability, as the engine gave it."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    id: str = Field(min_length=1)
    age: int = Field(alias="AGE", ge=0, le=130)
    sex: Literal["F", "M"] = Field(alias="SEX")
    pathology: str = Field(alias="PATHOLOGY")
    evidences: tuple[str, ...] = Field(alias="EVIDENCES")
    initial_evidence: str = Field(alias="INITIAL_EVIDENCE")
    differential: tuple[tuple[str, float], ...] = Field(alias="DIFFERENTIAL_DIAGNOSIS")
    split: Literal["train", "validate", "test"]


class Condition(BaseModel):
    """A condition of the release, and the disease of the starter graph that it is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    condition: str = Field(min_length=1)
    disease: str = Field(min_length=1)


def read_texts(data: Path) -> list[TextPatient]:
    """Every patient text; raises DataError with the row's number for a damaged one."""
    return read_jsonl(data / TEXTS, TextPatient)


def read_codes(data: Path) -> dict[str, CodedPatient]:
    """Every coded patient by id."""
    return {p.id: p for p in read_jsonl(data / CODES, CodedPatient)}


class LayPatient(BaseModel):
    """A row of the validate split in lay language: the row's id and our own wording of its text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    text: str = Field(min_length=1)


def read_lay() -> list[LayPatient]:
    """The rows that we reworded."""
    return read_yaml_rows(LAY, LayPatient)


def validate_texts(data: Path) -> list[TextPatient]:
    """The patient texts of the release's validate split; raises DataError as `split_texts` does."""
    return split_texts(data, "validate")


def split_texts(data: Path, split: Literal["train", "validate"]) -> list[TextPatient]:
    """The patient texts of a split of the release.

    Raises:
        DataError: when a text has no coded patient, or another pathology than it.
    """
    codes = read_codes(data)
    rows = read_texts(data)
    for number, row in enumerate(rows, start=1):
        coded = codes.get(row.id)
        if coded is None or coded.pathology != row.pathology:
            raise DataError(
                f"{Path(TEXTS).name}, row {number}: {row.id} does not agree with {Path(CODES).name}.",
                "Take both files from the same release of the data.",
            )
    chosen = [row for row in rows if codes[row.id].split == split]
    if not chosen:
        raise DataError(f"{Path(TEXTS).name} has no row of the {split} split.", "Give the whole file.")
    return chosen


def read_conditions() -> dict[str, str]:
    """The release's 49 conditions -> ids of the starter graph's diseases."""
    return {c.condition: c.disease for c in read_yaml_rows(CONDITIONS, Condition)}
