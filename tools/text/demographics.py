"""Age and sex of the patient, read from a case in English or Chinese."""

from __future__ import annotations

import re
from typing import NamedTuple


class Person(NamedTuple):
    """Age in years and sex (``female`` or ``male``); None for what the text does not say."""

    age: float | None = None
    sex: str | None = None


YEARS = {"year": 1.0, "yr": 1.0, "month": 1 / 12, "mo": 1 / 12, "week": 1 / 52, "wk": 1 / 52, "day": 1 / 365}
YEARS |= {"y": 1.0, "mth": 1 / 12, "12": 1 / 12, "52": 1 / 52, "7": 1 / 365}  # as notes write them: 5/12, 10/7
_ONES = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBERS = dict(zip(_ONES.split(), range(1, 20), strict=True))
NUMBERS |= dict(zip(_TENS.split(), range(20, 100, 10), strict=True))
NUMBERS |= {f"{ten} {one}": NUMBERS[ten] + NUMBERS[one] for ten in _TENS.split() for one in _ONES.split()[:9]}
_WORDED = "|".join(name.replace(" ", "[ -]") for name in sorted(NUMBERS, key=lambda n: -len(n)))
_NUMBER = rf"(\d{{1,3}}(?:\.\d)?|{_WORDED})"
SEX_WORDS = {
    "female": r"woman|female|lady|girl|daughter|mother|wife|grandmother|grandma|granny|gran|nana?|mum|mom|sister|"
    r"step(?:mother|mum|mom|daughter|sister)|aunt(?:ie|y)?|niece|girlfriend|lass|mrs|ms",
    "male": r"man|male|gentleman|gent|boy|son|father|husband|grandfather|grandpa|grand?dad|dad|brother|uncle|nephew|"
    r"step(?:father|dad|son|brother)|boyfriend|guy|bloke|chap|lad|mr",
}
_SEX = tuple((sex, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for sex, words in SEX_WORDS.items())
_LEAD = tuple(
    (
        sex,
        re.compile(
            r"^\W*(?:(?:an?|my|our|the|this|elderly|young|middle-aged|little|baby|big|older|younger|late|twin) )*"
            rf"(?:{words})\b",
            re.IGNORECASE,
        ),
    )
    for sex, words in SEX_WORDS.items()
)
_ALONE = tuple(  # a sentence that says it and nothing else: "Woman, by the way", "It's a boy"
    (
        sex,
        re.compile(
            rf"(?:^|[.;!?]\s+)(?:(?:it|s?he|baby)(?:['’]s| is) )?(?:an? )?(?:{words})"
            r"(?:,? (?:by the way|btw|here|in case it matters))?\s*(?=[.;!]|$)",
            re.IGNORECASE,
        ),
    )
    for sex, words in SEX_WORDS.items()
)
_WHO = rf"(?:{'|'.join(SEX_WORDS.values())}|patient|child|infant|toddler|kid|baby|pt)"
# ours: who the patient is, and that he has what follows
_SUBJECT = re.compile(
    rf"^\W*(?:(?:(?:an?|the|this|my|our)\s+)?(?:\d{{1,3}}[\s-]*(?:years?|yrs?|months?|weeks?|days?)[\s-]*old|"
    rf"\d{{1,3}}\s*y/?o)(?:\s+{_WHO})?|\d{{1,3}}\s?[MF]|(?:the|this|an?|my)\s+{_WHO}(?:\s+(?:of|aged)\s+\d+)?|I|s?he)\s+"
    r"(?:also\s+|now\s+|who\s+)?(?:has(?:\s+had|\s+been\s+having)?|have(?:\s+had|\s+been\s+having)?|with|"
    r"(?:is\s+)?(?:presenting|presented|presents|came\s+in)\s+with|complains?\s+of|complaining\s+of|reports|describes|gets?)"
    r"\s+(?:also\s+)?(?=\S)",
    re.IGNORECASE,
)
_WHO_ONLY = re.compile(
    rf"(?:\W*\b(?:an?|the|this|my|our|his|her|hi|hello|is|was|are|who|he|she|it|i|am|i'm|he's|she's|it's|now|just|only|about|"
    rf"nearly|almost|little|newborn|{_WHO})\b|\W)*|[\W我的是现在刚家宝宝孩子儿女患者今年才]*",
    re.IGNORECASE,
)
SEX_LETTER = {"F": "female", "M": "male"}
_LETTER = re.compile(
    r"(?:\d|(?<![A-Za-z])y/?o?|old|yrs?|[,(;])[ ,-]{0,2}([MF])\b|(?<=\d)(?:yo|y)?,?[ /]?([fm])(?=[,.;\s]|$)|"
    r"(?:^|[:.;,]|\b[Pp]t|[Pp]atient) ?([MF])[ ,/]{1,2}(?=\d{1,3}\b(?![/.]?\d))"
)
_SAID = re.compile(
    r"\b(?:I'm|I’m|I am)(?: an?)?(?: \w+){0,3} (?:woman|man|female|male|girl|boy|lady|guy|bloke|chap|lad)\b",
    re.IGNORECASE,
)
_BEARER = rf"pt|patient|partner|friend|baby|kid|child|{'|'.join(SEX_WORDS.values())}"
# ours: a number that counts or measures something else, or is of a time that was: "I'm 6 weeks", "I was 18 when"
_NO_UNIT = (
    r"(?![\d'’/%°]|\.\d| ?(?:[-–]|to|or) ?\d| when\b| at the time\b|"
    r"[ -]?(?:(?:years?|yrs?)(?![ -]old)|months?|mths?|weeks?|wks?|days?|hours?|hrs?|"
    r"min(?:ute)?s?|kgs?|kilos?|stones?|st|lbs?|pounds?|cms?|met(?:er|re)s?|feet|foot|ft|inches|units?|"
    r"m?c?gs?|mls?|percent|per|times|degrees|out of|of|x|a day|cigarettes|drinks?|pints?|nd|rd|th)\b)\b"
)
# ours: a small number is an age where nothing follows that it may count: "she is 7 centimetres", "he's 3 post op"
_NO_SMALL_COUNT = r"(?!(?:\d|1[01])\b(?!\s*(?:[,.;)!]|$)|\s+(?:and|with|who|has)\b))"
_OPENED = r"^\W*(?:(?:hi|hello|hey|dear \w+)(?: \w+){0,2}[,.!]? )?"
# ours: what somebody is, in front of an age: "Retired miner, 68, breathless"; no vital sign
_TRADE = (
    r"(?!(?:[a-z-]+ )*(?:pulse|rate|pressure|BP|HR|RR|sats|temp\w*|weight|bmi|sugar|glucose|gcs|level|hb|ward|bed|"
    r"room|day|week|age|score|baby|infant|newborn|neonate|toddler)\b)(?:[a-z-]+ ){0,3}[a-z-]+"
)
_AGE = (
    re.compile(rf"\b{_NUMBER}[\s-]*(year|yr|y|month|mo|week|wk|day)s?[\s-]*(?:old\b|young\b|of age\b)", re.IGNORECASE),
    re.compile(r"\b(\d{1,3})\s*(y)\.?/?o\b", re.IGNORECASE),
    re.compile(r"\b(\d{1,3})\s*[- ]?(?:[MF]\b|(?:y|yo|yr)[ -]?(?:[MF]\b|male\b|female\b))"),
    re.compile(
        rf"(?<!\bat )(?<!\bfrom )(?<!\bsince )(?<!\buntil )\b(?:aged?|age:)\s*(\d{{1,3}}|{_WORDED})\b", re.IGNORECASE
    ),
    re.compile(
        r"(?<!\bsince )(?<!\bwhen )(?<!\buntil )\b"
        rf"(?:I(?:['’]?m| am| was)|(?:s?he|who|{_BEARER})(?:['’]?s| is| was)|turned)"
        r" (?:(?:now|nearly|almost|about|around|only|just|turned|aged) )*"
        rf"{_NO_SMALL_COUNT}(\d{{1,3}}){_NO_UNIT}",
        re.IGNORECASE,
    ),
    re.compile(rf"{_OPENED}(?:{_TRADE}, )?([1-9]\d)(?: here)?,(?= [a-z])", re.IGNORECASE),
    re.compile(
        rf"\b(?:{'|'.join(SEX_WORDS.values())})(?:(?: \w+)?, ?(?:aged )?| ?\(| )(\d{{1,3}})"
        r"(?!\.\d)(?=[,.;)]|$| (?:with|who|has)\b)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:^|[:.;,]|\bpt|patient) ?(?:[MF]|male|female)[ ,/]{{1,2}}(\d{{1,3}})\b(?![/.]?\d)|"
        rf"\b(?:{'|'.join(SEX_WORDS.values())}) of (\d{{1,3}})\b(?!\s*(?:kg|st|lbs?|cm|m|%|days?|weeks?|months?)\b)",
        re.IGNORECASE,
    ),
    re.compile(rf"(?:^|[.;,!?] )(\d{{1,3}}),? (?:[fm](?=[,.;]|$)|(?:{'|'.join(SEX_WORDS.values())})\b)", re.IGNORECASE),
    re.compile(r"(?:^|[.;,!?] )(\d{1,3})(?:/[fm]|f)(?=[,.;]|$)|(?:^|[.!?] )(\d{2})m(?=\.|$)", re.IGNORECASE),
    re.compile(
        rf"(?:^|[.;!?] )(\d{{2}}), (?:[a-z]+ ){{0,2}}[a-z]+, (?:{'|'.join(SEX_WORDS.values())})(?=[,.;]|$)", re.I
    ),
)
_BABY = r"(?:baby|newborn|neonate|infant|toddler|little (?:one|boy|girl))(?: (?:boy|girl))?"
_SMALL = r"(month|mo|week|wk|day)s?"
_AGE_SMALL = (  # "my baby, 8 months, ...", "a 6 week baby"; ours
    re.compile(
        rf"\b{_BABY}\b[,(]?\s*(?:(?:is|now|only|about|nearly|just|aged) )*{_NUMBER}[\s-]*{_SMALL}"
        r"(?=\s*(?:[,.;)]|and\b|$))",
        re.IGNORECASE,
    ),
    re.compile(rf"\b{_NUMBER}[\s-]*{_SMALL}[\s-]*(?:{_BABY}|boy|girl|son|daughter)\b", re.IGNORECASE),
    # of notes: "5/12 boy", "3y4m F", "8mo F", "10/7 old"
    re.compile(rf"\b(\d{{1,2}})/(12|52|7)[\s-]*(?:olds?\b|{_BABY}\b|boy\b|girl\b|(?:fe)?male\b|[MFmf]\b(?!/))"),
    re.compile(r"\b(\d{1,2})\s?(y)(?:rs?)?\s?\d{1,2}\s?(?:m(?:o|ths?|onths?)?\b|/12)"),
    re.compile(r"\b(\d{1,2})\s?(mo|mths?|wk)s?[\s-]?(?:olds?\b|[MF]\b)"),
    re.compile(rf"\b{_BABY},? (?:(?:is|on|now) )*(?=day (\d{{1,2}})\b)(day)", re.IGNORECASE),
    re.compile(r"\b(?=day (\d{1,2}) of life)(day)", re.IGNORECASE),
    re.compile(r"\b(?:my|our) (\d{1,2})[\s-]?(mo)\b", re.IGNORECASE),
)
_ONES_ZH = "一二三四五六七八九"
_DIGITS_ZH = {digit: n for n, digit in enumerate(_ONES_ZH, start=1)} | {"两": 2}
_NUMBER_ZH = rf"(\d{{1,3}}(?:\.\d)?|(?<![{_ONES_ZH}十百])(?:[{_ONES_ZH}]?十[{_ONES_ZH}]?|[{_ONES_ZH}两]))"
_CHILD_ZH = r"(?:患儿|宝宝|婴儿|孩子|娃)[，,]?[男女]?[孩婴]?[，,]?"  # 患儿，男，5个月，
_AGE_ZH = re.compile(
    rf"{_NUMBER_ZH}\s*(岁|周岁|个?月(?:大|龄|的)|周(?:大|龄)|天(?:大|龄))|"
    rf"{_CHILD_ZH}\s*{_NUMBER_ZH}\s*(个月|周|天)(?=[，,。；])"
)
_LEAD_ZH = tuple(
    (sex, re.compile(rf"^\W*(?:你好|您好|医生|请问)?[，,。！\s]*(?:我|俺|我们)?家?的?(?:{words})"))
    for sex, words in (
        ("female", "妈|母亲|奶奶|姥姥|外婆|女儿|闺女|老婆|妻子|姐|妹|阿姨|姑|婆婆|外孙女|孙女|儿媳|媳妇"),
        ("male", "爸|父亲|爷爷|姥爷|外公|儿子|老公|丈夫|哥|弟|叔|舅|公公|外孙(?!女)|孙子|女婿"),
    )
)
_YEARS_ZH = {"岁": 1.0, "月": 1 / 12, "周": 1 / 52, "天": 1 / 365}
_BEHIND_ZH = r"(?:性|宝|士|孩|童|婴|子|生|的(?=[，,。])|，|,|。|患|\d|$)"
_SEX_ZH = (
    ("female", re.compile(rf"女{_BEHIND_ZH}|患者女|月经|怀孕|妊娠|老太太|阿姨|(?:奶奶|婆婆|大妈|大娘)[，,]?(?=\d)")),
    ("male", re.compile(rf"男{_BEHIND_ZH}|患者男|前列腺|睾丸|阴囊|老?大爷|老爷子|老头|大伯|大叔")),
)
_BODY_SEX = (
    (
        "female",
        re.compile(
            r"\b(?:my periods?|I(?:'|’)m pregnant|pregnant|menopaus\w+|my womb|vaginal?|G\d+ ?P\d+|"
            r"breastfeeding|last period)\b",
            re.I,
        ),
    ),
    ("male", re.compile(r"\b(?:my prostate|testic\w+|scrot\w+|my penis|erection\w*)\b", re.IGNORECASE)),
)
_PRONOUNS = (("female", re.compile(r"\b(?:she|her|hers)\b", re.I)), ("male", re.compile(r"\b(?:he|him|his)\b", re.I)))
# Somebody of either sex for whom the teller writes: then "he" and "she" are the patient's.
_SOMEBODY = re.compile(
    r"^\W*(?:s?he(?:'s|’s| is| has| was)\b|(?:.{0,40}\b(?:asking|writing|calling|worried|here|text|look) "
    r"(?:for|about|after|on behalf of|with) |(?:\w+ ){0,3})?(?:an?|my|our|one of (?:my|our)|the)(?: \w+){0,2}? "
    r"(?:mate|friend|flatmate|room ?mate|neighbou?r|colleague|boss|patient|client|residents?|pupil|student|"
    r"cousin|partner|twin|baby|newborn|infant|toddler|child|kid|teenager)\b)",
    re.IGNORECASE,
)
_TELLERS_OWN = re.compile(r"\bI(?: have| feel| get| had|'ve|’ve)\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:[Ii]'?m|I’m|I|my|me)\b")
_ONES_OWN = re.compile(r"\b(?:my|his|her|our|their)\s+(?:\w+ )?$", re.IGNORECASE)
NEARBY = 40  # characters around the age in which the sex is looked for; ours
MAX_AGE = 120  # ours


def read_person(text: str) -> Person:
    """The patient's age and sex, as far as the text says."""
    age, at = age_in(text)
    return Person(age, _sex(text, at))


def after_subject(text: str) -> str:
    """An English clause from what the patient has on: ``vomiting`` of ``A 40-year-old woman with vomiting``."""
    return _SUBJECT.sub("", text)


def only_age(text: str) -> bool:
    """Whether a clause tells who the patient is and how old, and nothing else: ``My baby is 8 months old``."""
    age, (start, end) = age_in(text)
    return age is not None and _WHO_ONLY.fullmatch(f"{text[:start]} {text[end:]}") is not None


def age_in(text: str) -> tuple[float | None, tuple[int, int]]:
    """The patient's age in years, and the characters that tell it; None and (0, 0) where the text does not."""
    match = _AGE_ZH.search(text)
    if match:
        number, written = match[1] or match[3], match[2] or match[4]
        unit = next(u for u in _YEARS_ZH if u in written)
        return _number_zh(number) * _YEARS_ZH[unit], match.span()
    for pattern in (*_AGE, *_AGE_SMALL):
        match = pattern.search(text)
        if match:
            written = next(filter(None, match.groups()))
            number = float(NUMBERS.get(written.lower().replace("-", " "), 0) or written)
            unit_word = match[2].lower() if pattern in (_AGE[0], *_AGE_SMALL) else "year"
            age = number * YEARS[unit_word]
            if age <= MAX_AGE:
                return age, match.span()
    return None, (0, 0)


def _number_zh(written: str) -> float:
    """A number up to 99 in digits or in Chinese (``五十二``)."""
    if written[0].isdigit():
        return float(written)
    tens, ten, ones = written.rpartition("十")
    return 10.0 * _DIGITS_ZH.get(tens, 1) + _DIGITS_ZH.get(ones, 0) if ten else float(_DIGITS_ZH[written])


def _sex(text: str, at: tuple[int, int]) -> str | None:
    for name, pattern in _SEX_ZH:
        if pattern.search(text):
            return name
    if at[1]:
        nearest = _nearest(text, at)
        if nearest:
            return nearest
    for name, pattern in (*_ALONE, *_LEAD_ZH, *_BODY_SEX):
        if pattern.search(text):
            return name
    return _by_pronouns(text)


def _nearest(text: str, at: tuple[int, int]) -> str | None:
    """The sex that is named nearest to the age, by a word or by the letter of a note (``45M``)."""
    start = max(0, at[0] - NEARBY)
    near, age_end = text[start : at[1] + NEARBY], at[1] - start
    of_teller = _FIRST_PERSON.match(text, at[0]) is not None  # "I'm 45 and my wife noticed" tells no wife's age
    if of_teller:
        near = near[:age_end] + re.split(r"[.;!?](?=\s)", near[age_end:])[0]
    found = [
        (abs(m.start() - age_end), sex)
        for sex, pattern in _SEX
        for m in pattern.finditer(near)
        if not ((of_teller or m.start() > age_end) and _ONES_OWN.search(near[: m.start()]))
    ]
    letters = _LETTER.finditer(near)
    found += [(abs(m.start() - age_end), SEX_LETTER[(m[1] or m[2] or m[3]).upper()]) for m in letters]
    return min(found)[1] if found else None


def _by_pronouns(text: str) -> str | None:
    for sex, pattern in _LEAD:
        if pattern.match(text):
            return sex
    if _FIRST_PERSON.search(text) and (_SOMEBODY.match(text) is None or _TELLERS_OWN.search(text)):
        said = _SAID.search(text)
        named = [sex for sex, pattern in _SEX if said and pattern.search(said[0])]
        return named[0] if named else None
    counts = {sex: len(pattern.findall(text)) for sex, pattern in _PRONOUNS}
    if counts["female"] == counts["male"]:
        return None
    return max(counts, key=lambda sex: counts[sex])


# What sounds like a state of the patient and is none; ours.
_NOT_PREGNANT = re.compile(
    r"\b(?:pregnancy|hcg) tests?\b(?![^.;?!]{0,40}(?<!not )\bpositive)|"
    r"(?:\b(?:prevent\w*|avoid\w*|against|protect\w* (?:\w+ )?(?:from|against)|(?:risk|chances?|fear) of|worr\w+ about|"
    r"no (?:wish|plans?|desire) (?:to|for)|trying not to)|(?:\bnot|n[’']?t|\bnever) "
    r"(?:want\w*|wish\w*|plan\w*|hop\w*|try\w*|intend\w*|ready)(?: to| for| on)?) "
    r"(?:an? |unwanted |unplanned |another )*(?:(?:get(?:ting)?|be(?:ing|com(?:e|ing))?|fall(?:ing)?) )?"
    r"(?:pregnan\w+|conceiv\w*)|(?:防止|避免|预防|不想|不打算|没打算|担心|怕)(?:意外)?怀孕",
    re.IGNORECASE,
)
_TESTED_NEGATIVE = re.compile(
    r"\b(?:pregnancy|hcg|home) tests?\b[^.;?!]{0,30}\bnegative|"
    r"(?s:\A(?!.*\b(?:covid|corona\w*|flu|strep|HIV|allergy|drugs?)\b).*?)\b(?:the|a|my|her) tests?"
    r"(?: (?:was|is|were|are|came back|come back|has|turned out|results?|says?|showed?|reads?))*\W+negative|"
    r"\bnegative (?:pregnancy |hcg |home |urine )?test|(?:验孕|早孕|怀孕|妊娠|HCG)[^。；]{0,6}阴性",
    re.IGNORECASE,
)
_THOUGHT_PREGNANT = re.compile(
    r"\b(?:thought|think|thinking|worried|afraid|scared|wonder\w*|might|may|could|possibl\w+|unsure|sure|whether|if)\b"
    r"[^.;?!]{0,25}\bpregnan\w+|(?:以为|怀疑|担心|可能)[^。；，]{0,4}怀孕",
    re.IGNORECASE,
)
_NO_CHILD = re.compile(
    r"\b(?:(?:want\w*|wish\w*|plan\w*)(?: (?!my|our|his|her|the)\w+){0,2}|(?:have|has|had|with|no|without)"
    r"(?: (?:two|three|four|five|six|\d|no|any|other|several|grown|grown-up|adult|more)){0,2}(?<!have)(?<!has)(?<!had)"
    r"(?<!with)) (?:child|children|kids?|bab(?:y|ies))\b(?! (?:with|who|whose|that|is|has|had|aged?|of)\b)"
    r"(?!,? (?:aged? )?\d)|"
    r"(?:不|没|暂时|以后|打算|准备|想)(?:想|打算|准备|再)?(?:要|生|有)(?:个)?(?:孩子|宝宝|小孩)",
    re.IGNORECASE,
)
_GROWN_FIRST = re.compile(
    r"^(?:[^.;!?]{0,40}?\b(?:my|our|an?|the|his|her) (?:\w+ ){0,3})?\W*(?:(?:elderly|old|older|frail) )*"
    r"(?:mother|mum|mummy|mom|father|dad|daddy|grand(?:mother|father|ma|pa|dad)|gran(?:ny)?|nana?|husband|wife|aunt\w*|"
    r"uncle|lady|wom[ae]n|gentleman|man|mrs|mr)\b"
    r"(?! (?:\w+ )?(?:says?|said|notice[sd]?|thinks?|found|told|tells|brought|is worried|worries|and (?:I|my|our))\b)",
    re.IGNORECASE,
)
_CHILD_OF = r"(?:grand)?(?:sons?|daughters?|child|children|kids?)(?: in law|-in-law)?"
_TELLING_CHILD = re.compile(
    rf"\b(?:my|our|her|his|their|the|an?) (?:\w+ )?{_CHILD_OF} (?:who )?(?:\w+ )?"
    rf"(?:says?|said|tells?|told|notice[sd]?|thinks?|reports?|reported|saw|found|brought|heard|called|lives?|helps?|cares)\b|"
    rf"\b(?:says|said|reports|according to|by|with|lives with) (?:my|our|her|his|the) {_CHILD_OF}\b|"
    rf"\b(?:her|his|their) (?:\w+ )?{_CHILD_OF}\b|\b(?:a |the )?{_CHILD_OF} (?:reports|says|tells)\b",
    re.IGNORECASE,
)
_I_AM_CHILD = re.compile(rf"\bI(?:['’]m| am) (?:her|his|the|their) (?:\w+ )?{_CHILD_OF}\b", re.IGNORECASE)


def without_mentions(text: str) -> str:
    """A text with spaces in place of what is no state of the patient: a pregnancy that is tested for, ruled out or not
    wanted, children that somebody has or wants, a grown patient's child who tells the story."""
    patterns = [_NOT_PREGNANT, _NO_CHILD, _I_AM_CHILD]
    patterns += [_THOUGHT_PREGNANT] * (_TESTED_NEGATIVE.search(text) is not None)
    patterns += [_TELLING_CHILD] * (_GROWN_FIRST.search(text) is not None or _I_AM_CHILD.search(text) is not None)
    for pattern in patterns:
        text = pattern.sub(lambda m: " " * len(m[0]), text)
    return text


# Texts on other people than whom a question is about; ours.
GROWN, MENARCHE, FERTILE = 18, 9, 56  # years from which nobody is a child; between which a woman may be pregnant
_CHILDREN = re.compile(
    r"\b(?:child\w*|infan\w+|bab(?:y|ies)|newborns?|neonat\w+|p(?:a)?ediatric\w*|toddlers?)\b|儿童|小儿|婴|新生儿",
    re.IGNORECASE,
)
_MOTHERS = re.compile(r"\b(?:pregnan\w+|antenatal|breast-?feeding|childbirth)\b|孕|妊娠|哺乳", re.IGNORECASE)

_GROWN_UP = re.compile(r"\b(?:m[ae]n|wom[ae]n|adults?|elderly|older people)\b|成人|男性|女性|老年", re.IGNORECASE)
_MEN = re.compile(r"\bm[ae]n\b|男性", re.IGNORECASE)


def about_others(question: str, text: str) -> bool:
    """Whether a text is about children or pregnant women, and a question about people who are neither by the age or sex
    that it tells; not where the question names them too."""
    person = read_person(question)
    grown = person.age >= GROWN if person.age is not None else _GROWN_UP.search(question) is not None
    barren = person.sex == "male" or _MEN.search(question) is not None
    barren = barren or (person.age is not None and not MENARCHE <= person.age < FERTILE)
    groups = [*[_CHILDREN] * grown, *[_MOTHERS] * barren]
    return any(g.search(text) and not g.search(question) for g in groups)
