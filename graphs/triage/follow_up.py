"""Answers to the question that we asked: yes, no, not sure, a value, and what else the message says."""

from __future__ import annotations

import re
from typing import NamedTuple

from graphs.triage.contract import AskedQuestion
from graphs.triage.lexicon import SMALL_TALK
from graphs.triage.questions import is_question, parts
from tools.contract import Finding
from tools.text.language import language_of

UNSURE = re.compile(
    r"^\W*(?:i(?:'m| am)? (?:don't know|do not know|dont know|not sure|can't (?:say|tell|remember)|haven't noticed|have no idea)|"
    r"(?:not|un)\s?(?:sure|certain)|no idea|maybe|perhaps|possibly|dunno|hard to say|don't know|can't remember)\b|"
    r"^\W*(?:不知道|不清楚|不确定|说不清|不太清楚|没注意|记不清|可能吧|也许)",
    re.IGNORECASE,
)
NO = re.compile(
    r"^\W*(?:no|nope|nah|never|none|not (?:really|at all|that i (?:know|noticed)|now|any ?more|yet)|negative|neither|nothing|absolutely not|definitely not|"
    r"i (?:don't|do not|haven't|have not|didn't|am not|wasn't)|it (?:doesn't|does not|isn't|is not|hasn't|didn't)|"
    r"(?:he|she|they) (?:doesn't|does not|don't|hasn't|isn't|didn't|haven't)|there (?:isn't|is not|aren't|is no))\b|"
    r"^\W*(?:没有?过?|不是|不会|不|否|无|从(?:来)?没|并?没)",
    re.IGNORECASE,
)
YES = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|yea|ya|correct|right|true|indeed|exactly|definitely|absolutely|sure|of course|always|often|sometimes|occasionally|"
    r"slightly|somewhat|mostly|usually|a (?:little|bit|lot)|quite|only (?:at|when|on|in|after)|i (?:do|have|am|did|was)|it (?:does|is|has|did)|"
    r"(?:he|she|they) (?:does|do|has|have|is|are|did)|there is|i think so|afraid so|positive)\b|"
    r"^\W*(?:是的?|有(?:的|过|一点|点)?|对(?:的)?|嗯+|会的?|确实|偶尔|有时|经常|轻微|一点|稍微|当然|没错)",
    re.IGNORECASE,
)
LEAD = re.compile(r"^\W*(?:(?:yes|yeah|yep|yup|no|nope|nah|correct|right|exactly|definitely)\b|是的|有的|对的|没有(?=[\s,，。；])|没有$|(?:是|对|不是|嗯+|不|否)(?=[\s,，。]|$))[\s,.!;:，。！；、-]*", re.I)
VALUE = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|half|dozen|left|right|both|mild|moderate|severe|days?|weeks?|months?|hours?)\b|[一二两三四五六七八九十半左右]", re.I)
TEMPERATURE = re.compile(r"fever|temperature|发烧|发热|体温", re.IGNORECASE)
CELSIUS = re.compile(r"\b(3[4-9]|4[0-3])(?:[.,](\d))?")
FEVER, NO_FEVER = 38.0, 37.5  # degrees Celsius; common clinical limits
SHORT = 12  # words; ours: a longer message tells more than an answer
SHORT_ZH = 20  # characters; ours

OPENERS = (
    (re.compile(r"^(?:do|does) (?:you|he|she|they|the patient|your child) (?:have|get|feel|suffer from|notice)\s+", re.I), ""),
    (re.compile(r"^(?:have|has) (?:you|he|she|they|the patient|your child) (?:had|got|noticed|felt)\s+", re.I), ""),
    (re.compile(r"^(?:have|has) (?:you|he|she|they|the patient|your child)\s+", re.I), "having "),
    (re.compile(r"^(?:are|is|were|was) (?:you|he|she|they|the patient|your child)\s+", re.I), "being "),
    (re.compile(r"^(?:is|are|was|were) there\s+(?:any\s+)?", re.I), ""),
    (re.compile(r"^(?:do|does|did|can|could|will|would|is|are|was|were|has|have) ", re.I), "that "),
)
ANY = re.compile(r"^(?:any|a|an|some)\s+", re.IGNORECASE)
ZH_ASK = re.compile(r"^(?:请问)?(?:您|你|患者|孩子|他|她)?(?:是否|有没有|有无|会不会|是不是)?(?:有|出现|感到|觉得)?(?=.)")
ZH_END = re.compile(r"(?:吗|呢|么)?\s*[?？。]*$")


class Reply(NamedTuple):
    """An answer: the finding that it settles, how the case states it, and what else was said."""

    finding: Finding
    statement: str


def read_reply(message: str, asked: AskedQuestion) -> Reply | None:
    """The answer to our question; None when the message is something else (a question, a new case, courtesy)."""
    text = message.strip()
    if not text or any(is_question(p) and p.endswith(("?", "？")) for p in parts(text)):
        return None
    present, known = _polarity(text, asked)
    if not known:
        return None
    statement = _statement(text, asked, present)
    rest = LEAD.sub("", text, count=1).strip()
    if rest and not _says_nothing(rest):
        statement = f"{statement} {rest}" if language_of(rest) == "en" else statement + rest
    finding = Finding(id=asked.finding, name=topic(asked.text), clause=text, present=present)
    return Reply(finding, statement if statement.endswith((".", "。", "!", "?")) else statement + _stop(statement))


def _polarity(text: str, asked: AskedQuestion) -> tuple[bool | None, bool]:
    """Whether the finding is present, and whether the text answers at all."""
    if UNSURE.match(text):
        return None, True
    if NO.match(text):
        return False, True
    if YES.match(text):
        return True, True
    if SMALL_TALK.match(text) or not _short(text):
        return None, False
    degrees = CELSIUS.search(text)
    if degrees and TEMPERATURE.search(asked.text):
        value = float(f"{degrees[1]}.{degrees[2] or 0}")
        return (True if value >= FEVER else False if value < NO_FEVER else None), True
    return (True, True) if VALUE.search(text) else (None, False)


def _statement(text: str, asked: AskedQuestion, present: bool | None) -> str:
    if not (YES.match(text) or NO.match(text) or UNSURE.match(text)):
        return f"{asked.text.strip()} {text}"
    about = topic(asked.text)
    if language_of(asked.text) == "zh":
        return {True: f"有：{about}。", False: f"没有{about}。", None: f"不确定是否{about}。"}[present]
    about = _second_person(about)
    return {True: f"Reports {about}.", False: f"Denies {about}.", None: f"Not sure about {about}."}[present]


def topic(question: str) -> str:
    """What a yes-or-no question asks about: ``Do you have a fever?`` -> ``fever``."""
    if language_of(question) == "zh":
        return ZH_END.sub("", ZH_ASK.sub("", question.strip(), count=1)) or question
    text = question.strip().rstrip("?").strip()
    for pattern, lead in OPENERS:
        rest = pattern.sub("", text, count=1)
        if rest != text:
            return lead + ANY.sub("", rest)
    return text


def _second_person(text: str) -> str:
    return re.sub(r"\byou\b", "they", re.sub(r"\byour\b", "the", text, flags=re.I), flags=re.I)


def _says_nothing(rest: str) -> bool:
    return re.fullmatch(r"(?:i (?:do|don't|have|haven't|am|am not|did|didn't)|it (?:does|doesn't|is|isn't)|not (?:really|at all)|thanks?|的|过|呀|啊|\W)*", rest, re.I) is not None


def _short(text: str) -> bool:
    return len(text) <= SHORT_ZH if language_of(text) == "zh" else len(text.split()) <= SHORT


def _stop(text: str) -> str:
    return "。" if language_of(text) == "zh" else "."
