"""The written cases that the project ships: differentials, emergencies, evidence questions, what must be declined."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from evals.datasets.rows import read_yaml_rows

DIFFERENTIAL, EMERGENCIES, EVIDENCE, DECLINE = "differential*.yaml", "emergencies.yaml", "evidence.yaml", "decline.yaml"


class WrittenCase(BaseModel):
    """A message and its language."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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


def read_cases(data: Path, pattern: str, model: type[Written]) -> list[Written]:
    """The cases of every file of this name, in the order of the names."""
    return [case for path in sorted(data.glob(pattern)) for case in read_yaml_rows(path, model)]
