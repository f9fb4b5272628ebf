"""What an answer may not do: choose or affirm what allergies and medicines bar, ask routine beside an emergency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphs.answering.contract import Choice, Draft
from graphs.answering.notices import notice
from graphs.triage.contract import Kind, RedFlag
from graphs.verdicts.contract import VerdictValue
from tools.contract import Differential, Notice, unique
from tools.evidence import Origin
from tools.medicines.checks import may_with_care, unsuitable
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
    if verdict is not None and verdict.value is VerdictValue.NO and may_with_care(question, case):
        sides = tuple(VerdictValue.DEPENDS for _ in verdict.sides)
        verdict = verdict.model_copy(update={"value": VerdictValue.DEPENDS, "sides": sides})
    told = "\n".join(part for part in (case, question) if part)
    named = [*_recommended(draft, told, language), *([] if options else _unsuitable(draft, told, language))]
    if named:
        notices.append(notice("breaks_constraint", language, messages(language).joined(named)))
    if not (leading or notices) and verdict is draft.verdict:
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


# What an answer tells beside an emergency: what may be that emergency, and nothing that is asked as a routine.

GRAVEST = "emergency"  # the severity by which a disease is told beside an emergency that is none
SEVERE = frozenset({"emergency", "urgent"})  # severities of the knowledge format
LEAST = 0.1  # ours: share of the likeliest disease that another one needs
NEXT = 3  # ours: of the first diseases those that are told, severe or not, where the likeliest is not severe


def diagnosed(flags: Sequence[RedFlag]) -> bool:
    """Whether an emergency of the newest message may be a disease, so that more is told than what to do; so it is where
    all were told before."""
    fresh = [flag for flag in flags if not flag.earlier]
    return not fresh or any(flag.diagnosed for flag in fresh)


def beside_flags(
    differential: Differential | None, flags: Sequence[RedFlag], kind: str, *, replied: bool = False
) -> Differential | None:
    """The differential as it is told beside red flags: the leader and what else is severe and fits, no question, and no
    disease at all where no new emergency may be one (`diagnosed`), unless the likeliest disease is an emergency itself,
    or where no known disease explains the case. A leader that is not severe is told with what else leads: the flag may
    be mistaken.

    A question about what was said ("what else could it be?") is answered from all of it; after a reply to our question
    (``replied``) the interview goes on.
    """
    if differential is None or not flags or kind == Kind.EXPLAIN:
        return differential
    leader = differential.ranking[0] if differential.ranking else None
    itself = leader is not None and leader.severity == GRAVEST and bool(leader.findings_for)
    told = () if differential.outside or not (itself or diagnosed(flags)) else differential.ranking
    first = NEXT if told and told[0].severity not in SEVERE else 1
    fitting = (d for n, d in enumerate(told) if (n < first or d.severity in SEVERE) and d.findings_for)
    kept = told[:1] + tuple(d for d in fitting if d != told[0] and d.score >= LEAST * told[0].score)
    rare = differential.rare if kept else ()
    questions = differential.questions if replied else ()
    named = differential.hypotheses if kept else ()
    told_of = {"ranking": kept, "rare": rare, "questions": questions, "hypotheses": named}
    return differential.model_copy(update=told_of)
