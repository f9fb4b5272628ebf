"""Triage without a language model: the kind of a turn by trained heads, and rules for what leans on the session."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from graphs.triage.asked import (
    ASPECTS,
    LEANING,
    OF_DISEASE,
    PRONOUN,
    Asked,
    Diseases,
    explained,
    of_leading,
    read_asked,
    stand_alone,
)
from graphs.triage.contract import Explain, Kind, RedFlag, SessionView, TriageDecision
from graphs.triage.emergency import VIGNETTE, Grave, emergencies, merged, red_flags
from graphs.triage.facts import (
    Fact,
    Findings,
    extend,
    fact_of,
    facts_of,
    is_correction,
    is_other_patient,
    is_repeated,
    join,
    other_medicine,
    revise,
    revise_by,
    text_of,
)
from graphs.triage.follow_up import Reply, is_courteous, read_reply
from tools.calculators import asked_for, completes, told_of
from tools.contract import Finding
from tools.medicines.blame import asks_of_blame
from tools.medicines.checks import check
from tools.medicines.names import medicines_in
from tools.reading.messages import ADDS, WORDS, Meaning, Sort, Sorted, reply_chance, sorted_as
from tools.text import questions
from tools.text.demographics import read_person
from tools.text.language import language_of
from tools.text.measures import with_directions
from tools.text.questions import parse_options

OnSubject = Callable[[str], bool]
"""Whether the library holds something on what a text asks."""
English = Callable[[str], str]
"""A Chinese question in English; "" where it cannot be put so."""

SURELY_COURTEOUS = 0.85  # ours: probability from which a first message is courtesy whatever its words
COURTESY = 100  # characters; ours: longer messages say more than courtesy
QUESTIONS = (Kind.EVIDENCE, Kind.MULTIPLE_CHOICE)  # kinds of a turn that told nothing of a patient
SAYS = 6  # words, or pairs of Chinese characters, from which a closed question says what it asks about; ours
ASKED = 0.05  # ours: probability of a question from which one after a patient's story is asked of the evidence
FEW = 15  # words of a bare list of complaints; ours
WHAT_IT_IS = re.compile(
    r"\b(?:could|might) (?:it|this) be\b|"
    r"\b(?:most likely|likeliest|probable|underlying) (?:cause|diagnosis|explanation)\b|"
    r"\bwhat(?:'s| is| might be| could be) (?:wrong|the (?:cause|diagnosis)|causing)\b|"
    r"会不会是|可能是|(?:可能的?|什么)(?:病因|诊断|原因)|(?:病因|诊断|原因)是什么",
    re.IGNORECASE,
)
WHAT_NEXT = re.compile(  # asks what to do of a patient, and names no subject; ours
    r"^\W*(?:(?:so|and|please|but) )*(?:what (?:now|next|(?:do|should|can|would|must|shall) (?:i|we|you|they) do)|"
    r"(?:next|first) steps?|(?:the )?plan|management|(?:any )?(?:thoughts|ideas)|how (?:do|should|would) (?:i|we|you) "
    r"manage)(?: (?:this|it|him|her|them|first|now|next|here|about (?:it|this)))*\W*$|"
    r"^\W*(?:现在|接下来|下一步)?(?:该|应该?|要)?怎么办\W*$",
    re.IGNORECASE,
)
# A closed question whether a patient has what it names, by its end: "is this likely to be", "does she have"; ours.
HAS_IT = re.compile(
    r"\b(?:(?:is|could|might|may|can|would) (?:it|this|that)|(?:does|do|could|might|may|can|has|have) "
    r"(?:i|he|she|they|(?:my|the|our|this) \w+) (?:\w+ly )?(?:have|has|got|be having|be suffering from|suffer from))"
    r"(?: (?:(?:more |most )?likely|possibly|probably|really|still|just|to be|be|due to|caused by|because of|from|"
    r"a|an|the|case of|form of|sign of|acute|early))*(?P<named>(?: [\w'-]+){1,6})\W*$|"
    r"^\W*is(?P<likely>(?: [\w'-]+){1,6}) "
    r"(?:likely|possible|probable|(?:the )?(?:most )?likely (?:cause|diagnosis))\W*$|"
    r"(?:是|会是|属于|得了|得的是|患有|有没有|有)(?P<zh>[\u4e00-\u9fff]{2,10}?)(?:的可能)?(?:吗|么|呢)?[?？]?\s*$",
    re.IGNORECASE,
)
ADDRESSED = re.compile(  # what a question about the program itself speaks to or of; ours
    r"\b(?:you|your|yours|u|ur|this|here|it|its|anamnesis|bot|chat\w*|app|ai|program\w*|tool|assistant|service|system|"
    r"answers?|sources?|data|model)\b|你|您|这|本|系统|程序|助手|软件|模型|回答|资料|数据",
    re.IGNORECASE,
)
SOMEBODY = re.compile(r"\b(?:i|i'm|i've|my|me|he|she|his|her|him|they|them)\b|我|他|她", re.IGNORECASE)


class Verdict(NamedTuple):
    """A kind, one line why, the question as it stands alone where it leans on what was said before, whether it is about
    the leading diagnosis, what it asks to have explained, whether it is a question that describes a patient, and
    whether the records of medicines bar what it asks for."""

    kind: Kind
    reason: str
    question: str = ""
    about_case: bool = False
    explain: Explain | None = None
    patient: bool = False
    warned: bool = False


def classify(
    text: str,
    session: SessionView,
    *,
    has_options: bool = False,
    on_subject: OnSubject | None = None,
    diseases: Diseases | None = None,
    findings: Findings | None = None,
    hypotheses: bool = False,
) -> Verdict:
    """The kind of a message; FOLLOW_UP is decided before, from the pending question.

    A message is out of scope only when it is surely of another field and ``on_subject`` finds nothing on it; whatever
    else is not told apart is searched. ``diseases`` gives the diseases that a text names, ``findings`` the findings.
    ``hypotheses``: whether a patient has what a question names is a case.
    """
    if not any(c.isalnum() for c in text):
        return Verdict(Kind.OUT_OF_SCOPE, "nothing was said")
    read = sorted_as(text)
    away = read.other_field and with_directions(text) == text and not (on_subject is not None and on_subject(text))
    if has_options:
        kind = Kind.OUT_OF_SCOPE if away else Kind.MULTIPLE_CHOICE
        return Verdict(kind, f"options are given; {_likely(read)}")
    if calculations := asked_for(text, session.case):
        return Verdict(Kind.CALCULATION, f"asks for a calculation: {', '.join(calculations)}")
    if calculation := _completed(text, session):
        return Verdict(Kind.CALCULATION, "gives what the calculation asked for before lacked", calculation)
    of_medicine = _of_medicine(text, session)
    if of_medicine is not None:
        return of_medicine
    corrects = bool(session.case) and is_correction(text, session.case)
    asked = _asked(text, session, diseases, findings, corrects=corrects)
    explain = explained(text, asked, session, diseases)
    if explain is not None:
        return Verdict(Kind.EXPLAIN, f"asks about what was said: {explain.aspect.value}", explain=explain)
    begins = not (session.case or session.question)
    surely = is_courteous(text) or (begins and read.of(Sort.COURTESY) >= SURELY_COURTEOUS and not read.term)
    if read.best is Sort.COURTESY and len(text) <= COURTESY and not corrects and surely:
        return Verdict(Kind.SMALL_TALK, f"nothing but courtesy; {_likely(read)}")
    said = None if begins else _in_session(text, session, read, asked, corrects=corrects)
    if said is not None:
        return said
    if away:
        return Verdict(Kind.OUT_OF_SCOPE, f"about another field, and the library holds nothing on it; {_likely(read)}")
    return _by_sort(text, read, diseases if hypotheses else None)


def _asked(
    text: str, session: SessionView, diseases: Diseases | None, findings: Findings | None, *, corrects: bool
) -> Asked:
    """What a message asks of what was said before; one that puts right or tells a finding must ask it surely."""
    asks = any(map(questions.is_question, questions.parts(text)))
    asked = read_asked(text, session, diseases, surely=corrects and not asks)
    if not asks and asked.meaning in ASPECTS and session.case and findings is not None and findings(text):
        return read_asked(text, session, diseases, surely=True)  # "还有点流鼻涕" tells
    return asked


def _completed(text: str, session: SessionView) -> str:
    """The calculation that was asked for before, with what was given for it since and with this message; "" where none
    was, or the message gives nothing that it lacked."""
    for at in reversed(range(len(session.messages))):
        asked = "\n".join(session.messages[at:])
        if asked_for(session.messages[at], session.case):
            return f"{asked}\n{text}" if completes(text, asked, session.case) else ""
        if any(map(questions.is_question, questions.parts(session.messages[at]))):
            return ""
    return ""


def _of_medicine(text: str, session: SessionView) -> Verdict | None:
    """Whether a message puts right which medicine was asked about, asks if one causes what is told, or may be taken."""
    other = other_medicine(session.question, text) if session.kind in QUESTIONS else None
    if other is not None and other.new is not None:
        (start, end), put = other.old, text[slice(*other.new)]
        asked = session.question[:start] + put + session.question[end:]
        return Verdict(Kind.EVIDENCE, "puts right which medicine was asked about", asked)
    if asks_of_blame(text, session.case):
        return Verdict(Kind.EVIDENCE, "asks whether a medicine causes what is told", patient=not session.case)
    return _asks_to_take(text, session)


def _asks_to_take(text: str, session: SessionView) -> Verdict | None:
    """Whether the records of medicines answer a message, alone or beside what was told before."""
    parts = questions.parts(text)
    if not any(map(questions.is_question, parts)):
        tells = session.case and (not medicines_in(text) or is_correction(text, session.case))
        if tells or len(WORDS.findall(text)) > FEW:
            return None
    why = "asks whether a medicine may be taken"
    found = check(text, session.case)
    if found.decides:
        return Verdict(Kind.EVIDENCE, why, patient=not session.case and len(parts) > 1, warned=found.warns)
    told = session.question if not (session.case or questions.is_question(session.question)) else ""
    if told and (found := check(text, told)).decides:
        return Verdict(Kind.EVIDENCE, why, f"{told}\n{text}", warned=found.warns)
    return None


def describes_patient(text: str) -> bool:
    """Whether a text describes a patient, whatever it asks of them."""
    told = " ".join(s for s in questions.parts(text) if not questions.is_question(s))
    return sorted_as(told or text).patient


def _likely(read: Sorted) -> str:
    return f"{read.best.value} at {read.of(read.best):.2f}"


def _by_sort(text: str, read: Sorted, diseases: Diseases | None) -> Verdict:
    """The kind of a message that stands on its own; with ``diseases`` whether it is one of them is a case."""
    if diseases is not None and read.patient and _asks_if_it_is(text, diseases):
        return Verdict(Kind.CASE, f"asks whether a patient has what it names; {_likely(read)}")
    if read.best is Sort.PATIENT_QUESTION and (WHAT_IT_IS.search(text) or _asks_what_next(text)):
        return Verdict(Kind.CASE, f"asks what a patient has, or what to do; {_likely(read)}")
    if read.best is Sort.CASE and _asks_for_knowledge(text, read):
        return Verdict(Kind.EVIDENCE, f"a patient, and what is asked of the evidence; {_likely(read)}", patient=True)
    kind = {Sort.CASE: Kind.CASE, Sort.ASSISTANT: Kind.ASSISTANT}.get(read.best, Kind.EVIDENCE)
    if kind is Kind.ASSISTANT and read.term and not ADDRESSED.search(text):
        kind = Kind.EVIDENCE  # "How do I know if I am having a stroke?" speaks to nobody
    return Verdict(kind, _likely(read), patient=read.best is Sort.PATIENT_QUESTION)


def _asks_what_next(text: str) -> bool:
    """Whether a message tells a case and asks nothing that says its subject: "What now?", "Plan?"."""
    parts = questions.parts(text)
    asked = [part for part in parts if questions.is_question(part)]
    told = " ".join(part for part in parts if part not in asked)
    return bool(asked and told) and all(map(WHAT_NEXT.search, asked)) and sorted_as(told).best is Sort.CASE


def _asks_for_knowledge(text: str, read: Sorted) -> bool:
    """Whether a message that describes a patient asks something that the evidence answers, and not what it is: a
    question that stands by itself, or a closed one at its end that says what it asks about."""
    asked = [part for part in questions.parts(text) if questions.is_question(part)]
    if any(map(WHAT_IT_IS.search, asked)) or not asked or read.of(Sort.QUESTION, Sort.PATIENT_QUESTION) < ASKED:
        return False
    last = questions.parts(text)[-1]
    says = len(WORDS.findall(last)) >= SAYS or medicines_in(last)
    closed = last in asked and says and questions.is_closed(last)
    return bool(closed) or any(sorted_as(part).best is Sort.QUESTION for part in asked)


def _asks_if_it_is(text: str, diseases: Diseases) -> bool:
    """Whether a message tells of a patient and asks at its end whether they have a disease that it names."""
    *told, last = questions.parts(text) or [""]
    found = HAS_IT.search(last) if told else None
    if found is None:
        return False
    named = found["named"] or found["likely"] or found["zh"] or ""
    further = named.split(maxsplit=1)[1:] if found["zh"] is None else []  # the name begins what was asked
    return bool(diseases(named)) and not (further and diseases(further[0]) == diseases(named))


def _in_session(text: str, session: SessionView, read: Sorted, asked: Asked, *, corrects: bool) -> Verdict | None:
    """What a message means beside what was said before; None when it stands on its own."""
    if session.case and asked.of_case and asked.meaning in OF_DISEASE:
        if not session.leading:
            return Verdict(Kind.CASE, "asks about the case told so far")
        why, question = f"asks about the leading diagnosis: {session.leading}", of_leading(text, asked.meaning, session)
        return Verdict(Kind.EVIDENCE, why, question, about_case=True)
    leaning = asked.meaning in LEANING or (asked.meaning is Meaning.NAMED and PRONOUN.search(text) is not None)
    asks = any(map(questions.is_question, questions.parts(text)))
    somebody = read.patient or SOMEBODY.search(text) or questions.is_subjectless(text)
    tells = session.case and not asks and somebody
    if session.kind in QUESTIONS and not corrects and (leaning or not tells):
        onward = stand_alone(text, session.question) if leaning and session.question else ""
        return Verdict(Kind.EVIDENCE, "goes on from the question before", onward) if leaning else None
    if not session.case:
        return None
    if corrects:
        return Verdict(Kind.CASE, "corrects the case")
    return _beside_case(text, read, leaning=leaning)


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


class Turn(NamedTuple):
    """The turn as it stands alone, the facts of the patient's case so far, and whether the message opens that case."""

    question: str
    facts: tuple[Fact, ...] = ()
    new_case: bool = False


class TriageLocal:
    """Classifies a message, English or Chinese.

    Args:
        on_subject: whether the library holds something on what seems to be of another field; None never asks.
        diseases: ids of the diseases that a text names; None knows none.
        english: puts Chinese questions into the library's language.
        findings: ids of the findings that a text states; None reads a yes as a yes whatever follows it.
        hypotheses: a patient's story that ends in whether it is a disease is a case, as a model answers it; else one
            that reads as a question of evidence is that.
        grave: how much of the belief in what explains a text is in emergencies; None asks for none.
        beside_known: a text without what a disease that it gives as known accounts for; None leaves it as it is.
    """

    def __init__(
        self,
        on_subject: OnSubject | None = None,
        diseases: Diseases | None = None,
        english: English = lambda _: "",
        findings: Findings | None = None,
        *,
        hypotheses: bool = False,
        grave: Grave | None = None,
        beside_known: English | None = None,
    ) -> None:
        self._findings, self._hypotheses, self._grave = findings, hypotheses, grave
        self._flags = partial(red_flags, beside_known=beside_known)
        self._on_subject = on_subject
        self._diseases = diseases
        self._english = english
        emergencies()  # read here, not in a user's first question

    async def decide(self, message: str, session: SessionView) -> TriageDecision:
        """Classify the message, in a thread: a long one does not hold the loop. Never raises for any text."""
        return await asyncio.to_thread(self.decide_now, message, session)

    def decide_now(self, message: str, session: SessionView) -> TriageDecision:
        """The same, for callers without an event loop."""
        decision = self._decide(message, session)
        asks = decision.kind in (Kind.EVIDENCE, Kind.OUT_OF_SCOPE)  # what came with a message may make it medical
        if not asks or (decision.facts and not session.case) or check(decision.question, session.case).decides:
            return decision
        return decision.model_copy(update={"english": self._english(decision.question)})

    def _decide(self, message: str, session: SessionView) -> TriageDecision:
        text = message.strip().replace("’", "'")
        language = _language(text, session)
        parsed = parse_options(text)
        chosen = bool(parsed.options) or (session.options and VIGNETTE.match(text) is not None)
        verdict = classify(
            text,
            session,
            has_options=chosen,
            on_subject=self._on_subject,
            diseases=self._diseases,
            findings=self._findings,
            hypotheses=self._hypotheses,
        )
        if chosen and verdict.kind is Kind.MULTIPLE_CHOICE:
            return TriageDecision(
                kind=Kind.MULTIPLE_CHOICE, language=language, question=parsed.stem or text, options=parsed.options,
                red_flags=red_flags(text, language, exam=True),
                reason=verdict.reason,
            )  # fmt: skip
        if verdict.kind is Kind.CALCULATION:
            whole = verdict.question or text
            turn = _with_told(Turn(whole), text, session, self._findings)
            return decision_of(verdict, language, turn, red_flags(told_of(whole, session.case), language))
        reply = _reply(text, session, self._findings)
        if reply is not None:
            told = [fact_of(text, session.turn, reply.statement)] if reply.statement else []
            facts = extend(session.facts, told)
            case = text_of(facts)
            reason = f"answers our question: {session.asked.text if session.asked else ''}"
            calm = not reply.finding.present and _adds_no_alarm(text, session.case)
            flags = merged(red_flags(text, language, alone=False), red_flags(case, language, calm=calm))
            return decision_of(Verdict(Kind.FOLLOW_UP, reason), language, Turn(case, facts), flags, reply.finding)
        urgent = verdict.explain is not None and bool(red_flags(text, language, alone=False))
        verdict = Verdict(Kind.CASE, "asks, and tells of an emergency") if urgent else verdict
        turn = _turn(verdict, text, session, self._findings)
        if verdict.explain is not None:
            flags = red_flags(session.case, language) if verdict.explain.of_case else ()
            return decision_of(verdict, language, turn, flags)
        flags = self._flags(text, language, alone=not session.case, grave=None if verdict.warned else self._grave)
        if turn.facts and turn.question != text:
            calm = _adds_no_alarm(text, session.case)
            flags = merged(flags, self._flags(turn.question, language, grave=self._grave, calm=calm))
        if flags and verdict.kind is not Kind.CASE and not verdict.warned:  # a warning is told beside the emergency
            verdict = Verdict(Kind.CASE, f"an emergency is described: {flags[0].seen}")
            turn = case_turn(text, session, self._findings)
        return decision_of(verdict, language, turn, flags)


def _adds_no_alarm(text: str, case: str) -> bool:
    """Whether a message adds nothing alarming to a case that was none before."""
    return bool(case) and reply_chance(text) < ADDS and not red_flags(case, "en")


def decision_of(
    verdict: Verdict, language: str, turn: Turn, flags: tuple[RedFlag, ...], answered: Finding | None = None
) -> TriageDecision:
    """The decision of a verdict and the turn that it makes."""
    return TriageDecision(
        kind=verdict.kind,
        language=language,
        **turn._asdict(),
        closed=verdict.kind is Kind.EVIDENCE and questions.is_closed(turn.question),
        red_flags=flags,
        answered=answered,
        about_case=verdict.about_case,
        explain=verdict.explain,
        reason=verdict.reason,
    )


def _reply(text: str, session: SessionView, findings: Findings | None) -> Reply | None:
    if session.asked is None or is_other_patient(text, session.case):
        return None
    if is_correction(text, session.case, asked=True):
        return None
    return read_reply(text, session.asked, findings)


def _turn(verdict: Verdict, text: str, session: SessionView, findings: Findings | None) -> Turn:
    """The stand-alone question of a classified message."""
    if verdict.kind is Kind.CASE:
        return case_turn(text, session, findings)
    stated = " ".join(part for part in questions.parts(text) if not questions.is_question(part))
    patient = verdict.patient or (verdict.kind is Kind.EVIDENCE and read_person(stated).age is not None)
    question = verdict.question or text
    if verdict.kind is Kind.EVIDENCE:
        question = with_directions(question)
    if patient and not session.case:  # what follows goes on from this patient
        return Turn(question, (fact_of(text, session.turn, stated),))
    tells = verdict.kind in (Kind.EVIDENCE, Kind.EXPLAIN)
    return _with_told(Turn(question), text, session, findings) if tells else Turn(question)


def _with_told(turn: Turn, text: str, session: SessionView, findings: Findings | None) -> Turn:
    """A turn that asks, with what its message tells of the session's patient beside: "he's on warfarin, can he?"."""
    told = [
        (a, b) for a, b in questions.told_beside(text) if SOMEBODY.search(text, a, b) or sorted_as(text[a:b]).patient
    ]
    said = " ".join(text[a:b] for a, b in told)
    if not told or not session.case or is_other_patient(said, session.case) or is_repeated(said, (), session.case):
        return turn
    return turn._replace(facts=revise_by(session.facts, text, told, session.turn, findings))


def case_turn(text: str, session: SessionView, findings: Findings | None = None) -> Turn:
    """The patient's case with what a message tells: a new case, a correction, an addition, or a question about it."""
    case = session.case
    if case and is_repeated(text, session.messages, case):
        return Turn(case, session.facts)
    if not case or is_other_patient(text, case):
        return Turn(text, facts_of(text, session.turn), new_case=True)
    asks = all(map(questions.is_question, questions.parts(text)))
    if asks and not is_correction(text, case):  # asks about the case, tells nothing new
        return Turn(join(case, text), session.facts)
    facts = revise(session.facts, text, session.turn, findings)
    return Turn(text_of(facts), facts)


def _language(text: str, session: SessionView) -> str:
    if any(c.isalpha() for c in text):
        return language_of(text)
    return language_of((session.asked.text if session.asked else "") or session.question or session.case or text)
