"""Triage by a language model: kind, the question as it stands alone, and whether yes or no answers it.

Emergencies, answers to our own questions, questions about what was said, options and the text of the case stay with
the rules: a red flag never waits for a model, and a patient's words are kept as they were told.
"""

from __future__ import annotations

from graphs.triage.contract import Kind, SessionView, Triage, TriageDecision
from graphs.triage.emergency import red_flags
from graphs.triage.local import Verdict, case_turn, decision_of
from graphs.verification.support import numbers
from prompts.gate import TriageReply
from prompts.language_model import LanguageModel
from prompts.metering import or_local
from prompts.shown import one_line
from tools.text.language import language_of
from tools.text.tokens import tokens

SETTLED = (Kind.FOLLOW_UP, Kind.EXPLAIN, Kind.CALCULATION)  # they are bound to what the session holds or tells
DISMISSED = (Kind.SMALL_TALK, Kind.ASSISTANT, Kind.OUT_OF_SCOPE)
CASE, BEFORE, MESSAGE = 3000, 600, 12_000  # ours: characters of the case, of other texts, and of the message shown
LONGEST = 600  # ours: characters of a stand-alone question
KNOWN = 0.5  # ours: share of its words that the message or the session must hold; the rest are words of asking


class TriageByModel:
    """Reads a message with a language model, within what the rules settle.

    Args:
        model: who reads. local: the rules, which also stand in when it fails.
    """

    def __init__(self, model: LanguageModel, local: Triage) -> None:
        self._model, self._local = model, local

    async def decide(self, message: str, session: SessionView) -> TriageDecision:
        """Classify the message. Never raises for any text."""
        local = await self._local.decide(message, session)
        if local.red_flags or local.about_case or local.kind in SETTLED:
            return local

        async def as_it_is() -> TriageDecision:
            return local

        return await or_local("triage", lambda: self._read(message, session, local), as_it_is)

    async def _read(self, message: str, session: SessionView, local: TriageDecision) -> TriageDecision:
        reply, _ = await self._model.structured(
            "triage", TriageReply, message=one_line(message, MESSAGE), session=_said_before(session)
        )
        kind = _kind(Kind(reply.kind), local)
        reason = f"by the model: {one_line(reply.reason, LONGEST)}" if kind is not local.kind else local.reason
        if kind is Kind.EVIDENCE:
            question = _stand_alone(reply.question, message, session, local)
            return TriageDecision(
                kind=kind, language=local.language, question=question, closed=reply.closed, reason=reason
            )
        if kind is local.kind:
            return local
        if kind is Kind.CASE:
            turn = case_turn(message.strip(), session)
            return decision_of(Verdict(kind, reason), local.language, turn, red_flags(turn.question, local.language))
        return TriageDecision(kind=kind, language=local.language, question=message.strip(), reason=reason)


def _kind(named: Kind, local: TriageDecision) -> Kind:
    """The kind that the model names, as far as it may: options are read by rules, and no patient is sent away."""
    if local.kind is Kind.MULTIPLE_CHOICE:
        return named if named is Kind.OUT_OF_SCOPE else Kind.MULTIPLE_CHOICE
    if named is Kind.MULTIPLE_CHOICE or (local.kind in (Kind.CASE, Kind.ASSISTANT) and named in DISMISSED):
        return local.kind
    return named


def _said_before(session: SessionView) -> str:
    """What the model is told of the session; "" at its beginning."""
    told = (
        ("The case so far", session.case, CASE),
        ("The leading diagnosis so far", session.leading, BEFORE),
        ("The question before", session.question, BEFORE),
        ("We asked the patient", session.asked.text if session.asked else "", BEFORE),
    )
    lines = [f"{name}: {one_line(text, most)}" for name, text, most in told if text]
    return "\n".join(lines) or "Nothing was said before."


def _stand_alone(written: str, message: str, session: SessionView, local: TriageDecision) -> str:
    """The model's question, where the message leans on the session and nothing in it comes from elsewhere."""
    own = local.question if local.kind is Kind.EVIDENCE else message.strip()
    question = " ".join(written.split())
    if not (session.question or session.case) or not question or len(question) > LONGEST:
        return own
    source = " ".join([message, session.question, session.case, session.leading, session.leading_en, *session.messages])
    words = set(tokens(question))
    known = len(words & set(tokens(source))) >= KNOWN * len(words)
    same = language_of(question) == local.language
    return question if known and same and numbers(question) <= numbers(source) else own
