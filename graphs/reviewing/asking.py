"""The request for a review, put on an answer: its reasons for programs, a notice for people."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graphs.answering.constrained import SEVERE
from graphs.answering.contract import Answer, ReviewReason, Risk
from graphs.answering.notices import notice
from graphs.answering.presentation import statements_of
from graphs.triage.contract import Kind
from graphs.verification.absence import says_absent
from tools.contract import unique
from tools.evidence import Origin, Statement, Status
from tools.medicines.names import medicines_in
from tools.messages import messages
from tools.text.clauses import clauses
from tools.text.demographics import read_person, without_mentions
from tools.text.negation import MOTHERS

# The rule by which an answer asks for a clinician's review. It is ours, open and small; docs/sessions.md states it.
GROWN_UP = 18.0  # ours: years from which a patient is no child

WORDS: dict[str, tuple[Risk, str, str]] = {
    "signs": (Risk.EMERGENCY, "signs of an emergency", "急症征象"),
    "severe": (Risk.EMERGENCY, "a severe leading diagnosis", "首位诊断可能严重"),
    "dose": (Risk.MEDICINE, "the dose or course of a medicine", "涉及用药剂量或疗程"),
    "change": (Risk.MEDICINE, "starting or stopping a patient's medicine", "涉及患者的起始用药或停药"),
    "unsupported": (Risk.UNSUPPORTED, "statements that rest on no retrieved evidence", "有陈述并非依据检索到的证据"),
    "concern": (Risk.CONCERN, "a publication under concern", "引用了被表示关注的文献"),
    "pregnancy": (Risk.PREGNANCY, "pregnancy or breastfeeding", "妊娠或哺乳"),
    "child": (Risk.CHILD, "a child", "儿童"),
}

# A strength or a count of units. Grams and millilitres are measured of much else: they count beside a medicine's name.
DOSE = re.compile(
    r"\d[ -]?(?:mg|mcg|µg|μg|micrograms?|milligrams?|units?|iu|tablets?|capsules?|puffs?|drops|suppositor(?:y|ies))\b"
    r"(?! ?(?:/|per) ?(?:d?l\b|lit))|\d ?(?:毫克|微克|片|粒|滴|喷|国际单位)",
    re.I,
)
AMOUNT = re.compile(
    r"\d[ -]?(?:g|grams?|ml|millilit(?:re|er)s?)\b(?! ?(?:/|per) ?(?:d?l\b|lit|min))|\d ?(?:克|毫升)", re.I
)
ASKS_DOSE = re.compile(r"\b(?:dos(?:e|es|ing|ages?)|overdose)\b|剂量|用量|过量|服多少|吃多少", re.I)
ASKS_AMOUNT = re.compile(r"\bhow (?:much|many|often|long)\b", re.I)  # of a medicine, where the question names one
BEFORE = re.compile(
    r"\b(?:start|begin|initiate|commence|stop|discontinue|withdraw|withhold|taper|wean|switch)"
    r"(?:s|ed|ing|ped|ping|ning)?(?: \w+){0,3} ?\W?$",
    re.I,
)  # stop the ...
AFTER = re.compile(
    r"^s?(?: (?:should|must|can|may|is|are|to|be|not|then|now|usually|best)){1,4} "
    r"(?:start|begun|initiat|commenc|stop|discontinu|withdrawn|withheld|taper|wean|switch)",
    re.I,
)  # ... should be stopped
CHANGE_ZH = re.compile(r"停药|停用|停服|换用|改用|加用|起始(?:用药|治疗)|开始(?:服用|使用|用药)|减量|逐渐减停")
PREGNANT = re.compile(
    r"\b(?:pregnan\w+|breast-?feed\w*|lactating|trimester|weeks'? gestation|gravid\w*|postpartum|expecting a baby)\b"
    r"|怀孕|妊娠|孕妇|孕期|孕\d+周|哺乳",
    re.I,
)
CHILD = re.compile(
    r"\b(?<!as a )(?:child(?:ren)?|infants?|bab(?:y|ies)|newborns?|neonat\w+|toddlers?|p(?:a)?ediatric|adolescents?"
    r"|teenagers?|(?:my|our|her|his) (?:little )?(?:son|daughter|boy|girl|kid))\b(?! birth)"
    r"|儿童|小儿|婴儿|婴幼儿|新生儿|幼儿|宝宝|患儿|青少年",
    re.I,
)


def review_reasons(answer: Answer, case: str = "") -> list[ReviewReason]:
    """Why a clinician should review an answer before anyone acts on it; empty where nobody needs to.

    Args:
        answer: the finished answer.
        case: the patient's case that it is about, "" when it is about none.
    """
    told = statements_of(answer)
    if not (told or answer.choice or answer.differential or answer.emergency):
        return []
    patient = case or (answer.question if answer.kind == Kind.CASE else "")
    names = [
        *_urgent(answer),
        *(_medicines(told) if patient else ()),
        *(["dose"] if answer.kind != Kind.CASE and _asks_dose(answer.question) else ()),
        *(["unsupported"] if _unsupported(answer, told) else ()),
        *(["concern"] if _concern(answer, told) else ()),
        *_vulnerable(patient, answer.question),
    ]
    zh = answer.language == "zh"
    return [ReviewReason(code=WORDS[n][0], text=WORDS[n][2 if zh else 1]) for n in unique(names)]


def _urgent(answer: Answer) -> Iterator[str]:
    if answer.emergency:
        yield "signs"
    if answer.kind in (Kind.CASE, Kind.EXPLAIN) and answer.differential and answer.differential[0].severity in SEVERE:
        yield "severe"


def _medicines(told: list[Statement]) -> Iterator[str]:
    for statement in told:
        text = statement.text
        named = [(m.start, m.start + len(m.written)) for m in medicines_in(text)]
        if DOSE.search(text) or (named and AMOUNT.search(text)):
            yield "dose"
        if CHANGE_ZH.search(text) or any(BEFORE.search(text[:a]) or AFTER.search(text[b:]) for a, b in named):
            yield "change"


def _asks_dose(question: str) -> bool:
    amount = ASKS_AMOUNT.search(question) and medicines_in(question)
    return bool(ASKS_DOSE.search(question) or amount)


def _unsupported(answer: Answer, told: list[Statement]) -> bool:
    chosen = answer.choice is not None and answer.choice.parametric
    own = [s for s in told if s.origin in (Origin.PARAMETRIC, Origin.GENERATED)]
    return chosen or any(s.quoted or not says_absent(s.text) for s in own)  # what documents lack rests on none


def _concern(answer: Answer, told: list[Statement]) -> bool:
    cited = {c.evidence_id for s in told for c in s.citations}
    return any(e.status is Status.CONCERN for e in answer.evidence if e.id in cited)


def _vulnerable(patient: str, question: str) -> Iterator[str]:
    """Pregnancy and childhood: of the patient where there is one, else of those whom the question is about."""
    age = read_person(patient).age if patient else None
    stated = _stated(patient, introduced=age is not None) if patient else without_mentions(question)
    if PREGNANT.search(stated):
        yield "pregnancy"
    of_children = CHILD.search(MOTHERS.sub("", stated)) is not None
    if (age is not None and age < GROWN_UP) or (age is None and of_children):
        yield "child"


def _stated(patient: str, *, introduced: bool) -> str:
    """What the case states as present now. What it tells of others is left out where the patient is introduced by age:
    without one, "my daughter" may well be the patient."""
    told, plain = clauses(patient), without_mentions(patient)
    return ". ".join(
        plain[c.start : c.end] for c in told if c.present is not False and not c.past and not (introduced and c.other)
    )


def with_review(answer: Answer, case: str) -> Answer:
    """The answer with the reasons for a review and their notice, unchanged where none is needed."""
    reasons = review_reasons(answer, case)
    if not reasons:
        return answer
    told = notice(
        "clinician_review", answer.language, messages(answer.language)["gate.comma"].join(r.text for r in reasons)
    )
    return answer.model_copy(update={"review_reasons": reasons, "notices": [*answer.notices, told]})
