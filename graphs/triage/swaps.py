"""What a correction puts in the place of what the case says: side, level, sex, age, time, reading. All ours."""

from __future__ import annotations

import re

from graphs.triage.instead import NUMBER, SPAN_ZH, Instead, aligned, instead, positive
from tools.text.demographics import age_in, read_person
from tools.text.tokens import tokens

SIDE = re.compile(
    r"\b((?i:left|right)|[LR]t?(?=[- ][a-z]))\b(?:[- ](?:hand )?(?:side of (?:my|his|her|the) )?([a-z]+))?"
)
SIDE_ZH = re.compile(r"([左右])(?:侧|边)?(?:的)?([\u4e00-\u9fff])?")
OTHER = {
    "left": "right",
    "right": "left",
    "upper": "lower",
    "lower": "upper",
    "左": "右",
    "右": "左",
    "上": "下",
    "下": "上",
}
LEVEL = re.compile(r"\b(upper|lower)\b(?:[- ](?:left|right|L|R)\b)?(?:[- ]([a-z]+))?", re.IGNORECASE)
LEVEL_ZH = re.compile(r"([上下])(腹|肢)")
COUNT = r"(?:\d+(?:\.\d)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|several|few)"
SPAN = re.compile(rf"\b({COUNT})[ -](minute|hour|day|night|week|month|year)s?\b(?![ -]?old)", re.IGNORECASE)
SPAN_NOTE = re.compile(r"\b(\d{1,3})/(60|24|7|52|12)\b|\bx ?(\d{1,3}) ?(min|h|d|w|wk|m)s?\b")
NOTE_UNITS = {
    "60": "minute", "24": "hour", "7": "day", "52": "week", "12": "month", "min": "minute", "h": "hour", "d": "day",
    "w": "week", "wk": "week", "m": "month",
}  # fmt: skip
AGE = re.compile(
    r"\b(\d{1,3})(?=[- ]?(?:years?[- ]old|yo\b|y/o\b|[MF]\b))|(\d{1,3})(?= ?岁)|"
    r"(?:(?<=I'm )|(?<=I am )|(?<=[Hh]e is )|(?<=[Hh]e's )|(?<=actually )|(?<=[Mm]um )|(?<=[Dd]ad ))"
    r"(\d{1,3})(?=\W*$|[,.;]|\s+not\b)|(?<=I'm )(\d{1,3})\b|(?<=I am )(\d{1,3})\b"
)
READING = re.compile(
    r"(?P<t>\b(?:temp(?:erature)?|T)\b|体温)[ :=]*(?:is|was|of|actually|为|"
    r"是)*[ :=]*(?P<tv>3[4-9](?:\.\d)?|4[0-3](?:\.\d)?)|"
    r"(?P<p>\b(?:HR|pulse|heart rate)\b|心率|脉搏)[ :=]*(?:is|was|of|为|是)*[ :=]*(?P<pv>\d{2,3})|"
    r"(?P<b>\b(?:BP|blood pressure)\b|血压)[ :=]*(?:is|was|of|为|是)*[ :=]*(?P<bv>\d{2,3}/\d{2,3})|"
    r"(?P<r>\b(?:RR|resp(?:iratory)? rate)\b)[ :=]*(?:is|was|of)*[ :=]*(?P<rv>\d{1,2})|"
    r"(?P<s>\b(?:sats?|SpO2|oxygen saturation)\b)[ :=]*(?:is|are|was|of)*[ :=]*(?P<sv>\d{2,3})",
    re.IGNORECASE,
)
VALUES = ("tv", "pv", "bv", "rv", "sv")
QUALITY = re.compile(
    r"\bnot (?:that |so |very |really |at all |particularly )?(severe|sudden|constant|sharp|throbbing|"
    r"crushing|burning|"
    r"productive|painful|itchy|bloody|bad)\b",
    re.IGNORECASE,
)
SITES = (
    r"knee|hip|ankle|shoulder|elbow|wrist|hand|foot|arm|leg|thigh|calf|neck|back|chest|abdomen|stomach|"
    r"flank|groin|ear|"
    r"eye|jaw|throat|toe|finger|breast|testicle"
)
SITE = re.compile(rf"\b({SITES})s?\b", re.IGNORECASE)
ONLY_SITE = re.compile(
    rf"^\W*(?:(?:it(?:'s| is| was)|in|the|my|his|her) )*(?:(?:left|right) )?({SITES})\W*$", re.IGNORECASE
)
SEX = re.compile(
    r"(?:\b(?:is|am|are|was|'s|'m)|^)(?: (?:actually|really|in fact))? ?(?:an? )?(?:\w+ )?"
    r"(man|woman|male|female|boy|girl|lady|gentleman)\b|是(?:个|一[个位名])?(?:\w{0,2})?([男女])",
    re.IGNORECASE,
)
SEX_WORDS = {
    "man": "woman", "male": "female", "boy": "girl", "gentleman": "lady", "son": "daughter", "he": "she", "his": "her",
    "him": "her", "himself": "herself",
}  # fmt: skip
TO_MALE = {v: k for k, v in SEX_WORDS.items() if k != "him"}


CUT_SHORT = 5  # letters from which a word may stand for the longer one that it begins (``bendro``); ours
# Words of a statement that gives a time and nothing else beside it; ours
TIMES = frozenset(
    tokens("it is was been more like about nearly over under almost now actually really sorry only for days")
)


def swapped(case: str, statement: str) -> str:
    """The case with what the statement gives another value for put in its place."""
    found = instead(statement)
    if found is not None:
        replaced = _replaced(case, found)
        if replaced != case:
            return replaced
        statement = positive(statement)
    for swap in (_sides, _levels, _site, sex, _spans, _readings, _qualities, age):
        case = swap(case, statement)
    return case


def _replaced(case: str, found: Instead) -> str:
    """The old words of the case by as many of the new; a number by a number, whatever its unit is written like."""
    old, new = found.old, aligned(found)
    if re.search(r"[\u4e00-\u9fff]", old):
        return case.replace(old, new, 1)
    edge = r"(?!\d)" if old[-1].isdigit() else r"\w*" if len(old) >= CUT_SHORT and old.isalpha() else r"\b"
    pattern = rf"(?<![\w.]){re.escape(old)}{edge}"
    if re.search(pattern, case, re.IGNORECASE):
        return re.sub(pattern, lambda _m: new, case, flags=re.IGNORECASE)
    counted = re.fullmatch(r"(\d+)[ -]([a-z]+?)s?", old, re.IGNORECASE)
    number = NUMBER.search(new)
    if counted and number and counted[2].lower() in new.lower():
        return re.sub(rf"(?<!\d){counted[1]}(?=[ -]?{counted[2]})", number[0], case, flags=re.IGNORECASE)
    return case


def _sides(case: str, statement: str) -> str:
    for pattern in (SIDE, SIDE_ZH):
        case = _opposed(case, statement, pattern)
    return case


def _levels(case: str, statement: str) -> str:
    for pattern in (LEVEL, LEVEL_ZH):
        case = _opposed(case, statement, pattern)
    return case


def _opposed(case: str, statement: str, pattern: re.Pattern[str]) -> str:
    told = {(_plain(m[1]), (m[2] or "").lower()) for m in pattern.finditer(statement)}
    if len({word for word, _ in told}) != 1:
        return case
    nouns = {noun for _, noun in told}
    new = next(iter(told))[0]
    stated = [m for m in pattern.finditer(case) if _plain(m[1]) == OTHER[new]]
    same = [m for m in stated if (m[2] or "").lower() in nouns] or stated
    for match in reversed(same):
        case = case[: match.start(1)] + _as_written(new, match[1]) + case[match.end(1) :]
    return case


def _plain(word: str) -> str:
    return {"l": "left", "lt": "left", "r": "right", "rt": "right"}.get(word.lower(), word.lower())


def _as_written(new: str, old: str) -> str:
    """The word in the form of the one that it replaces: ``L`` for ``R``, ``Left`` for ``Right``."""
    if old in ("L", "R", "Lt", "Rt"):
        return new[0].upper() + old[1:]
    return new.capitalize() if old[0].isupper() else new


def _site(case: str, statement: str) -> str:
    told = ONLY_SITE.match(statement)
    stated = {m[1].lower() for m in SITE.finditer(case)}
    if told is None or len(stated) != 1 or told[1].lower() in stated:
        return case
    return SITE.sub(told[1].lower(), case)


def sex(case: str, statement: str) -> str:
    """The case of a person of the sex that the statement says."""
    told = SEX.search(statement)
    if told is None:
        return case
    new = "female" if (told[1] or told[2]).lower() in ("woman", "female", "girl", "lady", "女") else "male"
    if read_person(case).sex in (None, new):
        return case
    words = SEX_WORDS if new == "female" else TO_MALE
    pattern = re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE)
    case = pattern.sub(lambda m: words[m[0].lower()].capitalize() if m[0][0].isupper() else words[m[0].lower()], case)
    letters = ("M", "F") if new == "female" else ("F", "M")
    case = re.sub(rf"(?<=\d)( ?(?:yo|y/o|y)? ?){letters[0]}\b", rf"\g<1>{letters[1]}", case)
    han = ("男", "女") if new == "female" else ("女", "男")
    return re.sub(rf"{han[0]}(?=[性孩童士，,、]|\d|\b)", han[1], case, count=1).replace(*_pronouns_zh(new))


def _pronouns_zh(new: str) -> tuple[str, str]:
    return ("他", "她") if new == "female" else ("她", "他")


def _spans(case: str, statement: str) -> str:
    for pattern in (SPAN, SPAN_ZH):
        told = pattern.search(statement) or (SPAN_NOTE.search(statement) if pattern is SPAN else None)
        stated = [(m, m[2].lower()) for m in pattern.finditer(case)]
        if pattern is SPAN:
            stated += [(m, NOTE_UNITS[m[2] or m[4]]) for m in SPAN_NOTE.finditer(case)]
        if told is None or not stated:
            continue
        of = NOTE_UNITS[told[2] or told[4]] if told.re is SPAN_NOTE else told[2].lower()
        alike = [m for m, unit in stated if unit == of]
        only = len(stated) == 1 and not (set(tokens(statement)) - set(tokens(case)) - TIMES - set(tokens(told[0])))
        target = alike[0] if alike else stated[0][0] if only else None
        if target is not None:
            case = case[: target.start()] + told[0] + case[target.end() :]
    return case


def _readings(case: str, statement: str) -> str:
    for told in READING.finditer(statement):
        value = next(v for v in VALUES if told[v])
        stated = next((m for m in READING.finditer(case) if m[value]), None)
        if stated is not None:
            case = case[: stated.start(value)] + told[value] + case[stated.end(value) :]
    return case


def _qualities(case: str, statement: str) -> str:
    for told in QUALITY.finditer(statement):
        case = re.sub(
            rf"(?<!not )\b{told[1]} (?=\w)|,? (?:and |is |was )*(?<!not ){told[1]}\b", "", case, flags=re.IGNORECASE
        )
    return case


def age(case: str, statement: str) -> str:
    """The case with the age that the statement says."""
    told, stated = AGE.search(statement), AGE.search(case)
    if told and stated:
        return case[: stated.start()] + told[0] + case[stated.end() :]
    new = float(next(filter(None, told.groups()))) if told else read_person(statement).age
    old, (start, end) = age_in(case)
    number = NUMBER.search(case, start, end)
    years = None not in (new, old) and new == round(new or 0) and old == float(number[0] if number else -1)
    if not years or number is None or new == old:
        return case
    return f"{case[: number.start()]}{new:.0f}{case[number.end() :]}"
