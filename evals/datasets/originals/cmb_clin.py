"""CMB-Clin: Chinese cases, each with questions about it and their solutions.

Format: the repository FreedomIntelligence/CMB (README.md, "CMB-Clin Item": id, title, description, QA_pairs of question
and solution; Data/CME-test-qa/CMB-test-qa.json has the same with answer for solution, and ids as text); Wang et al.
2023. The title names the disease after a dash; that is our reading of the titles, the release has no field for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, field_validator

from evals.datasets.clinical import clinical_file
from evals.datasets.originals.contract import Conversion, Converted, Found, Original, Row, placed
from evals.datasets.originals.entries import is_json, json_entries
from evals.datasets.originals.json_rows import JsonText
from evals.datasets.originals.members import Member, members


class Solved(BaseModel):
    """A question about a case and its solution."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    question: str = Field(min_length=1)
    solution: str = Field(validation_alias=AliasChoices("solution", "answer"))


class CmbCase(Row):
    """A case: its title, what is known of the patient, and what is asked."""

    title: str = Field(min_length=1)
    description: str = Field(min_length=1)
    asked: tuple[Solved, ...] = Field(validation_alias=AliasChoices("QA_pairs", "asked"), min_length=1)

    @field_validator("id", mode="before")
    @classmethod
    def _as_text(cls, given: object) -> object:
        return str(given) if isinstance(given, int) and not isinstance(given, bool) else given

    @property
    def disease(self) -> str:
        """The disease that the title names: what stands after its last dash."""
        return self.title.replace("－", "-").rpartition("-")[2].strip()


def read(path: Path) -> Found:
    """The cases of CMB-Clin-qa.json."""
    return json_entries(members(path, is_json), _cases)


def convert(records: Iterator[Row], conversion: Conversion) -> Converted:
    """The cases in the form of `evals.datasets.clinical`."""
    del conversion
    for row in records:
        if isinstance(row, CmbCase):
            asked = [{"question": a.question, "answer": a.solution} for a in row.asked]
            made = {"id": f"cmb_clin-{row.id}", "source": "cmb_clin", "language": "zh", "text": row.description}
            yield clinical_file("cmb_clin"), made | {"diagnoses": [row.disease], "asked": asked}


def _cases(text: JsonText, member: Member) -> Found:
    for line, _ in text.entries():
        yield placed(CmbCase, text.value(), member.name, line)


ORIGINAL = Original("cmb_clin", "CMB-Clin-qa.json", read, convert)
