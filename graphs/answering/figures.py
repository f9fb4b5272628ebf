"""Figures asked for, and sentences that give one: dose, number needed to treat, accuracy, rate, time, target."""

from __future__ import annotations

import re
from typing import NamedTuple

from graphs.verdicts.studies import words_held
from tools.medicines.names import medicines_in
from tools.text.abbreviations import expand

WHAT = r"\b(?:what|which|how (?:much|many|high|often|common|accurate)|maximum|usual|recommended)\b[^?]{0,60}"
COUNT = (
    r"(?:\d[\d,.]{0,12}|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty|fifty|"
    r"(?:a|one|five) (?:hundred|thousand))"
)
PART = r"(?:half|an? (?:third|quarter|fifth)|two thirds|three quarters)"
SHARE = (
    rf"\d ?(?:%|％|per ?cent\b|倍)|\b{COUNT} (?:in|of|out of|per|in every)(?: every| about| the)? {COUNT}\b|\bper \d"
    rf"|\b{PART} of\b|\b{COUNT}(?:-[a-z]{{3,5}})? per ?cent\b|(?:\bratio|(?-i:\b[HOR]R))\b[^.;]{{0,20}}?\d|百分之"
)
UNIT = (
    r"(?:(?:mg|mcg|µg|μg|micrograms?|milligrams?|g|grams?|ml|millilit(?:re|er)s?|units?|iu|mmol|tablets?|capsules?|puffs?"
    r"|drops)\b|(?:毫克|微克|克|毫升|片|粒|滴|喷|国际单位))"
)


class Kind(NamedTuple):
    """A kind of figure: what asks for it in a question, and what gives it in a sentence."""

    asks: re.Pattern[str]
    gives: re.Pattern[str]


def _kind(asks: str, gives: str) -> Kind:
    return Kind(re.compile(asks, re.IGNORECASE), re.compile(gives, re.IGNORECASE))


# All ours. A digit alone is no figure: it may belong to a name (type 2, SGLT2).
DOSE = _kind(
    rf"{WHAT}\b(?:dos(?:e|es|age)|mg)\b|\bhow (?:much|many)\b[^?]{{0,40}}\b(?:take|give|gives|given|prescribe|have)\b"
    r"|^\W*dos(?:e|es|age|ing)\b|\bdos(?:e|es|age|ing)\W*$|剂量|多少(?:毫克|克)",
    rf"[\d一二两三四五六七八九十半] ?{UNIT}(?! ?(?:/|per) ?d?(?:l\b|lit))",  # an amount, no level in blood
)
OF_STUDIES = re.compile(r"\b(?:trials?|stud(?:y|ies)|was|were|did)\b", re.IGNORECASE)  # asks what dose one used
DOSING = re.compile(r"\bdos(?:e|es|age|ing)\b|\bdirections\b|剂量|用法", re.IGNORECASE)
NEEDED = _kind(
    r"\bnumbers? needed\b|\bNNT\b|\bNNH\b|多少人",
    rf"\b(?:needed to (?:treat|harm|screen)|NNT|NNH)\b[^.;]{{0,40}}?\d|\bfor every {COUNT}\b"
    rf"|\b{COUNT} (?:\w+ ){{0,3}}(?:needs?|needed|must|have|had) to be (?:treated|screened)\b"
    rf"|\bone (?:in|of) {COUNT}\b",
)
ACCURACY = _kind(
    rf"{WHAT}\b(?:sensitivity|specificity|accura(?:cy|te)|predictive value)\b|how accurate\b|灵敏度|特异度|准确率",
    rf"{SHARE}|\b0[.·]\d",
)
OTHER_RATE = r"(?<!heart )(?<!pulse )(?<!respiratory )(?<!mortality )(?<!death )(?<!survival )(?<!fatality )"
RATE = _kind(
    rf"{WHAT}\b(?:percentage|proportion|{OTHER_RATE}rate|incidence|prevalence)\b"
    r"|\bhow (?:common|frequent|likely|rare)\b"
    r"|\bhow often (?:does|do|is|are)\b(?![^?]*\b(?:take|taken|give|given|measure|check|test|screen|repeat|dose)\w*\b)"
    r"|\b(?:what is|what['’]s|how (?:high|great|big|large) is) (?:the |my |your )?(?:\w+ ){0,3}risk\b(?! factor)"
    r"|多少次|发生率|患病率|多常见",
    rf"{SHARE}|\b\d[\d,.]{{0,12}} (?:\w+ )?(?:cases|deaths|people|patients|events)\b",
)
DEATH = r"\b(?:mortality|deaths?|die[sd]?|dying|fatal\w*|surviv\w*|alive)\b|[死存]"
MORTALITY = _kind(
    r"\b(?:mortality|fatality|survival|death rate)\b|\bhow (?:many|often)\b[^?]{0,40}\b(?:die|survive)\b"
    r"|死亡率|生存率|病死率",
    rf"(?:{SHARE}).{{0,200}}?(?:{DEATH})|(?:{DEATH}).{{0,200}}?(?:{SHARE})",
)
DURATION = _kind(
    r"\bhow (?:long|many (?:\w+ )?(?:hours?|days?|weeks?|months?|years?))\b|\b(?:duration|length) of\b"
    r"|多久|多长时间|几(?:天|周|个月|年)|疗程|持续时间",
    rf"\b{COUNT}(?:(?:-| to | or |–){COUNT})?[ -](?:hours?|days?|weeks?|months?|years?)\b(?! ?old)"
    r"|\b(?:a|a few|several|some|a couple of) (?:day|week|month|year)s?\b"
    r"|[\d一二两三四五六七八九十半] ?(?:小时|天|日|周|个?月|年)",
)
TIMING = _kind(
    r"\bhow (?:soon|quickly|early|late|fast)\b[^?]*\b(?:start|stop|giv|tak|treat|repeat|return|see|check|begin|be\b)"
    r"|\bhow often\b[^?]*\b(?:tak|giv|measur|check|test|screen|repeat|monitor|scan|see|review|vaccinat|boost)"
    r"|多久(?:一次|复查|检查)",
    rf"{DURATION.gives.pattern}|\b(?:once|twice|(?:three|four) times) (?:a|an|per|daily|weekly|every)\b"
    r"|\b(?:daily|weekly|monthly|yearly|annually|hourly|immediately|at once|straight away|same day)\b"
    r"|\bevery (?:other |few |couple of )?(?:hour|day|week|month|year)s?\b",
)
ONSET = _kind(
    r"\b(?:how (?:soon|quickly|fast|long)|when)\b[^?]*\b(?:start|begin|take)s? (?:to )?(?:work|act|help|effect)\w*"
    r"|\bhow (?:soon|quickly|fast) (?:does|do|will|would) [^?]{0,40}\b(?:work|act|help|kick in)\b"
    r"|\bonset of (?:action|effect)"
    r"|多久(?:见效|起效|有效|起作用)",
    r"(?:\b(?:works?|working|acts?|appears?|effects?|benefits?|helps?|improve\w*|reliev\w*|relief|begins?|starts?)\b"
    rf"[^.;]{{0,60}}\b(?:within|after|in|by|over|takes?)|\btakes?) [^.;]{{0,20}}"
    rf"(?:{DURATION.gives.pattern}|\bminutes\b)",
)
MEASURED = (
    r"(?:INR|HbA1c|A1c|LDL|HDL|TSH|PSA|BMI|CRP|eGFR|SpO2|BP|blood pressure|cholesterol|(?:blood )?(?:glucose|sugar)"
    r"|urate|uric acid|ferritin|ha?emoglobin|potassium|sodium|calcium|platelet count|oxygen saturation|heart rate|pulse"
    r"|temperature|vitamin D|troponin|D-dimer)"
)
TARGET = _kind(
    rf"\b(?:target|goal|normal|ideal|reference) (?:\w+ )?{MEASURED}\b|\bat what\b[^?]{{0,30}}\b{MEASURED}\b"
    rf"|\b{MEASURED} (?:\w+ )?(?:target|goal|cut-?off|threshold|range)s?\b",
    r"\d",
)
OF_IT = 0.4  # ours: share of a question's words that a rate and its source must hold to be what is asked
KINDS = (DOSE, NEEDED, ACCURACY, RATE, MORTALITY, DURATION, TIMING, ONSET, TARGET)
OF_ONE = (TIMING, TARGET)  # whose figure is of what is measured
OF_WORDS = (RATE, MORTALITY, TIMING)  # whose figure is of what is asked only beside words of the question
_MEASURED = re.compile(rf"\b{MEASURED}\b", re.IGNORECASE)


def asks_figure(question: str) -> bool:
    """Whether a question asks for a dose, a number needed to treat, an accuracy, a rate, a duration, a time or a
    wanted value."""
    return any(kind.asks.search(question) for kind in KINDS)


def gives_figure(question: str, sentence: str, title: str = "") -> bool:
    """Whether a sentence gives a figure of a kind that the question asks for; where the question names a medicine, of
    that: the sentence or the title of its document names it, or its class. A duration may be that of the illness; a
    rate and a time are of what is asked where both hold enough of the question's words, a wanted value and a time of
    measuring where the sentence names what is measured. How soon something works is neither how long nor when."""
    near = words_held(expand(question), f"{title}. {sentence}") >= OF_IT
    given = [kind for kind in KINDS if kind.asks.search(question) and kind.gives.search(sentence)]
    given = [kind for kind in given if near or kind not in OF_WORDS]
    if not _measured(question) <= _measured(sentence):
        given = [kind for kind in given if kind not in OF_ONE]
    if ONSET.asks.search(question):
        given = [kind for kind in given if kind not in (DURATION, TIMING)]
    if not given or DURATION in given:
        return bool(given)
    asked = {m.generic or m.family for m in medicines_in(question)}
    if ONSET in given:  # a class is told of once, and holds for each of it
        asked |= {m.family for m in medicines_in(question)}
    return not asked or any(asked & {m.generic, m.family} for m in medicines_in(f"{title}. {sentence}"))


def _measured(text: str) -> set[str]:
    text = expand(text).replace("mmHg", "blood pressure")
    return {"blood pressure" if m[0] == "BP" else m[0].lower().replace("hem", "haem") for m in _MEASURED.finditer(text)}


def of_regimen(question: str, sentence: str) -> bool:
    """Whether a question asks what dose to give, and a sentence of a single study tells one: of its own people."""
    asks = DOSE.asks.search(question) is not None and OF_STUDIES.search(question) is None
    return asks and DOSE.gives.search(sentence) is not None


def of_one_kind(question: str, section: str) -> bool:
    """Whether what gives a figure can be no other than the one asked for: a question asks for a dose, and the heading
    of a section says that it gives doses, or it asks how soon something works."""
    dosing = DOSE.asks.search(question) is not None and DOSING.search(section) is not None
    return dosing or ONSET.asks.search(question) is not None
