"""Answers to the question that we asked: yes, no, not sure, a value, and what else the message says."""

from __future__ import annotations

import re
from typing import NamedTuple

from graphs.triage.contract import AskedQuestion
from graphs.triage.head import Sort, sorted_as
from graphs.triage.questions import is_question, parts
from graphs.triage.replies import COURTEOUS, FIRST, NO, NUMBERS, SIDES, TIMES, UNSURE, YES, asks_value, gives_value
from graphs.triage.revisions import join
from graphs.triage.values import ASKS_PLACE, NOWHERE, places_of, read_measurement
from tools.contract import Finding
from tools.text.clauses import clauses
from tools.text.language import language_of
from tools.text.tokens import tokens

LEAD = re.compile(
    r"^\W*(?:(?:yes|yeah|yep|yup|correct|right|exactly|definitely|(?:no|nope|nah)(?=\W*$|\s*[,.;:!-]|\s+(?:i|it|he|"
    r"she|they|not|thanks)\b))\b|是的|有的|对的|有(?=[\s,，。；])|没有(?=[\s,，。；])|没有$|(?:是|对|不是|嗯+|不|否)(?=[\s,，。]|"
    r"$))[\s,.!;:，。！；、-]*",
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
            r"^(?:do|does) (?:you|he|she|they|(?:the|your) child|the patient) (?:have|get|feel|suffer from|notice)\s+",
            re.I,
        ),
        "",
    ),
    (
        re.compile(
            r"^(?:have|has) (?:you|he|she|they|the patient|the child|your child) (?:had|got|noticed|felt)\s+", re.I
        ),
        "",
    ),
    (re.compile(r"^(?:have|has) (?:you|he|she|they|the patient|the child|your child)\s+", re.I), "having "),
    (re.compile(r"^(?:are|is|were|was) (?:you|he|she|they|the patient|the child|your child)\s+", re.I), "being "),
    (re.compile(r"^(?:is|are|was|were) there\s+(?:any\s+)?", re.I), ""),
    (re.compile(r"^(?:do|does|did|can|could|will|would|is|are|was|were|has|have) ", re.I), "that "),
)
ANY = re.compile(r"^(?:any|a|an|some)\s+", re.IGNORECASE)
ZH_ASK = re.compile(
    r"^(?:请问)?(?:您|你|患者|孩子|他|她)?(?:是否|有没有|有无|会不会|是不是)?(?:有|出现|感到|觉得)?(?=.)"
)
ZH_END = re.compile(r"(?:吗|呢|么)?\s*[?？。]*$")
AND = re.compile(r"^(?:and|but|though|和|而且|但是?)\b[\s,]*", re.IGNORECASE)
NOTHING = re.compile(
    r"(?:\b(?:i|we|it|he|she|they|there)(?:'m| am)? ?(?:do|does|don't|doesn't|have|has|haven't|hasn't|am|is|are|isn't|"
    r"aren't|did|didn't|was|wasn't|not|does not|do not|has not|have not|is not|are not)\b|"
    r"\bnot? (?:really|at all)|\b(?:thanks?|please|doctor|yes|no|sure)\b|有|没有?|会|不会?|是|一点|的|过|了|呀|啊|\W)*",
    re.IGNORECASE,
)
BASE_VERB = re.compile(
    r"\b(get|feel|spread|come|hurt|start|last|wake|move|happen|ease|improve|worsen|stop|look|swell|itch|bleed|"
    r"radiate|change|keep|make|burn|ache|shoot)\b",
    re.I,
)


class Reply(NamedTuple):
    """An answer: the finding that it settles, how the case states it, and what else was said.

    The finding's clause is the sentence by which the case states a yes or a no; else the reply, without its stop.
    """

    finding: Finding
    statement: str


def read_reply(message: str, asked: AskedQuestion) -> Reply | None:
    """The answer to our question; None when the message is something else (a question, a statement, courtesy).

    Of numbered answers the first is read: one question is pending.
    """
    numbered = FIRST.match(message)
    text = (numbered["first"] if numbered else message).strip()
    if not text or any(is_question(p) and p.endswith(("?", "？")) for p in parts(text)):
        return None
    for read in (_unsure, _place, _yes_or_no, _restated, _measured, _value):
        reply = read(text, asked)
        if reply is not None:
            return reply
    return None


def _reply(text: str, asked: AskedQuestion, present: bool | None, statement: str) -> Reply:
    return Reply(
        Finding(id=asked.finding, name=_noun(topic(asked.text)), clause=text.rstrip(" .。"), present=present), statement
    )


def _stated(asked: AskedQuestion, present: bool, rest: str) -> Reply:
    """A plain yes or no: the case says so in a sentence, and the finding names it, so that it is not read again."""
    said = _worded(asked, present)
    reply = _reply(said, asked, present, join(said, rest))
    return reply._replace(finding=reply.finding.model_copy(update={"clause": said}))


def _unsure(text: str, asked: AskedQuestion) -> Reply | None:
    """Not known: the case says nothing of it, only what else is told."""
    match = UNSURE.match(text)
    if match is None:
        return None
    rest = AND.sub("", text[match.end() :].strip(" ,.;，。；")).strip()
    return _reply(text, asked, None, rest if _names_another(rest, asked) else "")


def _yes_or_no(text: str, asked: AskedQuestion) -> Reply | None:
    present = False if NO.match(text) else True if YES.match(text) else None
    if present is None:
        return None
    rest = AND.sub("", LEAD.sub("", text, count=1)).strip()
    rest = "" if NOTHING.fullmatch(rest) else rest
    if asks_value(asked.text):
        return _value(rest, asked) or _reply(text, asked, None, rest)
    return _stated(asked, present, rest)


def _place(text: str, asked: AskedQuestion) -> Reply | None:
    """Where it hurts: the places that are named, or that there is no pain."""
    if not ASKS_PLACE.search(asked.text) or not _short(text):
        return None
    told = places_of(AND.sub("", LEAD.sub("", text, count=1)))
    if told:
        return _reply(text, asked, True, "".join(told) if language_of(text) == "zh" else " ".join(told))
    return _reply(text, asked, False, "") if NOWHERE.match(text) or NO.match(text) else None


def _measured(text: str, asked: AskedQuestion) -> Reply | None:
    """A number for something that people measure at home."""
    found = read_measurement(text, asked.text) if _short(text) else None
    return None if found is None else _reply(text, asked, found.present, found.statement)


def _restated(text: str, asked: AskedQuestion) -> Reply | None:
    """``no fever at all``, ``she does have a fever``: nothing but what the question asks about."""
    told = clauses(text)
    words = set(tokens(" ".join(c.plain for c in told)))
    if asks_value(asked.text) or len(told) != 1 or not words or not words <= set(tokens(asked.text)):
        return None
    present = told[0].present
    return _reply(text, asked, None, "") if present is None else _stated(asked, present, text)


def _value(text: str, asked: AskedQuestion) -> Reply | None:
    """A number, side or time for a question that asks for one; degrees for a question about fever."""
    courteous = COURTEOUS.search(text) and sorted_as(text).best is Sort.COURTESY
    if not _short(text) or courteous or _names_another(text, asked):
        return None
    degrees = CELSIUS.search(text)
    if degrees and TEMPERATURE.search(asked.text):
        value = float(f"{degrees[1]}.{degrees[2] or 0}")
        present = True if value >= FEVER else False if value < NO_FEVER else None
        name = "体温" if language_of(asked.text) == "zh" else "Temperature "
        return _reply(text, asked, present, text if TEMPERATURE.search(text) else name + text)
    named = not ASKS_PLACE.search(asked.text)  # a place is read by its name alone: "sum up" is none
    if named and asks_value(asked.text) and gives_value(text, asked.text):
        return _reply(text, asked, True, join(asked.text.strip(), text))
    return None


def _names_another(text: str, asked: AskedQuestion) -> bool:
    """Whether a text tells of a complaint that the question does not ask about."""
    rest = " ".join(c.plain for c in clauses(text) if not set(tokens(c.plain)) <= set(tokens(asked.text)))
    for value in (NUMBERS, SIDES, TIMES):
        rest = value.sub(" ", rest)
    named = re.search(r"[^\W\d_]{4}|[\u4e00-\u9fff]", rest)
    return named is not None and not TEMPERATURE.search(rest) and sorted_as(rest).best is Sort.CASE


def _worded(asked: AskedQuestion, present: bool) -> str:
    about = topic(asked.text)
    if language_of(asked.text) == "zh":
        return f"有{about}。" if present else f"没有{about}。"
    about = re.sub(r"\byou\b", "they", re.sub(r"\byour\b", "the", about, flags=re.I), flags=re.I)
    return f"Reports {about}." if present else f"Denies {about}."


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
    return ANY.sub("", text)


def _noun(about: str) -> str:
    return re.sub(r"^(?:that|being|having) ", "", about)


def _short(text: str) -> bool:
    return len(text) <= SHORT_ZH if language_of(text) == "zh" else len(text.split()) <= SHORT
