"""ClinicalBench: hospital cases with diagnoses, examinations and plans, in Chinese and English.

Format: the repository WeixiangYAN/ClinicalLab (data_examples/DATASET_CARD.md and the two examples beside it, one object
each; code/inference/eval.py reads a list of them). The whole is sent on application. The card calls the two parts of a
laboratory examination findings and impression, the examples result and abnormal: both are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, field_validator

from evals.datasets.clinical import clinical_file
from evals.datasets.originals.contract import Conversion, Converted, Found, Original, Row, placed
from evals.datasets.originals.entries import is_json, json_entries, one_or_list
from evals.datasets.originals.json_rows import JsonText
from evals.datasets.originals.members import Member, members


class Examination(BaseModel):
    """What was found, and what it means."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    findings: str = Field(default="", validation_alias=AliasChoices("findings", "result"))
    impression: str = Field(default="", validation_alias=AliasChoices("impression", "abnormal"))


class BenchCase(Row):
    """A case. ``id`` is its language and its uid, which both languages share."""

    number: int
    language: Literal["en", "zh"]
    department: str = Field(validation_alias=AliasChoices("clinical_department", "department"), min_length=1)
    principal_diagnosis: str = Field(min_length=1)
    preliminary_diagnosis: str
    diagnostic_basis: str
    differential_diagnosis: str
    treatment_plan: str
    therapeutic_principle: str
    summary: str = Field(validation_alias=AliasChoices("clinical_case_summary", "summary"), min_length=1)
    imaging: dict[str, Examination] = Field(validation_alias=AliasChoices("imageological_examination", "imaging"))
    laboratory: dict[str, Examination] = Field(validation_alias=AliasChoices("laboratory_examination", "laboratory"))
    pathology: str = Field(default="", validation_alias=AliasChoices("pathological_examination", "pathology"))

    @field_validator("imaging", "laboratory", mode="before")
    @classmethod
    def _none_is_text(cls, given: object) -> object:
        """The code tests whether an examination is an object; what is none says in words that there was none."""
        return {} if given is None or isinstance(given, str) else given


def read(path: Path) -> Found:
    """The cases of a file (one object, or a list of them), or of a folder of such files."""
    return json_entries(members(path, is_json), _cases)


def convert(records: Iterator[Row], conversion: Conversion) -> Converted:
    """The cases in the form of `evals.datasets.clinical`: the summary, and the principal diagnosis."""
    del conversion
    for row in records:
        if isinstance(row, BenchCase):
            made = {"id": f"clinicalbench-{row.id}", "source": "clinicalbench", "language": row.language}
            more = {"department": row.department, "text": row.summary, "diagnoses": [row.principal_diagnosis]}
            yield clinical_file("clinicalbench"), made | more


def _cases(text: JsonText, member: Member) -> Found:
    for line, value in one_or_list(text):
        if isinstance(value, dict):
            uid = f"{value.get('language', '')}-{value.get('clinical_case_uid', '')}"
            named = {"number": value.get("id"), "id": uid if value.get("clinical_case_uid") else ""}
            yield placed(BenchCase, value | named, member.name, line)
        else:
            yield placed(BenchCase, value, member.name, line)


ORIGINAL = Original("clinicalbench", "a JSON file with one case or a list of them", read, convert)
