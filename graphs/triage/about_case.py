"""Questions after a case that name no subject: ``What is the treatment?`` asked of the leading diagnosis. All ours."""

from __future__ import annotations

import re

from tools.text.demographics import read_person
from tools.text.language import language_of

LEAD = r"^\W*(?:(?:and|so|but|ok|okay|then|thanks|well)[ ,]+)*"
TOPIC = (
    r"(?:treatments?|therapy|management|prognosis|outlook|cure|complications?|risks?|recovery time|first[- ]line "
    r"(?:treatment|therapy|drug))"
)
# The noun that is asked for, without what it is of.
ASPECT = re.compile(
    rf"{LEAD}(?P<stem>(?:what(?:'s| is| are| would be) )?(?:the |any )?"
    rf"(?:(?:best|usual|right|recommended|standard|main) )?"
    rf"{TOPIC})(?: (?:for|of) (?:it|this|that|him|her|them|me))?\W*$",
    re.IGNORECASE,
)
# A pronoun in the place of the disease, beside a word that asks of a disease rather than for one.
PRONOUN = re.compile(r"\b(?:it|this|that)\b", re.IGNORECASE)
OF_DISEASE = re.compile(
    rf"{LEAD}(?:how|what|is|can|does|do|will|should|how long)\b.{{0,40}}\b(?:treat(?:ed|able)?|"
    r"manage[ds]?|cured?|curable|"
    r"dangerous|serious|severe|contagious|infectious|catching|fatal|deadly|"
    r"life[- ]threatening|prevent(?:ed|able)?|lasts?|"
    r"heals?|common|rare|harmful|go away|come back|get better|hereditary|diagnosed|tested)\b",
    re.IGNORECASE,
)
DOSE = re.compile(
    rf"{LEAD}(?:how (?:much|many|often)\b|what dose\b|which dose\b).{{0,60}}\b(?:give|take|have|need|get)\b",
    re.IGNORECASE,
)
RECEIVER = re.compile(r"(?<=\bgive )(?:him|her|them)\b(?! \w)", re.IGNORECASE)
TAKER = re.compile(r"\b(?:he|she|they)\b(?= (?:take|have|need|get)\b)", re.IGNORECASE)
FEW = 12  # words; a longer question tells more
ASPECT_ZH = re.compile(
    r"^(?:那么?|请问|所以)?[，,]?(?:它|这个病|这种病|这病|该病|这)?(?P<stem>(?:应该|该|要|需要)?"
    r"(?:怎么|如何|怎样)(?:治疗|治|处理)|"
    r"(?:的)?(?:最佳|首选)?(?:治疗|治疗方法|治疗方案|预后|并发症)(?:是什么|有哪些|如何|怎么样|怎样)?|"
    r"(?:危险|严重|会传染|传染|会死|会复发|能治好|可以治愈|能治愈|常见|会遗传)(?:吗|么)|"
    r"(?:需要|要)(?:做)?手术吗|(?:该|要|应该)?吃什么药|"
    r"多久(?:能|会|可以)好)(?:呢)?[?？。]*$"
)
DOSE_ZH = re.compile(
    r"^(?:我)?(?:可以|能|应该|该)?(?:给(?:他|她|孩子))?(?:吃|用|服)?.{0,12}(?:多少|几片|几次|多大剂量).{0,14}[?？]*$"
)


def is_about_case(text: str) -> bool:
    """Whether a message asks about the disease of the case without naming it, and tells nothing."""
    if language_of(text) == "zh":
        return bool(ASPECT_ZH.match(text) or DOSE_ZH.match(text))
    if len(text.split()) > FEW:
        return False
    return bool(ASPECT.match(text) or DOSE.match(text) or (OF_DISEASE.match(text) and PRONOUN.search(text)))


def of_leading(text: str, leading: str, case: str) -> str:
    """The same question with the leading diagnosis named, so that it stands alone."""
    if language_of(text) == "zh":
        match = ASPECT_ZH.match(text)
        return f"{leading}{match['stem']}？" if match else f"{leading}患者，{text}"
    aspect = ASPECT.match(text)
    if aspect:
        return f"{_capital(aspect['stem'])} of {leading}?"
    if DOSE.match(text):
        return _dose(text.rstrip(" ?."), leading, case)
    return _capital(PRONOUN.sub(lambda _m: leading, text, count=1))


def _dose(text: str, leading: str, case: str) -> str:
    who = f"{_patient(case)} with {leading}"
    for pattern in (RECEIVER, TAKER):
        if pattern.search(text):
            return _capital(pattern.sub(lambda _m: who, text, count=1)) + "?"
    return f"{_capital(text)} for {leading}?"


def _patient(case: str) -> str:
    """The patient in few words: ``a 2-year-old girl``; ``a patient`` when the case states neither age nor sex."""
    age, sex = read_person(case)
    young = age is not None and age < 18
    noun = {"female": "girl" if young else "woman", "male": "boy" if young else "man"}.get(sex or "", "patient")
    if age is None:
        return f"a {noun}"
    number, unit = (round(age * 12), "month") if age < 2 else (int(age), "year")
    article = "an" if str(number).startswith("8") or number in (11, 18) else "a"
    return f"{article} {number}-{unit}-old {noun}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
