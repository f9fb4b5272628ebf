"""Which characters of a message do not describe the here and now: negated, past, hypothetical, or general knowledge."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from tools.text.language import HAN
from tools.text.negation import LASTING, PAST, VERBAL, ZH_NEGATION, ZH_PSEUDO, negations


class Guarded(NamedTuple):
    """Characters in which a match does not count, and why (``negated``, ``past``, ``general``)."""

    start: int
    end: int
    why: str


# ours: ends of sentences; a stop between digits (37.5) is none
SENTENCE = re.compile(r"(?:[^.!?;\n。！？；]|(?<=\d)\.(?=\d)|\.(?=\w))+[.!?;\n。！？；]*")
CLAUSE = re.compile(
    r"[,，、:：()（）]|\s[-–—]\s|\b(?:but|however|though|although|yet|except|because|whereas)\b|"
    r"\band (?=(?:now|today|then|his|her|my|their|its|he|she|it|i|i'm|i've|we|they|is|has|have|can't|cannot|am|are)\b)|"
    r"\bnow\b|但是?|可是|不过|现在|今天|而且|并且",
    re.IGNORECASE,
)
COMMA = re.compile(r"^[,，、]$")
LISTING = re.compile(r"\b(?:denie[sd]|denying|negative for|nor|neither)\b|否认", re.IGNORECASE)
OR = re.compile(r"^\s*(?:or|nor|and no)\b|\bor\b|或", re.IGNORECASE)

# ours: somebody in particular, and the moment
PERSONAL = re.compile(
    r"\b(?:i|i'm|i've|i'd|im|ive|me|my|myself|we|we're|our|us|he|he's|him|his|she|she's|her|hers|"
    r"mum|mom|dad|mother|father|husband|wife|son|daughter|baby|grand\w+|nan|partner|boyfriend|girlfriend|brother|"
    r"sister|"
    r"this (?:man|woman|patient|lady|boy|girl|child)|\d{1,3} ?[mf])\b|我|他|她|咱|俺|妈|爸|爷|奶奶|孩子|宝宝|丈夫|"
    r"妻子|老公|老婆|儿子|女儿|患者|岁",
    re.IGNORECASE,
)
MOMENT = re.compile(
    r"\b(?:now|right now|just (?:now|started|happened)|today|tonight|this (?:morning|afternoon|evening)|"
    r"(?:minutes?|hours?) ago|help|urgent\w*|currently|at the moment|since)\b|现在|刚才|刚刚|救命|正在|今天|今晚",
    re.IGNORECASE,
)
ASKING = re.compile(
    r"^\W*(?:so |and |but |please |hi,? |hello,? )*(?:what|which|how|when|why|who|where|is|are|do|does|did|can|"
    r"could|should|"
    r"will|would|has|have|tell me|explain|describe|list|define|name)\b",
    re.IGNORECASE,
)
# Words of someone who wants to know about a thing, not of someone who has it.
TEXTBOOK = re.compile(
    r"\b(?:(?:warning |typical |early |classic |common |main )*(?:signs?|symptoms?|features|causes?|definition|"
    r"risk factors?|"
    r"complications|types|stages|pathophysiology|mechanism|prevalence|epidemiology|statistics|"
    r"rates?) (?:and \w+ )?(?:of|for)|"
    r"how (?:is|are) [\w' -]+ (?:diagnosed|treated|managed|prevented|defined|caused)|difference between|"
    r"what (?:is|are|causes?) (?:an? |the )?(?:\w+ ){1,4}\?|for (?:my|an|the) (?:exam|essay|talk|homework|novel|"
    r"story|course)|"
    r"guidelines?|trials?|meta-analys\w+|reduces? (?:the )?(?:risk|mortality))\b|"
    r"的(?:典型|早期|常见|主要)?(?:症状|表现|体征|原因|病因|定义|区别|机制|诊断标准|并发症|发病率)|有什么区别|"
    r"有哪些|如何(?:诊断|预防|治疗|鉴别)|考试|是什么病",
    re.IGNORECASE,
)
HYPOTHETICAL = re.compile(
    r"\b(?:what if|what (?:should|do|would|can) (?:i|we|you|one|someone|people) do (?:if|when)|"
    r"if (?:i ever|someone|somebody|anyone|a person|people|one|you|my \w+ ever|he ever|she ever)|in case|"
    r"should i ever|scared of (?:having|getting)|worried (?:about|that) .{0,30}\b(?:could|might) (?:have|get))\b|"
    r"如果(?:有人|以后|将来|发生)|万一|假如|要是有人",
    re.IGNORECASE,
)
MORE_PAST = re.compile(
    r"\b(?:(?:\d+|a|an|one|two|three|four|five|six|seven|eight|nine|ten|several|many|few) (?:years?|"
    r"months?) (?:ago|back|earlier)|"
    r"last (?:summer|winter|spring|autumn|month)|back in|pmhx?|phx|fhx?|past history|when i was|in the past|"
    r"made a full recovery|"
    r"fully recovered|recovered (?:fully|well|completely))\b|年前|去年|前年|月前|过去|当年|得过|已经(?:好|痊愈)",
    re.IGNORECASE,
)
BEGAN = re.compile(r"\b(?:since|started|began|ever since)\b|以来|开始", re.IGNORECASE)
VIGNETTE = re.compile(
    r"^\W*(?:an? |the )(?:[\w-]+ ){0,4}(?:man|woman|patient|boy|girl|child|infant|baby|male|female|\S*-old)\b", re.I
)


def guarded(text: str, *, exam: bool = False) -> list[Guarded]:
    """The stretches of a text in which a described sign is not of now. ``exam``: a question with options."""
    found: list[Guarded] = []
    if exam and VIGNETTE.match(text):
        return [Guarded(0, len(text), "general")]
    for sentence in SENTENCE.finditer(text):
        start, end = sentence.span()
        if is_general(sentence[0]):
            found.append(Guarded(start, end, "general"))
            continue
        found += _clauses(text, start, end)
    return found


def is_general(sentence: str) -> bool:
    """Whether a sentence asks about medicine in general or imagines, rather than telling of somebody now."""
    if HYPOTHETICAL.search(sentence):
        return re.search(r"\b(?:right )?now\b|现在|正在", sentence, re.IGNORECASE) is None
    if TEXTBOOK.search(sentence) and not MOMENT.search(sentence):
        return True
    asks = ASKING.match(sentence) or sentence.rstrip().endswith(("?", "？"))
    return bool(asks) and not PERSONAL.search(sentence) and not MOMENT.search(sentence)


def _clauses(text: str, start: int, end: int) -> list[Guarded]:
    found: list[Guarded] = []
    edges = [start, *(m.end() for m in CLAUSE.finditer(text, start, end)), end]
    marks = ["", *(m[0] for m in CLAUSE.finditer(text, start, end))]
    listing = False
    for index, (left, right) in enumerate(pairwise(edges)):
        clause = text[left:right]
        if is_over(clause):
            found.append(Guarded(left, right, "past"))
        listing = listing and COMMA.match(marks[index]) is not None
        cue = _cue(clause)
        if cue is not None:
            found.append(Guarded(left + cue, right, "negated"))
            listing = LISTING.search(clause) is not None or OR.search(text[right:end]) is not None
        elif listing:
            found.append(Guarded(left, right, "negated"))
    return found


def is_over(clause: str) -> bool:
    """Whether a clause tells of the past and not of something that has lasted since."""
    if BEGAN.search(clause) or LASTING.search(clause):
        return False
    return PAST.search(clause) is not None or MORE_PAST.search(clause) is not None


def _cue(clause: str) -> int | None:
    """Where in a clause a negation ends; None without one."""
    ends = [cut.end for cut in negations(clause)]
    ends += [
        m.end() for m in VERBAL.finditer(clause) if not clause[m.end() :].lstrip().startswith(("only", "just", "sure"))
    ]
    if HAN.search(clause):
        pseudo = [m.span() for m in ZH_PSEUDO.finditer(clause)]
        ends += [m.end() for m in ZH_NEGATION.finditer(clause) if not any(s <= m.start() < e for s, e in pseudo)]
    return min(ends, default=None)
