"""Corrections of a case: the later statement stays, what it contradicts goes."""

from __future__ import annotations

import re

from graphs.triage.questions import parts
from tools.text.clauses import Clause, clauses
from tools.text.language import language_of
from tools.text.tokens import tokens

LEAD = re.compile(
    r"^\W*(?:(?:no(?=\s*[,.:;!-]|\s+(?:it|the|i|he|she|my|sorry|wait)\b)|sorry|oops|wait|hang on|hold on|well|"
    r"my mistake|apologies|actually|correction|i meant|i mean|i should have said|"
    r"i got that wrong|i (?:was|am) (?:wrong|mistaken)|"
    r"that(?:'s| is| was) (?:wrong|not right)|scratch that|not quite|to be (?:exact|"
    r"precise))\b[\s,.:;!-]+)+(?:it(?:'s| is| was)\s+)?|"
    r"^\W*(?:不对|不是的?|说错了|我说错了|搞错了|更正(?:一下)?|其实是?|抱歉|应该是|准确地?说)[\s，,。:：;；]*(?:是|"
    r"应该是)?|^(?:她|他|我|患者|病人)(?:其实|实际上|应该)是?",
    re.IGNORECASE,
)
TAIL = re.compile(
    r"[\s,.;，。；-]+(?:i (?:was|am) (?:wrong|mistaken)|my mistake|i got (?:that|it) wrong|"
    r"我?(?:刚才)?(?:说错|搞错|弄错)了)\W*$",
    re.IGNORECASE,
)
# A message that says no more than an age.
AGE_ONLY = re.compile(
    r"^\W*(?:(?:he|she|i)(?:'s|'m| is| am)|the patient is) (?:actually |really |only )?\d{1,3}(?: years? old)?\W*$|"
    r"^(?:她|他|我|患者)(?:是|今年|其实|只有)*\d{1,3} ?岁\W*$",
    re.IGNORECASE,
)
PLAIN_NO = re.compile(
    r"^\W*(?:(?:no(?=\s*[,.:;!-]|\s+(?:it|the|i|he|she|my)\b)|well)\b|不是的?)[\s,.:;!，。-]*", re.IGNORECASE
)
SIDE = re.compile(r"\b(left|right)\b(?:[- ](?:hand )?(?:side of (?:my|his|her|the) )?([a-z]+))?", re.IGNORECASE)
SIDE_ZH = re.compile(r"([左右])(?:侧|边)?(?:的)?([\u4e00-\u9fff])?")
OTHER_SIDE = {"left": "right", "right": "left", "左": "右", "右": "左"}
COUNT = r"(?:\d+(?:\.\d)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|several|few)"
SPAN = re.compile(rf"\b({COUNT}) (minute|hour|day|night|week|month|year)s?\b(?! ?-?old)", re.IGNORECASE)
SPAN_ZH = re.compile(r"([一二两三四五六七八九十半几\d]+) ?个?(分钟|小时|天|日|周|星期|月|年)")
AGE = re.compile(
    r"\b(\d{1,3})(?=[- ]?(?:years?[- ]old|yo\b|y/o\b|[MF]\b))|(?<=I'm )(\d{1,3})\b|(\d{1,3})(?= ?岁)|"
    r"(?<=I am )(\d{1,3})\b|(?<=[Hh]e is )(\d{1,3})(?=\W*$|[,.;])|(?<=[Hh]e's )(\d{1,3})(?=\W*$|[,.;])|"
    r"(?<=actually )(\d{1,3})(?=\W*$|[,.;])"
)
INSTEAD = re.compile(
    r"(?:(?:it|he|she|i)(?:'s|'m| is| was| am) )?(?:the |my |a )?([\w .'-]{1,40}?),? (?:and )?not (?:the |my |"
    r"a )?([\w '-]{1,40}?)\W*$",
    re.IGNORECASE,
)
INSTEAD_ZH = re.compile(r"(?:是)?([\u4e00-\u9fff\d.]{1,12})[，,]?(?:而)?不是([\u4e00-\u9fff\d.]{1,12})\W*$")
GENERIC = frozenset(
    tokens("have got getting feel feeling now also actually still bit little much day days week weeks since more like")
)
TIDY = (
    (re.compile(r"\s+([,.;，。；])"), r"\1"),
    (re.compile(r"([,;，；])(?:\s*(?:and|or|but)?\s*[,;，；])+"), r"\1"),
    (re.compile(r"[,;，；]\s*(?:and|or|but)?\s*([.。])"), r"\1"),
    (re.compile(r"(?:(?<=[.。])|^)\s*(?:and|or|but)?\s*[,.;，。；]+\s*"), " "),
    (re.compile(r"\s+(?:and|or|but)\s*([.。])"), r"\1"),
    (re.compile(r" {2,}"), " "),
)


def is_correction(message: str, case: str, *, asked: bool = False) -> bool:
    """Whether a message takes back something that the case says. ``asked``: a question of ours waits for its answer,
    so that a plain "no" is one unless the message names another side, time or age."""
    if not case:
        return False
    if _instead(case, message) != case or TAIL.search(message):
        return True
    if AGE_ONLY.match(message) and _age(case, message) != case:
        return True
    if LEAD.match(message) is None:
        return False
    plain_no = PLAIN_NO.match(message)
    if plain_no is None or LEAD.sub("", message, count=1) != message[plain_no.end() :]:
        return True
    revised = _replaced(case, body(message))
    return revised != case or (not asked and _without(case, body(message), both=True) != case)


def body(message: str) -> str:
    """A correction without its first words: ``no, the left knee`` -> ``the left knee``."""
    return TAIL.sub("", LEAD.sub("", message.strip(), count=1)).strip() or message.strip()


def correct(case: str, message: str) -> str:
    """The case with what the message contradicts replaced or removed, and the message's own statement at its end."""
    statement = body(message)
    revised = _without(_replaced(case, statement), statement, both=True)
    return revised if _told(revised, statement) else join(revised, statement)


def add(case: str, text: str) -> str:
    """The case with more text; what is now present is no longer denied."""
    if not case or _told(case, text):
        return case or text.strip()
    return join(_without(case, text, both=False), text)


def _told(case: str, text: str) -> bool:
    """Whether every sentence of the text stands in the case already."""
    known = {same(part) for part in parts(case)}
    return all(same(part) in known for part in parts(text))


def same(text: str) -> str:
    """A text as it is compared: lower case, without spaces and closing marks."""
    return re.sub(r"[\s.!?;,。！？；，]+", "", text).lower()


def join(case: str, text: str) -> str:
    """The case and a further statement as one text."""
    case, text = case.strip(), text.strip()
    if not case or not text:
        return case or text
    stop = "。" if language_of(case) == "zh" else "."
    gap = "" if stop == "。" else " "
    closed = case if case.endswith((".", "!", "?", "。", "！", "？")) else case + stop
    ended = text if text.endswith((".", "!", "?", "。", "！", "？")) else text + stop
    return closed + gap + (ended if gap == "" else ended[0].upper() + ended[1:])


def _replaced(case: str, statement: str) -> str:
    for swap in (_instead, _sides, _spans, _age):
        case = swap(case, statement)
    return case


def _instead(case: str, statement: str) -> str:
    for pattern in (INSTEAD, INSTEAD_ZH):
        match = pattern.search(statement)
        if match:
            old = re.escape(match[2].strip())
            edges = (r"(?<!\w)", r"(?!\d)" if old[-1].isdigit() else r"\b") if pattern is INSTEAD else ("", "")
            return re.sub(edges[0] + old + edges[1], match[1].strip().replace("\\", ""), case, flags=re.IGNORECASE)
    return case


def _sides(case: str, statement: str) -> str:
    for pattern in (SIDE, SIDE_ZH):
        told = {(m[1].lower(), (m[2] or "").lower()) for m in pattern.finditer(statement)}
        if len({side for side, _ in told}) != 1:
            continue
        nouns = {noun for _, noun in told}
        new = next(iter(told))[0]
        old = OTHER_SIDE[new]
        stated = [m for m in pattern.finditer(case) if m[1].lower() == old]
        same = [m for m in stated if (m[2] or "").lower() in nouns] or stated
        for match in reversed(same):
            word = new.capitalize() if match[1][0].isupper() else new
            case = case[: match.start(1)] + word + case[match.end(1) :]
    return case


def _spans(case: str, statement: str) -> str:
    for pattern in (SPAN, SPAN_ZH):
        told, stated = pattern.search(statement), list(pattern.finditer(case))
        if told is None or not stated:
            continue
        alike = [m for m in stated if m[2].lower() == told[2].lower()]
        target = alike[0] if alike else stated[0] if len(stated) == 1 else None
        if target is not None:
            case = case[: target.start()] + told[0] + case[target.end() :]
    return case


def _age(case: str, statement: str) -> str:
    told, stated = AGE.search(statement), AGE.search(case)
    return case[: stated.start()] + told[0] + case[stated.end() :] if told and stated else case


def _without(case: str, statement: str, *, both: bool) -> str:
    """The case without clauses that the statement contradicts; only denials go unless ``both``."""
    now = [(frozenset(tokens(c.plain)) - GENERIC, c.present) for c in clauses(statement)]
    for clause in reversed(clauses(case)):
        if (both or clause.present is False) and any(_contradicts(words, present, clause) for words, present in now):
            case = case[: clause.start] + case[clause.end :]
            for pattern, into in TIDY:
                case = pattern.sub(into, case)
    return case.strip()


def _contradicts(words: frozenset[str], present: bool | None, clause: Clause) -> bool:
    if present is None or clause.present is None or present == clause.present or clause.normal or clause.other:
        return False
    told = frozenset(tokens(clause.plain)) - GENERIC
    return bool(words) and bool(told) and (words <= told or told <= words)
