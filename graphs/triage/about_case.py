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
# Which tests: asked of the leading diagnosis as how it is confirmed.
TESTS = re.compile(
    rf"{LEAD}(?:(?:what|which|any|are there any|are any|do (?:i|we|you|they) need(?: any| to do any)?) "
    r"(?:\w+ ){0,2}?(?:tests?|investigations?|imaging|scans?|bloods?|work-?up|examinations?)\b[^?]{0,40}|"
    r"(?:the |what (?:is|are) the )?(?:tests?|investigations?|work-?up|diagnostics)|"
    r"how (?:do|can|should|would|could) (?:i|we|you|one) (?:confirm|diagnose|prove|test for|work (?:it|this|that) up|"
    r"investigate|check for|rule out)(?: (?:it|this|that))?|how is (?:it|this|that) (?:confirmed|diagnosed|tested)|"
    r"what should (?:i|we) (?:order|request|test(?: for)?|check|do to confirm(?: (?:it|this))?)|"
    r"(?:do|does|should) (?:i|we|he|she|they) (?:need|have|get|order) (?:an? |any )?"
    r"(?:ecg|x-?ray|ct|mri|scan|blood tests?|ultrasound|lumbar puncture|swab|biopsy|endoscopy)\b[^?]{0,30})\W*$",
    re.IGNORECASE,
)
TESTS_ZH = re.compile(
    r"^(?:那么?|请问|所以)?[，,]?(?:我|他|她|患者|病人)?(?:还)?(?:应该|该|要|需要|得)?(?:再)?(?:做|查|"
    r"完善)?(?:些|一些)?(?:什么|哪些|怎样的)?"
    r"(?:检查|化验|检验)(?:呢|项目)?(?:有哪些|是什么)?[?？。]*$|^(?:怎么|如何|怎样)(?:确诊|诊断|"
    r"检查)(?:呢|它|这个病)?[?？。]*$"
)
# What to do now, and when help is urgent.
MANAGE = re.compile(
    rf"{LEAD}(?:(?:so )?what (?:should|can|shall|do|must) (?:i|we|he|she|they) (?:do|take|"
    rf"give)(?: (?:now|next|about (?:it|"
    r"this|that)|for (?:it|this|that|him|her|them)|first))*|what (?:is|are|would be) the next steps?|"
    r"what (?:now|next)|"
    r"how (?:do|can|should|would|shall) (?:i|we|you|one) (?:treat|manage|handle|help)(?: (?:it|this|that|him|her|them|"
    r"the patient))?|(?:is there )?(?:any|a|anything to) (?:treatment|cure|help)(?: for (?:it|this|that))?)\W*$",
    re.IGNORECASE,
)
URGENT = re.compile(
    rf"{LEAD}(?:when (?:should|must|do|shall) (?:i|we|he|she|they) (?:go to (?:the )?(?:hospital|doctor|"
    rf"gp|emergency\w*|a ?& ?e|"
    r"casualty)|see (?:a|the|my) (?:doctor|gp)|call|worry|seek help|be worried|come back|get help)[^?]{0,30}|"
    r"(?:do|does|should) (?:i|we|he|she|they) (?:need to |have to )?(?:go to (?:the )?hospital|see (?:a|the) doctor|"
    r"be admitted)[^?]{0,20}|(?:what are the )?(?:red flags?|warning signs?)|what should (?:i|"
    r"we) (?:watch|look out) for)\W*$",
    re.IGNORECASE,
)
URGENT_ZH = re.compile(
    r"^(?:那|请问)?(?:什么时候|何时)(?:需要|应该|要)?(?:去医院|就医|看医生|看急诊)[?？。]*$|"
    r"^(?:有)?(?:什么|哪些)?(?:警示|危险)(?:征象|信号)[?？。]*$"
)
PROGNOSIS = re.compile(
    rf"{LEAD}(?:(?:what(?:'s| is| are) )?(?:the )?(?:prognosis|outlook|recovery time)(?: (?:of|"
    rf"for) (?:it|this|that|him|her|"
    r"them))?|how long (?:will|does|do) (?:it|this|that|he|she|they|i) (?:last|take(?: to (?:recover|"
    r"heal|get better))?|"
    r"recover)|will (?:it|this|that) (?:come back|go away|get better)|will (?:he|she|they|i) (?:recover|"
    r"get better|be ok|"
    r"be all right|survive|die))\W*$",
    re.IGNORECASE,
)
PROGNOSIS_ZH = re.compile(
    r"^(?:那|请问)?(?:的)?预后(?:怎么样|如何|怎样|好吗|是什么)?(?:呢)?[?？。]*$|^(?:多久|多长时间)(?:能|"
    r"会|可以)?好(?:转)?[?？。]*$"
)
# What a Chinese question asks of a disease, in English.
IN_ENGLISH = (
    (re.compile(r"手术"), "Does {name} need surgery?"),
    (re.compile(r"药"), "Which medicines are used for {name}?"),
    (re.compile(r"治愈|治好|复发|预后|多久"), "How long does {name} last and how do people recover?"),
    (re.compile(r"治疗|怎么治|如何治|处理"), "How is {name} treated?"),
    (re.compile(r"传染"), "Is {name} contagious?"),
    (re.compile(r"并发症"), "What are the complications of {name}?"),
    (re.compile(r"危险|严重|会死"), "Is {name} dangerous?"),
)
ASKED = (
    (TESTS, TESTS_ZH, "How is {name} diagnosed and which tests are needed?", "{name}如何诊断，需要哪些检查？"),
    (MANAGE, None, "How is {name} treated?", "{name}怎么治疗？"),
    (URGENT, URGENT_ZH, "When should people with {name} seek urgent help?", "{name}什么情况下需要立即就医？"),
    (PROGNOSIS, PROGNOSIS_ZH, "How long does {name} last and how do people recover?", "{name}多久能恢复，会复发吗？"),
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
    if _asked(text):
        return True
    if language_of(text) == "zh":
        return bool(ASPECT_ZH.match(text) or DOSE_ZH.match(text))
    if len(text.split()) > FEW:
        return False
    return bool(ASPECT.match(text) or DOSE.match(text) or (OF_DISEASE.match(text) and PRONOUN.search(text)))


def of_leading(text: str, leading: str, case: str, english: str = "") -> str:
    """The same question with the leading diagnosis named, so that it stands alone.

    ``english``: its English name; a Chinese question of a known form is asked in English then, as the library is.
    """
    chinese = language_of(text) == "zh"
    asked = _asked(text)
    if asked:
        return asked[0].format(name=english or leading) if english or not chinese else asked[1].format(name=leading)
    if chinese and english:
        form = next((form for words, form in IN_ENGLISH if words.search(text)), "")
        if form:
            return form.format(name=english)
    if chinese:
        match = ASPECT_ZH.match(text)
        return f"{leading}{match['stem']}？" if match else f"{leading}患者，{text}"
    aspect = ASPECT.match(text)
    if aspect:
        return f"{_capital(aspect['stem'])} of {leading}?"
    if DOSE.match(text):
        return _dose(text.rstrip(" ?."), leading, case)
    return _capital(PRONOUN.sub(lambda _m: leading, text, count=1))


def names_no_disease(text: str) -> bool:
    """Whether the question has no word, not even a pronoun, for what it is about: ``what tests are needed?``."""
    return bool(_asked(text) or ASPECT.match(text) or ASPECT_ZH.match(text)) and not PRONOUN.search(text)


def _asked(text: str) -> tuple[str, str] | None:
    """The questions, English and Chinese, that a message asks of the leading diagnosis in other words."""
    if len(text.split()) > FEW:
        return None
    forms = ((a, e, z) for english, chinese, e, z in ASKED for a in (english, chinese) if a is not None)
    return next(((e, z) for form, e, z in forms if form.match(text.strip())), None)


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
