"""The kind of a message, by rules in order: options, courtesy, other fields, a patient, what went before, medicine."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from graphs.triage import corrections, lexicon, questions
from graphs.triage.about_case import is_about_case, names_no_disease
from graphs.triage.contract import Explain, Kind, SessionView
from graphs.triage.explanations import Diseases, read_explanation
from graphs.triage.guards import HYPOTHETICAL, TEXTBOOK
from graphs.triage.interventions import asks_effect
from tools.knowledge_graph.hpo.asking import asks_for_rare
from tools.text.abbreviations import expand

OnSubject = Callable[[str], bool]
"""Whether the library holds something on what a text asks."""

COURTESY = 100  # characters; ours: longer messages say more than courtesy
QUESTIONS = (Kind.EVIDENCE, Kind.MULTIPLE_CHOICE)  # kinds of a turn that told nothing of a patient
GROUP = "患者"  # in a question it names a group (``哮喘患者可以用吗``), in a statement one patient
FEW = 15  # words of a bare list of complaints; ours
# Words of the lists that are as common outside medicine: alone they prove nothing beside a word of another field.
WEAK = re.compile(
    r"^(?:low|periods?|sick|blocked|weight|sleep\w*|vision|hearing|discharge|bites?|spots?|condition|health\w*|"
    r"operations?|drugs?|nerves?|skin|"
    r"hearts?|brain|heart|fits?|burn\w*|diet\w*|gp|test|pounding|ill|breath\w*|stool|history|patients?|doctors?|"
    r"bodies|yellow|blood|hurt\w*|病|药|医|吐|累|酸|晕)$",
    re.IGNORECASE,
)
THERAPY = re.compile(
    r"\b(?:treatment\w*|therap\w+|management|dose|dosage|guidelines?|drugs?|vaccin\w+|screening|prognosis|causes?|"
    r"vs|versus|evidence)\b|治疗|疗效|剂量|证据",
    re.I,
)
EFFECT = re.compile(
    r"\b(?:reduces?|prevents?|treats?|cures?|relieves?|works? for|side effects?|safe (?:in|for|to take|with)|"
    r"effective|efficacy|dose|dosing|contraindicated|"
    r"better than (?:placebo|nothing)|first[- ]line)\b|有效|疗效|副作用|治疗|剂量|预防",
    re.IGNORECASE,
)
# Findings listed inside a question: "what could a girl of 4 have: fits, a small head, hand-wringing?"
LISTED = re.compile(r"(?::|\b(?:with|who has|has|having)\b)[^.?!]*,[^.?!]*(?:,|\band\b)", re.IGNORECASE)


class Verdict(NamedTuple):
    """A kind, one line why, whether the message leans on the question before or on the leading diagnosis, and what it
    asks to have explained."""

    kind: Kind
    reason: str
    leans: bool = False
    of_leading: bool = False
    explain: Explain | None = None


def classify(
    text: str,
    session: SessionView,
    *,
    has_options: bool = False,
    on_subject: OnSubject | None = None,
    diseases: Diseases | None = None,
) -> Verdict:
    """The kind of a message; FOLLOW_UP is decided before, from the pending question.

    ``on_subject`` is asked of a question in which no word is known, or only words of another field are;
    ``diseases`` gives the diseases that a text names.
    """
    hits = _medical_words(expand(text))
    other = lexicon.OFF_TOPIC.search(text)
    outside = other is not None and all(WEAK.match(h) for h in hits)
    if has_options:
        return (
            Verdict(Kind.OUT_OF_SCOPE, f"options about {other[0]!r}")
            if other and outside
            else Verdict(Kind.MULTIPLE_CHOICE, "options are given")
        )
    if len(text) <= COURTESY and lexicon.SMALL_TALK.match(text) and lexicon.GREETING.search(text):
        return Verdict(Kind.SMALL_TALK, "nothing but courtesy")
    if lexicon.MAKE.search(text):
        return Verdict(Kind.OUT_OF_SCOPE, "asks for a product of writing or code")
    if outside and other and not (on_subject is not None and on_subject(text)):
        return Verdict(Kind.OUT_OF_SCOPE, f"about another field: {other[0]!r}")
    explain = read_explanation(text, session, diseases)
    if explain is not None:
        return Verdict(Kind.EXPLAIN, f"asks about what was said: {explain.aspect.value}", explain=explain)
    if session.case and is_about_case(text) and (not _after_evidence(session) or names_no_disease(text)):
        return _about_case(session)
    if session.case and session.kind in QUESTIONS and corrections.is_correction(text, session.case):
        return Verdict(Kind.CASE, "corrects the case")
    patient = describes_patient(text) or _asks_for_rare(text)
    if patient and not session.case and asks_effect(text, _told_parts(text)):
        return Verdict(Kind.EVIDENCE, f"asks what a treatment or test does; for context {patient}")
    if patient:
        return Verdict(Kind.CASE, patient)
    return _in_session(text, session, bool(hits)) or _by_subject(text, hits, on_subject)


def _about_case(session: SessionView) -> Verdict:
    if session.leading:
        return Verdict(Kind.EVIDENCE, f"asks about the leading diagnosis: {session.leading}", of_leading=True)
    return Verdict(Kind.CASE, "asks about the case told so far")


def _after_evidence(session: SessionView) -> bool:
    """Whether the turn before asked a question of evidence that is not about the case."""
    return session.kind in QUESTIONS and not session.about_case


def _medical_words(text: str) -> list[str]:
    """The first medical words of a message; a few are enough."""
    found: list[str] = []
    for pattern in (lexicon.SYMPTOM, lexicon.MEDICAL):
        for match, _ in zip(pattern.finditer(text), range(3), strict=False):
            found.append(match[0])
    return found


def describes_patient(text: str) -> str:
    """Why a message describes a patient; "" when it does not."""
    told = _told_parts(text)
    complaint = next((m for m in (lexicon.SYMPTOM.search(expand(part, text)) for part in told) if m), None)
    header = lexicon.HEADER.search(text)
    if complaint:
        return _told(text, complaint, header)
    asked = lexicon.SYMPTOM.search(text)
    if asked is None:
        return ""
    if header and header[0] != GROUP and (told or not questions.OPENING.match(text)):
        return f"a patient is described: {header[0].strip()!r}, {asked[0]!r}"
    own = lexicon.OWN.search(text)
    if own and not told and not TEXTBOOK.search(text) and not HYPOTHETICAL.search(text):
        return f"somebody's own complaint: {own[0]!r}, {asked[0]!r}"
    return ""


def _asks_for_rare(text: str) -> str:
    """Why a message whose findings are no common symptoms describes a patient: it asks for a rare disease; else ""."""
    header = lexicon.HEADER.search(text)
    somebody = header or lexicon.OWN.search(text)
    told = _told_parts(text) or (header is not None and LISTED.search(text))
    if somebody is None or not told or THERAPY.search(text):
        return ""
    asked = any(questions.is_question(part) and asks_for_rare(part) for part in questions.parts(text))
    return f"a rare disease is asked for: {somebody[0].strip()!r}" if asked else ""


def _told_parts(text: str) -> list[str]:
    """What a message tells, beside what it asks."""
    return [part for s in questions.parts(text) for part in _statements(s)]


def _statements(sentence: str) -> list[str]:
    """What a sentence tells: all of it, or, of a question, the clauses in front of what it asks."""
    if not questions.is_question(sentence):
        return [sentence]
    clauses = re.split(r"[,，;；]", sentence)[:-1]
    return (
        [] if not clauses or questions.OPENING.match(sentence) else [c for c in clauses if not questions.is_question(c)]
    )


def _told(text: str, complaint: re.Match[str], header: re.Match[str] | None) -> str:
    for name, match in (
        ("age and sex", header),
        ("a note", lexicon.NOTE.search(text)),
        ("somebody", lexicon.OWN.search(text)),
    ):
        if match:
            return f"a patient is described: {name} {match[0].strip()!r}, {complaint[0]!r}"
    if THERAPY.search(text):
        return ""
    course = lexicon.COURSE.search(text)
    if course:
        return f"a complaint and its course: {complaint[0]!r}, {course[0].strip()!r}"
    several = {m[0].lower() for m in lexicon.SYMPTOM.finditer(text)}
    listed = len(several) >= 2 and not any(map(questions.is_question, questions.parts(text)))
    return f"complaints are listed: {', '.join(sorted(several)[:3])}" if listed else ""


def _in_session(text: str, session: SessionView, medical: bool) -> Verdict | None:
    """What a message means beside what was said before; None when it stands on its own."""
    if not (session.case or session.question):
        return None
    asks = any(map(questions.is_question, questions.parts(text)))
    leaning = questions.leans(text)
    if session.kind in QUESTIONS:
        return Verdict(Kind.EVIDENCE, "goes on from the question before", leans=True) if leaning else None
    if not session.case:
        return None
    if corrections.is_correction(text, session.case):
        return Verdict(Kind.CASE, "corrects the case")
    if leaning or (asks and lexicon.OWN.search(text)):
        return Verdict(Kind.CASE, "asks about the case told so far")
    if not asks and (medical or len(text.split()) <= FEW):
        return Verdict(Kind.CASE, "adds to the case told so far")
    return None


def _by_subject(text: str, hits: list[str], on_subject: OnSubject | None) -> Verdict:
    if hits:
        return Verdict(Kind.EVIDENCE, f"a medical question: {hits[0]!r}")
    asks = any(map(questions.is_question, questions.parts(text)))
    effect = EFFECT.search(text)
    if effect and asks:
        return Verdict(Kind.EVIDENCE, f"asks for an effect: {effect[0]!r}")
    if asks and on_subject is not None and on_subject(text):
        return Verdict(Kind.EVIDENCE, "asks for what the library holds")
    return Verdict(Kind.OUT_OF_SCOPE, "nothing medical was recognised" if text else "nothing was said")
