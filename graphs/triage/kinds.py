"""The kind of a turn: options, what the session makes of a message, and what sort of message it is (`head.py`)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from graphs.triage import revisions
from graphs.triage.asked import LEANING, OF_DISEASE, PRONOUN, Asked, Diseases, explained, read_asked
from graphs.triage.contract import Explain, Kind, SessionView
from graphs.triage.follow_up import is_courteous
from tools.medicines.names import medicines_in
from tools.reading.messages import WORDS, Meaning, Sort, Sorted, sorted_as
from tools.text import questions

OnSubject = Callable[[str], bool]
"""Whether the library holds something on what a text asks."""

SURELY_COURTEOUS = 0.85  # ours: probability from which a first message is courtesy whatever its words
COURTESY = 100  # characters; ours: longer messages say more than courtesy
QUESTIONS = (Kind.EVIDENCE, Kind.MULTIPLE_CHOICE)  # kinds of a turn that told nothing of a patient
SAYS = 6  # words, or pairs of Chinese characters, from which a closed question says what it asks about; ours
ASKED = 0.05  # ours: probability of a question from which one after a patient's story is asked of the evidence
FEW = 15  # words of a bare list of complaints; ours
WHAT_IT_IS = re.compile(r"\b(?:could|might) (?:it|this) be\b|会不会是|可能是", re.IGNORECASE)
SOMEBODY = re.compile(r"\b(?:i|i'm|i've|my|me|he|she|his|her|him)\b|我|他|她", re.IGNORECASE)


class Verdict(NamedTuple):
    """A kind, one line why, whether the message leans on the question before or on the leading diagnosis, what it asks
    to have explained, whether it is a question that describes a patient, and what it asks of what was said before."""

    kind: Kind
    reason: str
    leans: bool = False
    of_leading: bool = False
    explain: Explain | None = None
    patient: bool = False
    asked: Meaning = Meaning.ALONE


def classify(
    text: str,
    session: SessionView,
    *,
    has_options: bool = False,
    on_subject: OnSubject | None = None,
    diseases: Diseases | None = None,
) -> Verdict:
    """The kind of a message; FOLLOW_UP is decided before, from the pending question.

    A message is out of scope only when it is surely of another field and ``on_subject`` finds nothing on it; whatever
    else is not told apart is searched. ``diseases`` gives the diseases that a text names.
    """
    if not any(c.isalnum() for c in text):
        return Verdict(Kind.OUT_OF_SCOPE, "nothing was said")
    read = sorted_as(text)
    away = read.other_field and not (on_subject is not None and on_subject(text))
    if has_options:
        kind = Kind.OUT_OF_SCOPE if away else Kind.MULTIPLE_CHOICE
        return Verdict(kind, f"options are given; {_likely(read)}")
    corrects = bool(session.case) and revisions.is_correction(text, session.case)
    tells = corrects and not any(map(questions.is_question, questions.parts(text)))
    asked = read_asked(text, session, diseases, surely=tells)
    explain = explained(text, asked, session, diseases)
    if explain is not None:
        return Verdict(Kind.EXPLAIN, f"asks about what was said: {explain.aspect.value}", explain=explain)
    if read.best is Sort.COURTESY and len(text) <= COURTESY and not corrects and _courteous(text, session, read):
        return Verdict(Kind.SMALL_TALK, f"nothing but courtesy; {_likely(read)}")
    said = _in_session(text, session, read, asked, corrects=corrects)
    if said is not None:
        return said
    if away:
        return Verdict(Kind.OUT_OF_SCOPE, f"about another field, and the library holds nothing on it; {_likely(read)}")
    return _by_sort(text, read)


def _courteous(text: str, session: SessionView, read: Sorted) -> bool:
    """Whether nothing else is said: by a set phrase, or surely, where nothing was said before."""
    begins = not (session.case or session.question)
    surely = read.of(Sort.COURTESY) >= SURELY_COURTEOUS and not read.term
    return is_courteous(text) or (begins and surely)


def describes_patient(text: str) -> bool:
    """Whether a text describes a patient, whatever it asks of them."""
    told = " ".join(s for s in questions.parts(text) if not questions.is_question(s))
    return sorted_as(told or text).patient


def _likely(read: Sorted) -> str:
    return f"{read.best.value} at {read.of(read.best):.2f}"


def _by_sort(text: str, read: Sorted) -> Verdict:
    """The kind of a message that stands on its own."""
    if read.best is Sort.PATIENT_QUESTION and WHAT_IT_IS.search(text):
        return Verdict(Kind.CASE, f"asks what a patient has; {_likely(read)}")
    if read.best is Sort.CASE and _asks_for_knowledge(text, read):
        return Verdict(Kind.EVIDENCE, f"a patient, and what is asked of the evidence; {_likely(read)}", patient=True)
    kind = {Sort.CASE: Kind.CASE, Sort.ASSISTANT: Kind.ASSISTANT}.get(read.best, Kind.EVIDENCE)
    return Verdict(kind, _likely(read), patient=read.best is Sort.PATIENT_QUESTION)


def _asks_for_knowledge(text: str, read: Sorted) -> bool:
    """Whether a message that describes a patient asks something that the evidence answers: a question that stands by
    itself, or a closed one at its end that says what it asks about."""
    asked = [part for part in questions.parts(text) if questions.is_question(part) and not WHAT_IT_IS.search(part)]
    if not asked or read.of(Sort.QUESTION, Sort.PATIENT_QUESTION) < ASKED:
        return False
    last = questions.parts(text)[-1]
    says = len(WORDS.findall(last)) >= SAYS or medicines_in(last)
    closed = last in asked and says and questions.is_closed(last)
    return bool(closed) or any(sorted_as(part).best is Sort.QUESTION for part in asked)


def _in_session(text: str, session: SessionView, read: Sorted, asked: Asked, *, corrects: bool) -> Verdict | None:
    """What a message means beside what was said before; None when it stands on its own."""
    if not (session.case or session.question):
        return None
    if session.case and asked.of_case and asked.meaning in OF_DISEASE:
        return _about_case(session, asked)
    leaning = asked.meaning in LEANING or (asked.meaning is Meaning.NAMED and PRONOUN.search(text) is not None)
    if session.kind in QUESTIONS and not corrects:
        return Verdict(Kind.EVIDENCE, "goes on from the question before", leans=True) if leaning else None
    if not session.case:
        return None
    if corrects:
        return Verdict(Kind.CASE, "corrects the case")
    return _beside_case(text, read, leaning=leaning)


def _about_case(session: SessionView, asked: Asked) -> Verdict:
    if session.leading:
        why = f"asks about the leading diagnosis: {session.leading}"
        return Verdict(Kind.EVIDENCE, why, of_leading=True, asked=asked.meaning)
    return Verdict(Kind.CASE, "asks about the case told so far")


def _beside_case(text: str, read: Sorted, *, leaning: bool) -> Verdict | None:
    """What a message adds to the case or asks of it; a question about a medicine is one of evidence."""
    asking = [questions.is_question(part) for part in questions.parts(text)]
    asks = any(asking)
    if all(asking) and read.best is Sort.PATIENT_QUESTION and medicines_in(text):
        return None
    if leaning or (asks and (read.patient or SOMEBODY.search(text))):
        return Verdict(Kind.CASE, "asks about the case told so far")
    away = read.best in (Sort.ASSISTANT, Sort.OTHER) and len(text.split()) > FEW
    if not asks and not away:
        return Verdict(Kind.CASE, "adds to the case told so far")
    return None
