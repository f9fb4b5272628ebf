"""AgentClinic's cases as texts: OSCE-like records of MedQA questions, with a diagnosis.

Source: Schmidgall et al. 2024, "AgentClinic: a multimodal agent benchmark to evaluate AI in simulated clinical
environments".
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from evals.datasets.rows import read_jsonl

CASES = "cases/agentclinic_medqa.jsonl"


class ClinicCase(BaseModel):
    """A case: what the patient tells, what is found on examination, what tests show, and the diagnosis."""

    model_config = ConfigDict(frozen=True)

    id: str = Field(min_length=1)
    gold_diagnosis: str = Field(min_length=1)
    patient: dict[str, Any]
    physical_exam: dict[str, Any]
    tests: dict[str, Any]

    @property
    def text(self) -> str:
        """The whole case: the patient's own part as sentences, then examination and tests as ``what: found``."""
        told = [value for _, value in _leaves(self.patient)]
        found = [
            f"{', '.join(path)}: {value}" for part in (self.physical_exam, self.tests) for path, value in _leaves(part)
        ]
        return " ".join(_closed(said) for said in (*told, *found) if said.strip())


def read_clinic(data: Path) -> list[ClinicCase]:
    """Every case; raises DataError with the row's number for a damaged one."""
    return read_jsonl(data / CASES, ClinicCase)


def _leaves(part: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """The values of nested objects and lists, each with the names above it in words."""
    if isinstance(part, dict):
        for name, value in part.items():
            yield from _leaves(value, (*path, name.replace("_", " ")))
    elif isinstance(part, list):
        for value in part:
            yield from _leaves(value, path)
    elif part is not None:
        yield path, str(part)


def _closed(said: str) -> str:
    said = " ".join(said.split())
    return said if said[-1] in ".!?" else f"{said}."
