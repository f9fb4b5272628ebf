"""Answers to the question that we asked: yes, no, not sure, a place, a value, and what else the message says."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from graphs.triage.contract import AskedQuestion
from graphs.triage.facts import Findings, join
from tools.contract import Finding
from tools.reading.messages import Sort, sorted_as
from tools.reading.replacing import sort_names, words_of
from tools.text.body_sites import sites
from tools.text.clauses import clauses
from tools.text.language import language_of
from tools.text.measures import readings
from tools.text.questions import is_question, parts
from tools.text.tokens import tokens
from tools.yaml_files import read_patterns

FORMS = Path(__file__).with_name("replies.yaml")
FEVER, NO_FEVER = 38.0, 37.5  # degrees Celsius; common clinical limits
SHORT = 12  # words; ours: a longer message tells more than an answer
SHORT_ZH = 20  # characters; ours
HEADS = (("has_head", ""), ("having_head", "having "), ("being_head", "being "), ("that_head", "that "))
# what a question asks to be measured, and how its number is written for the reader of values
MEASURED = (("oxygen", "SpO2 {}"), ("pressure", "BP {}"), ("pulse", "HR {}"), ("breathing", "RR {}"))
DEGREE_ZH = {"低": "low", "高": "high", "快": "fast", "慢": "slow"}


class Reply(NamedTuple):
    """An answer: the finding that it settles, how the case states it, and what else was said.

    The finding's clause is the sentence by which the case states a yes or a no; else the reply, without its stop.
    """

    finding: Finding
    statement: str


@lru_cache(maxsize=1)
def forms() -> dict[str, re.Pattern[str]]:
    """How people answer."""
    return read_patterns(FORMS)


def is_courteous(text: str) -> bool:
    """Whether a text holds a word that only courtesy does."""
    return forms()["courteous"].search(text) is not None


def says_yes(text: str) -> bool:
    """Whether a reply begins with a yes."""
    return forms()["yes"].match(text) is not None


def read_reply(message: str, asked: AskedQuestion, findings: Findings | None = None) -> Reply | None:
    """The answer to our question; None when the message is something else (a question, a statement, courtesy).

    Of numbered answers the first is read: one question is pending. ``findings`` gives ids of what a text states; a yes
    before another finding than the one that is asked about is no yes to it.
    """
    numbered = forms()["first"].match(message)
    text = (numbered["first"] if numbered else message).strip()
    if not text or any(is_question(p) and p.endswith(("?", "？")) for p in parts(text)):
        return None
    for read in (_unsure, _place, _yes_or_no, _restated, _measured, _value):
        reply = read(text, asked)
        if reply is not None:
            return _of_another(reply, text, asked, findings)
    return None


def _of_another(reply: Reply, text: str, asked: AskedQuestion, findings: Findings | None) -> Reply:
    """The reply, or what it tells where its yes goes on with another finding: "yes, her eyes bulge" of irritability."""
    if not (reply.finding.present and findings and forms()["yes"].match(text)) or _asks_value(asked):
        return reply
    rest = forms()["head"].sub("", text, count=1).strip()
    if forms()["besides"].match(rest) or not any(map(str.isalnum, rest)) or set(tokens(rest)) & set(tokens(asked.text)):
        return reply
    stated = findings(forms()["along"].sub("", rest))
    return _reply(text, asked, None, rest) if stated and asked.finding not in stated else reply


def _reply(text: str, asked: AskedQuestion, present: bool | None, statement: str) -> Reply:
    name = re.sub(r"^(?:that|being|having) ", "", topic(asked.text))
    return Reply(Finding(id=asked.finding, name=name, clause=text.rstrip(" .。"), present=present), statement)


def _stated(asked: AskedQuestion, present: bool, rest: str) -> Reply:
    """A plain yes or no: the case says so in a sentence, and the finding names it, so that it is not read again."""
    said = _worded(asked, present)
    reply = _reply(said, asked, present, join(said, rest))
    return reply._replace(finding=reply.finding.model_copy(update={"clause": said}))


def _unsure(text: str, asked: AskedQuestion) -> Reply | None:
    """Not known: the case says nothing of it, only what else is told."""
    match = forms()["unsure"].match(text)
    if match is None:
        return None
    rest = forms()["and"].sub("", text[match.end() :].strip(" ,.;，。；")).strip()
    return _reply(text, asked, None, rest if _names_another(rest, asked) else "")


def _yes_or_no(text: str, asked: AskedQuestion) -> Reply | None:
    present = False if forms()["no"].match(text) else True if says_yes(text) else None
    if present is None:
        return None
    rest = _rest(text).strip()
    rest = "" if forms()["nothing"].fullmatch(rest) else rest
    if _asks_value(asked):
        return _value(rest, asked) or _reply(text, asked, None, rest)
    return _stated(asked, present, rest)


def _place(text: str, asked: AskedQuestion) -> Reply | None:
    """Where it hurts: the places that are named, or that there is no pain."""
    if not forms()["asks_place"].search(asked.text) or not _short(text):
        return None
    told = places_of(_rest(text))
    if told:
        return _reply(text, asked, True, "".join(told) if language_of(text) == "zh" else " ".join(told))
    nowhere = forms()["nowhere"].match(text) or forms()["no"].match(text)
    return _reply(text, asked, False, "") if nowhere else None


def _restated(text: str, asked: AskedQuestion) -> Reply | None:
    """``no fever at all``, ``she does have a fever``: nothing but what the question asks about."""
    told = clauses(text)
    words = set(tokens(" ".join(c.plain for c in told)))
    if _asks_value(asked) or len(told) != 1 or not words or not words <= set(tokens(asked.text)):
        return None
    present = told[0].present
    return _reply(text, asked, None, "") if present is None else _stated(asked, present, text)


def _measured(text: str, asked: AskedQuestion) -> Reply | None:
    """A number for something that people measure at home: a reading of the degree that is asked for shows it."""
    written = next((form for topic, form in MEASURED if forms()[topic].search(asked.text)), None)
    number = forms()["measured"].search(text)
    if written is None or number is None or not _short(text):
        return None
    told = written.format(re.sub(r"\s", "", number[0]))
    found = readings(told)
    if not found:
        return None
    degree = forms()["degree"].search(asked.text.replace("faster", "fast").replace("slowly", "slow"))
    wanted = (degree[1] or DEGREE_ZH[degree[2]]).lower() if degree else None
    present = None if wanted is None else next((r.present for r in found if wanted in r.words), False)
    rest = next((text[c.start :] for c in clauses(text) if c.start >= number.end()), "")
    return _reply(text, asked, present, join(f"{told}.", rest))


def _value(text: str, asked: AskedQuestion) -> Reply | None:
    """A number, side or time for a question that asks for one; degrees for a question about fever."""
    courteous = is_courteous(text) and sorted_as(text).best is Sort.COURTESY
    if not _short(text) or courteous or _names_another(text, asked):
        return None
    degrees, temperature = forms()["celsius"].search(text), forms()["temperature"]
    if degrees and temperature.search(asked.text):
        value = float(f"{degrees[1]}.{degrees[2] or 0}")
        present = True if value >= FEVER else False if value < NO_FEVER else None
        name = "体温" if language_of(asked.text) == "zh" else "Temperature "
        return _reply(text, asked, present, text if temperature.search(text) else name + text)
    named = not forms()["asks_place"].search(asked.text)  # a place is read by its name alone: "sum up" is none
    if named and _asks_value(asked) and _gives_value(text, asked):
        return _reply(text, asked, True, join(asked.text.strip(), text))
    return None


def places_of(text: str) -> tuple[str, ...]:
    """A statement of pain for each place that a reply names: ``chest and left arm`` -> two; () when none is named."""
    parts = [forms()["place_head"].sub("", p).strip(" .。!！") for p in forms()["between"].split(text)]
    named, hurts = [p for p in parts if p], forms()["hurts"]
    if not named or not sites(text) or not all(_is_place(p) or hurts.search(p) for p in named):
        return ()  # no list of places: what else it tells would be lost
    if language_of(text) == "zh":
        return tuple(f"{p}。" if hurts.search(p) else f"{p}疼痛。" for p in named)
    return tuple(f"{p[:1].upper()}{p[1:]}." if hurts.search(p) else f"Pain in {p}." for p in named)


def _is_place(text: str) -> bool:
    """Whether a text is the name of a place and says nothing of it: "my hand", not "my hand went numb"."""
    where = {sort_names().index(name) for name in ("site", "side", "level", "stop")}
    beside = forms()["beside_place"]
    return bool(sites(text)) and all(where & set(w.sorts) or beside.fullmatch(w.text) for w in words_of(text))


def _asks_value(asked: AskedQuestion) -> bool:
    """Whether a number, side or time answers a question, rather than yes or no."""
    return forms()["asks_value"].search(asked.text) is not None


def _gives_value(text: str, asked: AskedQuestion) -> bool:
    """Whether a text holds a value of the sort that the question asks for."""
    for asks, gives in (("asks_side", "sides"), ("asks_time", "times")):
        if forms()[asks].search(asked.text):
            return forms()[gives].search(text) is not None
    return any(forms()[name].search(text) for name in ("numbers", "sides", "times"))


def _names_another(text: str, asked: AskedQuestion) -> bool:
    """Whether a text tells of a complaint that the question does not ask about."""
    rest = " ".join(c.plain for c in clauses(text) if not set(tokens(c.plain)) <= set(tokens(asked.text)))
    for value in ("numbers", "sides", "times"):
        rest = forms()[value].sub(" ", rest)
    named = re.search(r"[^\W\d_]{4}|[\u4e00-\u9fff]", rest)
    return named is not None and not forms()["temperature"].search(rest) and sorted_as(rest).best is Sort.CASE


def _worded(asked: AskedQuestion, present: bool) -> str:
    about = topic(asked.text)
    if language_of(asked.text) == "zh":
        return f"有{about}。" if present else f"没有{about}。"
    about = re.sub(r"\byou\b", "they", re.sub(r"\byour\b", "the", about, flags=re.I), flags=re.I)
    return f"Reports {about}." if present else f"Denies {about}."


def topic(question: str) -> str:
    """What a yes-or-no question asks about: ``Do you have a fever?`` -> ``fever``."""
    if language_of(question) == "zh":
        return forms()["zh_end"].sub("", forms()["zh_head"].sub("", question.strip(), count=1)) or question
    text = question.strip().rstrip("?").strip()
    for name, lead in HEADS:
        rest = forms()[name].sub("", text, count=1)
        if rest != text:
            rest = forms()["verb"].sub(r"\1s", rest, count=1) if text.lower().startswith("does ") else rest
            return lead + forms()["any"].sub("", rest)
    return forms()["any"].sub("", text)


def _rest(text: str) -> str:
    """A reply without its yes or no."""
    return forms()["and"].sub("", forms()["head"].sub("", text, count=1))


def _short(text: str) -> bool:
    return len(text) <= SHORT_ZH if language_of(text) == "zh" else len(text.split()) <= SHORT
