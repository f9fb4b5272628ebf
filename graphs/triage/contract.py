"""Triage: what kind of turn this is, whether it is an emergency, and the question as it stands alone."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from pydantic import Field

from graphs.triage.facts import Fact, text_of
from tools.contract import Finding
from tools.evidence import Frozen


class Kind(StrEnum):
    """Kinds of turn."""

    CASE = "case"
    EVIDENCE = "evidence"
    MULTIPLE_CHOICE = "multiple_choice"
    FOLLOW_UP = "follow_up"
    EXPLAIN = "explain"
    CALCULATION = "calculation"
    SMALL_TALK = "small_talk"
    ASSISTANT = "assistant"
    OUT_OF_SCOPE = "out_of_scope"


class Aspect(StrEnum):
    """What is asked about what was said before."""

    WHY = "why"
    ELSE = "else"
    SURE = "sure"
    AGAINST = "against"
    APART = "apart"
    ASK = "ask"
    QUESTION = "question"
    SUMMARY = "summary"
    SOURCES = "sources"


class Explain(Frozen):
    """A question about what was said in the session.

    Attributes:
        aspect: what is asked.
        of_case: it is about the session's case, else about the last answer.
        about: id of the disease that it names (``why not pulmonary embolism?``), "" for the leading one.
        named: the name as written.
    """

    aspect: Aspect
    of_case: bool = True
    about: str = ""
    named: str = ""


class RedFlag(Frozen):
    """A sign of an emergency: stable code, what was seen, and what to do, in the turn's language.

    ``diagnosed``: it may be a disease, so that a differential says more; of a wish to die it says nothing. ``earlier``:
    what was said before this message told it, and it stands.
    """

    code: str
    seen: str
    advice: str
    diagnosed: bool = True
    earlier: bool = False


class AskedQuestion(Frozen):
    """The follow-up question that ended the turn before: the finding it asks about and its words."""

    finding: str
    text: str


class SessionView(Frozen):
    """What triage may know of the session: earlier user messages, the case so far, and the pending question.

    ``turn`` is the number of the message that is read, ``facts`` are those of the case. ``leading`` is the name of the
    diagnosis that leads the case's differential, "" when there is none; ``leading_en`` the same in English, in which
    the library is written. ``about_case``: the last question of evidence was about that diagnosis. ``open_flags``: the
    emergencies told so far of the session's patient. ``options``: options were given beside the message.
    """

    messages: tuple[str, ...] = ()
    turn: int = 1
    facts: tuple[Fact, ...] = ()
    kind: str = ""
    question: str = ""
    asked: AskedQuestion | None = None
    leading: str = ""
    leading_en: str = ""
    about_case: bool = False
    open_flags: tuple[RedFlag, ...] = ()
    options: bool = False

    @property
    def case(self) -> str:
        """The patient's case as told so far."""
        return text_of(self.facts)

    @property
    def after_evidence(self) -> bool:
        """Whether the last question was one of evidence that is not about the case's leading diagnosis."""
        return self.kind in (Kind.EVIDENCE, Kind.MULTIPLE_CHOICE) and not self.about_case


class TriageDecision(Frozen):
    """The decision.

    Attributes:
        kind: kind of turn. FOLLOW_UP is an answer to our question; the graph then treats the turn as a case.
        question: the turn as it stands alone (for a case: the case as told so far, with the new text).
        english: a Chinese question of evidence in English, in which it is searched for and answered; "" where its words
            are not all known, or a Chinese document answers it.
        facts: of the patient's case so far, none for a question that is about no patient.
        options: letter -> text for a multiple-choice question; {"yes","no","maybe"} are not listed here.
        closed: True for a question that a yes, no or maybe answers.
        answered: a finding settled by the answer to a follow-up question.
        new_case: True when the message opens a patient other than the session's, or its first.
        about_case: an evidence question about the leading diagnosis of the case.
        explain: what an EXPLAIN turn asks about what was said.
        reason: one line that a person can check.
    """

    kind: Kind
    language: str
    question: str
    english: str = ""
    facts: tuple[Fact, ...] = ()
    options: dict[str, str] = Field(default_factory=dict)
    closed: bool = False
    red_flags: tuple[RedFlag, ...] = ()
    answered: Finding | None = None
    new_case: bool = False
    about_case: bool = False
    explain: Explain | None = None
    reason: str

    @property
    def case(self) -> str:
        """The patient's case so far, "" for a question that is about no patient."""
        return text_of(self.facts)


class Triage(Protocol):
    """Decides what to do with a message."""

    async def decide(self, message: str, session: SessionView) -> TriageDecision:
        """Classify the message. Never raises for any text."""
