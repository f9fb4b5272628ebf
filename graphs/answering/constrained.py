"""What an answer may not do: choose, or recommend without a word, what the case's allergies and medicines bar."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from graphs.answering.contract import Choice, Draft
from graphs.answering.notices import notice
from tools.contract import Notice, unique
from tools.evidence import Origin
from tools.medicines.constraints import Constraint, barred_options, broken_by, constraints_in, recommends

WHY = {
    "en": {"allergy": "{medicine} (allergy to {named})", "current": "{medicine} ({named} is taken already)"},
    "zh": {"allergy": "{medicine}（对{named}过敏）", "current": "{medicine}（已在使用{named}）"},
}


def constrained(draft: Draft, question: str, case: str, options: Mapping[str, str], language: str) -> Draft:
    """The draft without a choice that the case bars, and with the notices that are due.

    Args:
        question: the turn as it stands alone. case: the session's case where the turn is about it, else "".
        options: of a multiple-choice question, by label.
    """
    barred = barred_options(question, dict(options))
    choice, notices = _choice(draft.choice, barred, options, language)
    named = _recommended(draft, "\n".join(part for part in (case, question) if part), language)
    if named:
        notices.append(notice("breaks_constraint", language, _joined(named, language)))
    return draft.model_copy(update={"choice": choice, "notices": (*draft.notices, *notices)}) if notices else draft


def _choice(
    choice: Choice | None, barred: Mapping[str, Constraint], options: Mapping[str, str], language: str
) -> tuple[Choice | None, list[Notice]]:
    if not barred:
        return choice, []
    told = _joined((_told(options[label], c, language) for label, c in sorted(barred.items())), language)
    if choice is not None and choice.label in barred:
        return None, [notice("choice_breaks_constraint", language, told)]
    return choice, [notice("options_barred", language, told)]


def _recommended(draft: Draft, case: str, language: str) -> list[str]:
    """What the statements name without a warning although an allergy of the case bars it."""
    constraints = [c for c in constraints_in(case) if c.why == "allergy"]
    out: list[str] = []
    for statement in draft.statements if constraints else ():
        if statement.origin is Origin.CASE or not recommends(statement.text):
            continue
        broken = broken_by(statement.text, constraints)
        if broken is not None:
            out.append(_told(*broken, language))
    return unique(out)


def _told(medicine: str, constraint: Constraint, language: str) -> str:
    words = WHY["zh" if language == "zh" else "en"][constraint.why]
    return words.format(medicine=medicine, named=constraint.named).strip()


def _joined(items: Iterable[str], language: str) -> str:
    return ("；" if language == "zh" else "; ").join(items)
