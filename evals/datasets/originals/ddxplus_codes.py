"""The codes of DDXPlus: what an evidence of a patient means, and back.

Format: the repository mila-iqia/ddxplus (README.md, "Dataset documentation"): release_evidences.json has name,
question, data type (B binary, C categorical, M multi-choice), default value, possible values and their meanings;
release_conditions.json the conditions with their symptoms and antecedents. A patient's evidence is ``E_91`` or, with a
value, ``E_55_@_V_14``; an evidence at its default value is as if it was not there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evals.datasets.ddxplus_findings import AT
from evals.datasets.rows import read_object
from prompts.errors import DataError

EVIDENCES, CONDITIONS = "release_evidences.json", "release_conditions.json"


class Evidence(BaseModel):
    """An evidence of the release. ``values``: the codes that it may have, as text."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    name: str = Field(min_length=1)
    question: str = Field(alias="question_en")
    antecedent: bool = Field(alias="is_antecedent")
    kind: Literal["B", "C", "M"] = Field(alias="data_type")
    default: str | int = Field(alias="default_value")
    values: tuple[str | int, ...] = Field(alias="possible-values")
    meanings: dict[str, dict[str, str]] = Field(alias="value_meaning")


class Decoded(NamedTuple):
    """An evidence in words.

    Attributes:
        name, value: its code, and the code of its value; None for a binary one.
        question: the English question that it answers yes to, or by ``meaning``.
        meaning: the value in English words, a number as it is; "yes" for a binary evidence.
        antecedent: part of the history, not of what is felt now.
        default: at its default value, as if it was not there.
    """

    name: str
    value: str | None
    question: str
    meaning: str
    antecedent: bool
    default: bool

    @property
    def code(self) -> str:
        """The evidence as the release writes it."""
        return self.name if self.value is None else f"{self.name}{AT}{self.value}"


class Codebook:
    """The evidences and conditions of a release."""

    def __init__(self, evidences: dict[str, Evidence], conditions: frozenset[str]) -> None:
        self.evidences, self.conditions = evidences, conditions
        self._values = {name: frozenset(map(str, evidence.values)) for name, evidence in evidences.items()}

    @classmethod
    def read(cls, folder: Path) -> Codebook:
        """The codebook of a release's folder; raises DataError when a file is missing or damaged."""
        entries = read_object(folder / EVIDENCES)
        return cls(
            {name: _evidence(name, entry) for name, entry in entries.items()},
            frozenset(read_object(folder / CONDITIONS)),
        )

    def decode(self, code: str) -> Decoded:
        """An evidence of a patient in words.

        Raises:
            ValueError: an evidence or a value that the release does not have, a value of a binary evidence, or none of
                another.
        """
        name, at, value = code.partition(AT)
        evidence = self.evidences.get(name)
        if evidence is None:
            raise ValueError(f"{name!r} is no evidence of the release")
        if evidence.kind == "B":
            if at:
                raise ValueError(f"{name} is binary and has no value")
            return Decoded(name, None, evidence.question, "yes", evidence.antecedent, default=False)
        if value not in self._values[name]:
            raise ValueError(f"{value!r} is no value of {name}" if at else f"{name} lacks its value")
        meaning = evidence.meanings.get(value, {}).get("en", value)
        default = value == str(evidence.default)
        return Decoded(name, value, evidence.question, meaning, evidence.antecedent, default)


def _evidence(name: str, entry: Any) -> Evidence:
    try:
        return Evidence.model_validate(entry)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise DataError(f"{EVIDENCES}, {name}: {where}: {first['msg']}.", "Take it from the release again.") from None
