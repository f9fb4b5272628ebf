"""What an answer may not do: choose, affirm or recommend without a word what stated allergies and medicines bar."""

from __future__ import annotations

from collections.abc import Mapping

from graphs.answering.contract import Choice, Draft
from graphs.answering.notices import notice
from graphs.verdicts.contract import VerdictValue
from tools.contract import Notice, unique
from tools.evidence import Origin
from tools.medicines.checks import unsuitable
from tools.medicines.constraints import (
    Constraint,
    barred_options,
    barred_question,
    constraints_in,
    recommended,
    warns,
)
from tools.medicines.names import Medicine
from tools.medicines.records import STATES
from tools.messages import messages


def constrained(draft: Draft, question: str, case: str, options: Mapping[str, str], language: str) -> Draft:
    """The draft without a choice or verdict that allergies and medicines bar, and with the notices that are due.

    A question about a barred medicine is led by a warning, whatever else is answered.

    Args:
        question: the turn as it stands alone. case: the session's case, "" where none was told.
        options: of a multiple-choice question, by label.
    """
    choice, notices = _choice(draft.choice, barred_options(question, dict(options), case), options, language)
    leading: list[Notice] = []
    verdict, asked = draft.verdict, None if options else barred_question(question, case)
    if asked is not None:
        leading.append(notice("barred_medicine", language, _asked(*asked, language)))
        agrees = verdict is not None and verdict.value is VerdictValue.NO and not warns(question)
        verdict, choice = (verdict if agrees else None), None
    told = "\n".join(part for part in (case, question) if part)
    named = [*_recommended(draft, told, language), *([] if options else _unsuitable(draft, told, language))]
    if named:
        notices.append(notice("breaks_constraint", language, messages(language).joined(named)))
    if not (leading or notices):
        return draft
    update = {"choice": choice, "verdict": verdict, "notices": (*leading, *draft.notices, *notices)}
    return draft.model_copy(update=update)


def _choice(
    choice: Choice | None, barred: Mapping[str, Constraint], options: Mapping[str, str], language: str
) -> tuple[Choice | None, list[Notice]]:
    if not barred:
        return choice, []
    told = messages(language).joined(_told(options[label], c, language) for label, c in sorted(barred.items()))
    if choice is not None and choice.label in barred:
        return None, [notice("choice_breaks_constraint", language, told)]
    return choice, [notice("options_barred", language, told)]


def _recommended(draft: Draft, case: str, language: str) -> list[str]:
    """What the statements name without a warning although an allergy of the case bars it."""
    constraints = [c for c in constraints_in(case) if c.why == "allergy"]
    out: list[str] = []
    for statement in draft.statements if constraints else ():
        broken = recommended(statement.text, constraints) if statement.origin is not Origin.CASE else None
        if broken is not None:
            out.append(_told(broken[0].written, broken[1], language))
    return unique(out)


def _unsuitable(draft: Draft, case: str, language: str) -> list[str]:
    """What the statements name without a warning although the patient's state or illness bars it, by its record."""
    words = messages(language)
    said = [s.text for s in draft.statements if s.origin is not Origin.CASE]
    found = unsuitable(said, case) if case else []
    told = [(m.written, words[f"barred.states.{c.beside}"] if c.beside in STATES else c.beside) for m, c in found]
    return [words.say("barred.state", medicine=medicine, named=named) for medicine, named in told]


def _told(medicine: str, constraint: Constraint, language: str) -> str:
    return messages(language).say(f"barred.{constraint.why}", medicine=medicine, named=constraint.named).strip()


def _asked(medicine: Medicine, constraint: Constraint, language: str) -> str:
    words, written = messages(language), medicine.written
    same = written.lower() == constraint.named.lower()
    kind = words["barred.same"] if same else words.say("barred.kind", family=medicine.family)
    return words.say(f"barred.asked.{constraint.why}", medicine=written, named=constraint.named, kind=kind)
