"""Published clinical cases with their diagnoses, as ICA-RAG uses them: CMB-Clin, CMEMR and ClinicalBench in one form.

They are not shipped; `anamnesis eval data` says where each is to be had, and converts it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from evals.datasets.rows import read_jsonl

Source = Literal["cmb_clin", "cmemr", "clinicalbench"]


class Asked(BaseModel):
    """A question about a case, and the reference answer."""

    model_config = ConfigDict(frozen=True)

    question: str = Field(min_length=1)
    answer: str


class ClinicalCase(BaseModel):
    """A case.

    Attributes:
        text: what is known of the patient, without the diagnosis.
        diagnoses: the reference diagnoses by name; for CMB-Clin the case's title, which names the disease.
        asked: CMB-Clin's questions about it.
    """

    model_config = ConfigDict(frozen=True)

    id: str = Field(min_length=1)
    source: Source
    language: Literal["en", "zh"]
    department: str = ""
    text: str = Field(min_length=1)
    diagnoses: tuple[str, ...] = Field(min_length=1)
    asked: tuple[Asked, ...] = ()


def clinical_file(source: Source) -> str:
    """Where the cases of a source lie below the data folder."""
    return f"cases/{source}.jsonl"


def read_clinical(data: Path, source: Source) -> list[ClinicalCase]:
    """The cases of a source; raises DataError for a missing file or a damaged row."""
    return read_jsonl(data / clinical_file(source), ClinicalCase)
