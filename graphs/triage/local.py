"""Triage without a language model: two small trained heads, and open rules for what leans on the session."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from graphs.triage import revisions
from graphs.triage.asked import Diseases, of_leading
from graphs.triage.contract import Change, Kind, RedFlag, SessionView, TriageDecision
from graphs.triage.emergency import emergencies, red_flags
from graphs.triage.follow_up import Reply, read_reply
from graphs.triage.kinds import OnSubject, Verdict, classify
from graphs.triage.standalone import stand_alone
from tools.contract import Finding
from tools.text import questions
from tools.text.language import language_of
from tools.text.options import parse_options


class Turn(NamedTuple):
    """The turn as it stands alone, the patient's case so far, and whether the message opens that case."""

    question: str
    case: str
    new: bool = False
    changes: tuple[Change, ...] = ()


class TriageLocal:
    """Classifies a message, English or Chinese.

    Args:
        on_subject: whether the library holds something on what seems to be of another field; None never asks.
        diseases: ids of the diseases that a text names; None knows none.
    """

    def __init__(self, on_subject: OnSubject | None = None, diseases: Diseases | None = None) -> None:
        self._on_subject = on_subject
        self._diseases = diseases
        emergencies()  # read here, not in a user's first question

    async def decide(self, message: str, session: SessionView) -> TriageDecision:
        """Classify the message, in a thread: a long one does not hold the loop. Never raises for any text."""
        return await asyncio.to_thread(self.decide_now, message, session)

    def decide_now(self, message: str, session: SessionView) -> TriageDecision:
        """The same, for callers without an event loop."""
        text = message.strip().replace("’", "'")
        language = _language(text, session)
        parsed = parse_options(text)
        verdict = classify(
            text, session, has_options=bool(parsed.options), on_subject=self._on_subject, diseases=self._diseases
        )
        if parsed.options and verdict.kind is Kind.MULTIPLE_CHOICE:
            return TriageDecision(
                kind=Kind.MULTIPLE_CHOICE, language=language, question=parsed.stem or text, options=parsed.options,
                red_flags=red_flags(text, language, exam=True),
                reason=verdict.reason,
            )  # fmt: skip
        reply = _reply(text, session)
        if reply is not None:
            case = revisions.join(session.case, reply.statement)
            reason = f"answers our question: {session.asked.text if session.asked else ''}"
            flags = red_flags(case, language) or red_flags(text, language, alone=False)
            return decision_of(Verdict(Kind.FOLLOW_UP, reason), language, Turn(case, case), flags, reply.finding)
        urgent = verdict.explain is not None and bool(red_flags(text, language, alone=False))
        verdict = Verdict(Kind.CASE, "asks, and tells of an emergency") if urgent else verdict
        turn = _turn(verdict, text, session)
        if verdict.explain is not None:
            told = red_flags(session.case, language) if verdict.explain.of_case else ()
            return decision_of(verdict, language, turn, told)
        flags = red_flags(turn.question if turn.case else text, language)
        flags = flags or red_flags(text, language, alone=not session.case)
        if flags and verdict.kind is not Kind.CASE:
            verdict, turn = (
                Verdict(Kind.CASE, f"an emergency is described: {flags[0].seen}"),
                Turn(text, text, new=True),
            )
        return decision_of(verdict, language, turn, flags)


def decision_of(
    verdict: Verdict, language: str, turn: Turn, flags: tuple[RedFlag, ...], answered: Finding | None = None
) -> TriageDecision:
    """The decision of a verdict and the turn that it makes."""
    return TriageDecision(
        kind=verdict.kind,
        language=language,
        question=turn.question,
        case=turn.case,
        closed=verdict.kind is Kind.EVIDENCE and questions.is_closed(turn.question),
        red_flags=flags,
        answered=answered,
        new_case=turn.new,
        about_case=verdict.of_leading,
        explain=verdict.explain,
        changes=turn.changes,
        reason=verdict.reason,
    )


def _reply(text: str, session: SessionView) -> Reply | None:
    if session.asked is None or revisions.is_other_patient(text, session.case):
        return None
    if revisions.is_correction(text, session.case, asked=True):
        return None
    return read_reply(text, session.asked)


def _turn(verdict: Verdict, text: str, session: SessionView) -> Turn:
    """The stand-alone question of a classified message."""
    if verdict.kind is Kind.CASE:
        return case_turn(text, session)
    if verdict.of_leading:
        return Turn(of_leading(text, verdict.asked, session), "")
    if verdict.kind is Kind.EVIDENCE and verdict.leans and session.question:
        return Turn(stand_alone(text, session.question), "")
    if verdict.patient and not session.case:  # what follows goes on from this patient
        told = [part for part in questions.parts(text) if not questions.is_question(part)]
        return Turn(text, " ".join(told) or text)
    return Turn(text, "")


def case_turn(text: str, session: SessionView) -> Turn:
    """The patient's case with what a message tells: a new case, a correction, an addition, or a question about it."""
    if session.case and revisions.is_repeated(text, session.messages, session.case):
        return Turn(session.case, session.case)
    if not session.case or revisions.is_other_patient(text, session.case):
        return Turn(text, text, new=True)
    if revisions.is_correction(text, session.case):
        revised = revisions.correct(session.case, text)
        return Turn(revised.case, revised.case, changes=revised.changes)
    asks = all(map(questions.is_question, questions.parts(text)))
    if asks:  # asks about the case, tells nothing new
        return Turn(revisions.join(session.case, text), session.case)
    revised = revisions.add(session.case, text)
    return Turn(revised.case, revised.case, changes=revised.changes)


def _language(text: str, session: SessionView) -> str:
    if any(c.isalpha() for c in text):
        return language_of(text)
    return language_of((session.asked.text if session.asked else "") or session.question or session.case or text)
