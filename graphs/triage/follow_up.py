"""Answers to the question that we asked: yes, no, not sure, a value, and what else the message says."""

from __future__ import annotations

import re
from typing import NamedTuple

from graphs.triage.contract import AskedQuestion
from graphs.triage.corrections import join
from graphs.triage.lexicon import SMALL_TALK
from graphs.triage.questions import is_question, parts
from tools.contract import Finding
from tools.text.language import language_of
from tools.text.tokens import tokens

UNSURE = re.compile(
    r"^\W*(?:i(?:'m| am)? (?:don't know|do not know|dont know|not sure|can't (?:say|tell|remember)|haven't noticed|"
    r"have no idea)|"
    r"(?:not|un)\s?(?:sure|certain)|no idea|maybe|perhaps|possibly|dunno|hard to say|don't know|can't remember)\b|"
    r"^\W*(?:不知道|不清楚|不确定|说不清|不太清楚|没注意|记不清|可能吧|也许)",
    re.IGNORECASE,
)
NO = re.compile(
    r"^\W*(?:no|nope|nah|never|none|not (?:really|at all|that i (?:know|noticed)|now|any ?more|yet)|negative|"
    r"neither|nothing|absolutely not|definitely not|"
    r"i (?:don't|do not|haven't|have not|didn't|am not|wasn't)|it (?:doesn't|does not|isn't|is not|hasn't|didn't)|"
    r"(?:he|she|they) (?:doesn't|does not|don't|hasn't|isn't|didn't|haven't)|there (?:isn't|is not|aren't|is no))\b|"
    r"^\W*(?:没有?过?|不是|不会|不|否|无|从(?:来)?没|并?没)",
    re.IGNORECASE,
)
YES = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|yea|ya|correct|right|true|indeed|exactly|definitely|absolutely|sure|of course|always|"
    r"often|sometimes|occasionally|"
    r"slightly|somewhat|mostly|usually|a (?:little|bit|lot)|quite|only (?:at|when|on|in|after)|i (?:do|have|am|did|"
    r"was)|it (?:does|is|has|did)|"
    r"(?:he|she|they) (?:does|do|has|have|is|are|did)|there is|i think so|afraid so|positive)\b|"
    r"^\W*(?:是的?|有(?:的|过|一点|点)?|对(?:的)?|嗯+|会的?|确实|偶尔|有时|经常|轻微|一点|稍微|当然|没错)",
    re.IGNORECASE,
)
LEAD = re.compile(
    r"^\W*(?:(?:yes|yeah|yep|yup|correct|right|exactly|definitely|(?:no|nope|nah)(?=\W*$|\s*[,.;:!-]|\s+(?:i|it|he|"
    r"she|they|not|thanks)\b))\b|是的|有的|对的|没有(?=[\s,，。；])|没有$|(?:是|对|不是|嗯+|不|否)(?=[\s,，。]|"
    r"$))[\s,.!;:，。！；、-]*",
    re.I,
)
VALUE = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|half|dozen|left|right|both|mild|moderate|severe|"
    r"days?|weeks?|months?|hours?)\b|[一二两三四五六七八九十半左右]",
    re.I,
)
TEMPERATURE = re.compile(r"fever|temperature|发烧|发热|体温", re.IGNORECASE)
CELSIUS = re.compile(r"\b(3[4-9]|4[0-3])(?:[.,](\d))?")
FEVER, NO_FEVER = 38.0, 37.5  # degrees Celsius; common clinical limits
SHORT = 12  # words; ours: a longer message tells more than an answer
SHORT_ZH = 20  # characters; ours

OPENERS = (
    (
        re.compile(
            r"^(?:do|does) (?:you|he|she|they|the patient|your child) (?:have|get|feel|suffer from|notice)\s+", re.I
        ),
        "",
    ),
    (re.compile(r"^(?:have|has) (?:you|he|she|they|the patient|your child) (?:had|got|noticed|felt)\s+", re.I), ""),
    (re.compile(r"^(?:have|has) (?:you|he|she|they|the patient|your child)\s+", re.I), "having "),
    (re.compile(r"^(?:are|is|were|was) (?:you|he|she|they|the patient|your child)\s+", re.I), "being "),
    (re.compile(r"^(?:is|are|was|were) there\s+(?:any\s+)?", re.I), ""),
    (re.compile(r"^(?:do|does|did|can|could|will|would|is|are|was|were|has|have) ", re.I), "that "),
)
ANY = re.compile(r"^(?:any|a|an|some)\s+", re.IGNORECASE)
ZH_ASK = re.compile(
    r"^(?:请问)?(?:您|你|患者|孩子|他|她)?(?:是否|有没有|有无|会不会|是不是)?(?:有|出现|感到|觉得)?(?=.)"
)
ZH_END = re.compile(r"(?:吗|呢|么)?\s*[?？。]*$")
NAMED = re.compile(
    r"^\W*no (?!(?:i|it|he|she|they|not|never|thanks|thank|but|there|nothing|none|that|doctor|"
    r"more)\b)(\w+(?: \w+)?)|^\W*(?:没有|没|无)(?!过|的|[,，。；!！]|$)(.{2,})",
    re.I,
)
AND = re.compile(r"^(?:and|but|though|和|而且|但是?)\b[\s,]*", re.IGNORECASE)
NOTHING = re.compile(
    r"(?:i (?:do|don't|have|haven't|am|am not|did|didn't)|it (?:does|doesn't|is|isn't)|not (?:really|at all)|"
    r"thanks?|有|没有?|会|不会?|是|一点|的|过|呀|啊|\W)*",
    re.IGNORECASE,
)
BASE_VERB = re.compile(
    r"\b(get|feel|spread|come|hurt|start|last|wake|move|happen|ease|improve|worsen|stop|look|swell|itch|bleed|"
    r"radiate|change|keep|make|burn|ache|shoot)\b",
    re.I,
)


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
    finding = Finding(id=asked.finding, name=_noun(topic(asked.text)), clause=text, present=present)
    return Reply(finding, _statement(text, asked, present))


def _polarity(text: str, asked: AskedQuestion) -> tuple[bool | None, bool]:
    """Whether the finding is present, and whether the text answers at all."""
    if UNSURE.match(text):
        return None, True
    if NO.match(text):
        return False, not _denies_another(text, asked)
    if YES.match(text):
        return True, True
    if SMALL_TALK.match(text) or not _short(text):
        return None, False
    degrees = CELSIUS.search(text)
    if degrees and TEMPERATURE.search(asked.text):
        value = float(f"{degrees[1]}.{degrees[2] or 0}")
        return (True if value >= FEVER else False if value < NO_FEVER else None), True
    return (True, True) if VALUE.search(text) else (None, False)


def _denies_another(text: str, asked: AskedQuestion) -> bool:
    """Whether ``no fever`` speaks of something that the question did not ask about."""
    named = NAMED.match(text)
    return named is not None and not set(tokens(named[1] or named[2])) & set(tokens(asked.text))


def _statement(text: str, asked: AskedQuestion, present: bool | None) -> str:
    """The answer as the case states it."""
    if UNSURE.match(text):
        return _worded(asked, None)
    if not (YES.match(text) or NO.match(text)):
        return join(asked.text.strip(), text)
    rest = AND.sub("", LEAD.sub("", text, count=1)).strip()
    return join(_worded(asked, present), "" if _says_nothing(rest) else rest)


def _worded(asked: AskedQuestion, present: bool | None) -> str:
    about = topic(asked.text)
    if language_of(asked.text) == "zh":
        return {True: f"有{about}。", False: f"没有{about}。", None: f"不确定是否{about}。"}[present]
    about = re.sub(r"\byou\b", "they", re.sub(r"\byour\b", "the", about, flags=re.I), flags=re.I)
    unsure = about.replace("that ", "whether ", 1) if about.startswith("that ") else f"about {about}"
    return {True: f"Reports {about}.", False: f"Denies {about}.", None: f"Not sure {unsure}."}[present]


def topic(question: str) -> str:
    """What a yes-or-no question asks about: ``Do you have a fever?`` -> ``fever``."""
    if language_of(question) == "zh":
        return ZH_END.sub("", ZH_ASK.sub("", question.strip(), count=1)) or question
    text = question.strip().rstrip("?").strip()
    for pattern, lead in OPENERS:
        rest = pattern.sub("", text, count=1)
        if rest != text:
            rest = BASE_VERB.sub(r"\1s", rest, count=1) if text.lower().startswith("does ") else rest
            return lead + ANY.sub("", rest)
    return text


def _noun(about: str) -> str:
    return re.sub(r"^(?:that|being|having) ", "", about)


def _says_nothing(rest: str) -> bool:
    return NOTHING.fullmatch(rest) is not None


def _short(text: str) -> bool:
    return len(text) <= SHORT_ZH if language_of(text) == "zh" else len(text.split()) <= SHORT
