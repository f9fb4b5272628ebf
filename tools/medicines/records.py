"""Records of medicines: what each is for, whom it may harm, and what it must not meet (``starter/*.json``).

Ours, from general knowledge, not clinically reviewed, and without doses: a dose comes from an imported label alone.
"""

from __future__ import annotations

import json
from datetime import date
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from pydantic import Field, ValidationError

from prompts.errors import DataError
from tools.evidence import Frozen
from tools.yaml_files import read_yaml

STARTER = Path(__file__).with_name("starter")
ABOUT = "about.yaml"
STATES = ("pregnancy", "breastfeeding", "kidneys", "liver", "children", "older")


class Severity(StrEnum):
    """How much an interaction matters; ours."""

    SEVERE = "severe"
    MODERATE = "moderate"
    MILD = "mild"


class Advice(StrEnum):
    """What a state of the patient (pregnancy, a kidney disease) means for taking a medicine; ours."""

    AVOID = "avoid"
    CAUTION = "caution"
    USUAL = "usual"


class Caution(Frozen):
    """Advice in one state of the patient; ``says`` is one or two sentences that name the medicine."""

    advice: Advice
    says: str = Field(min_length=15)


class ChildCaution(Caution):
    """Advice for children younger than ``until`` years, none for older ones; before ``barred`` years it is avoided."""

    until: float = Field(default=12, gt=0)
    barred: float = Field(default=0, ge=0)


class Contraindication(Caution):
    """Advice in conditions, named as a patient or a doctor would."""

    conditions: tuple[str, ...] = Field(min_length=1)


class Interaction(Frozen):
    """What happens beside other medicines.

    Attributes:
        others: generic names or classes. mechanism, action: a sentence each; the first names both sides.
    """

    others: tuple[str, ...] = Field(min_length=1)
    severity: Severity
    mechanism: str = Field(min_length=15)
    action: str = Field(min_length=5)


class Record(Frozen):
    """One medicine. ``classes``: the narrowest first. Lists of sentences, each of which can be quoted alone.

    ``taking``: how and when it is taken, when it works, what to do about a missed dose, how it is stopped.
    """

    name: str = Field(min_length=2)
    names: tuple[str, ...] = ()
    chinese: tuple[str, ...] = ()
    classes: tuple[str, ...] = Field(min_length=1)
    works: str = Field(min_length=15)
    uses: tuple[str, ...] = Field(min_length=1)
    taking: tuple[str, ...] = ()
    contraindications: tuple[Contraindication, ...] = ()
    pregnancy: Caution
    breastfeeding: Caution
    kidneys: Caution
    liver: Caution
    children: ChildCaution | None = None
    older: Caution | None = None
    side_effects: tuple[str, ...] = Field(min_length=1)
    monitoring: tuple[str, ...] = ()
    interactions: tuple[Interaction, ...] = ()

    def of(self, state: str) -> Caution | None:
        """What one of `STATES` means for taking it; None where nothing is said."""
        caution: Caution | None = getattr(self, state)
        return caution


ANYBODYS = frozenset({"medical gas", "rehydration treatment", "vitamin", "trace element", "emollient"})
"""Ours: classes of which an allergy is hardly ever meant."""


def _with_allergy(record: Record) -> Record:
    """The record with its own allergy among its contraindications, as with every medicine."""
    own = {n.lower() for n in (record.name, *record.names)}
    known = any(n in c.lower() for e in record.contraindications for c in e.conditions if "allergy" in c for n in own)
    if known or ANYBODYS & {*record.classes}:
        return record
    says = f"An allergy to {record.name} rules it out."
    entry = Contraindication(advice=Advice.AVOID, says=says, conditions=(f"{record.name} allergy",))
    return record.model_copy(update={"contraindications": (*record.contraindications, entry)})


def read_records(path: Path) -> list[Record]:
    """The records of a file; raises DataError that names the record and the field, or says that it is no list.

    They are JSON, not YAML: they are read at every start, and are read forty times as fast.
    """
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{path.name} is not JSON: {error}.", "See docs/medicines.md.") from error
    records = []
    for row in rows:
        try:
            records.append(_with_allergy(Record.model_validate(row)))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            name = row.get("name") if isinstance(row, dict) else row
            raise DataError(f"{path.name}: {name}: {where}: {first['msg']}.", "See docs/medicines.md.") from error
    return records


def written() -> tuple[date, date]:
    """The day on which the starter records were written, and the day by which they are to be read again."""
    about = read_yaml(STARTER / ABOUT)
    return about["written"], about["review_by"]


@lru_cache(maxsize=1)
def starter_records() -> tuple[Record, ...]:
    """Every record that the project has, in the order of their names."""
    records = (r for path in STARTER.glob("*.json") for r in read_records(path))
    return tuple(sorted(records, key=lambda r: r.name.lower()))
