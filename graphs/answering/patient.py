"""The patient as read from what was told: for a reader of the answer to see what it was held to."""

from __future__ import annotations

import re

from tools.contract import unique
from tools.evidence import Frozen
from tools.medicines.constraints import constraints_in
from tools.text.clauses import clauses
from tools.text.demographics import read_person, without_mentions
from tools.text.sentences import sentences

PREGNANT = re.compile(
    r"\b(?:pregnan\w+|trimester|weeks'? gestation|expecting a baby)\b|怀孕|妊娠|孕妇|孕期|孕\d+周", re.I
)


class Patient(Frozen):
    """What was read of the patient; None and empty where nothing was.

    Attributes:
        age: in years. sex: ``female`` or ``male``. pregnant: False where it is denied.
        allergies, medicines: what the patient is allergic to and what is taken, as written.
    """

    age: float | None = None
    sex: str | None = None
    pregnant: bool | None = None
    allergies: tuple[str, ...] = ()
    medicines: tuple[str, ...] = ()


def patient_of(told: str) -> Patient | None:
    """What a case, or a message about a patient, tells; None where it tells nothing of these."""
    stated = " ".join(s for span in sentences(told) if not (s := span.of(told)).rstrip().endswith(("?", "？")))
    person, held = read_person(stated), constraints_in(told)
    named = {why: tuple(unique(c.named for c in held if c.why == why)) for why in ("allergy", "current")}
    found = Patient(
        age=person.age,
        sex=person.sex,
        pregnant=_pregnant(stated),
        allergies=named["allergy"],
        medicines=named["current"],
    )
    return found if found != Patient() else None


def _pregnant(stated: str) -> bool | None:
    plain = without_mentions(stated)
    own = [c for c in clauses(stated) if not (c.other or c.past)]
    told = [c.present for c in own if PREGNANT.search(c.text if c.present is False else plain[c.start : c.end])]
    return True if True in told else False if False in told else None
