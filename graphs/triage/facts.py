"""A case as facts: what each message told of the patient, and which message put something else in its place.

The messages themselves are kept as said. The case's text, which everything that reads the case is given, is made of
the facts that stand; a later message supersedes a fact, and takes no word out of what was told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tools.evidence import Frozen
from tools.text.language import language_of

ENDS = (".", "!", "?", "。", "！", "？")
BESIDE = re.compile(r" ?[A-Za-z]+|[\u4e00-\u9fff]")
Characters = tuple[int, int]


class Fact(Frozen):
    """A stretch of the case as it states it.

    Attributes:
        turn: number of the message that told it; 0 for stops and spaces between, and for a case stored without facts.
        span: the characters of that message that say so; the whole of it where we put its meaning into words.
        by: number of the message that superseded it; None while it stands. now: what is so since, "" for nothing.
    """

    text: str
    turn: int = 0
    span: Characters | None = None
    by: int | None = None
    now: str = ""

    def part(self, start: int, end: int) -> Fact:
        """Some of its characters."""
        span = self.span
        if span is not None and span[1] - span[0] == len(self.text):
            span = span[0] + start, span[0] + end
        return self.model_copy(update={"text": self.text[start:end], "span": span})


class Edit(NamedTuple):
    """Characters of the case's text and the fact in their place; ``now``: what is so since, if it stands elsewhere."""

    at: Characters
    put: Fact = Fact(text="")
    now: str = ""


def fact_of(message: str, turn: int, text: str = "", at: Characters | None = None) -> Fact:
    """What message ``turn`` says at a place, in ``text``; where no place is given, wherever its own words say so."""
    start = message.find(text)
    at = at or ((start, start + len(text)) if text and start >= 0 else (0, len(message)))
    return Fact(text=text or message[slice(*at)], turn=turn, span=at if turn else None)


def facts_of(message: str, turn: int = 0) -> tuple[Fact, ...]:
    """A message as the one fact that it is until something of it is put right."""
    return (fact_of(message, turn),) if message else ()


def text_of(facts: Iterable[Fact]) -> str:
    """What the facts that stand come to."""
    return "".join(f.text for f in facts if f.by is None)


def extend(facts: tuple[Fact, ...], more: Sequence[Fact]) -> tuple[Fact, ...]:
    """The facts with further statements behind them, each ended by a stop."""
    case, said = text_of(facts), text_of(more)
    if not case or not said:
        return (*facts, *more)
    chinese = language_of(case) == "zh"
    stop, gap = ("。", "") if chinese else (".", " ")
    first, *rest = more
    if not chinese:
        first = first.model_copy(update={"text": first.text[0].upper() + first.text[1:]})
    between = Fact(text="" if language_of(said) == "zh" else " ")
    new = [Fact(text=("" if case.endswith(ENDS) else stop) + gap), first]
    new += [part for fact in rest for part in (between, fact)]
    return (*facts, *(f for f in new if f.text), *([] if said.endswith(ENDS) else [Fact(text=stop)]))


def join(case: str, text: str) -> str:
    """The case and a further statement as one text."""
    return text_of(extend(facts_of(case.strip()), facts_of(text.strip())))


def supersede(facts: Iterable[Fact], edits: Iterable[Edit], by: int | None) -> tuple[Fact, ...]:
    """The facts with each edit's in the place of its characters, which message ``by`` supersedes.

    The edits are in order. ``by`` None: what goes says nothing of the patient and is not kept as superseded.
    """
    out: list[Fact] = []
    waiting, begun = sorted(edits, key=lambda e: e.at)[::-1], 0
    for fact in facts:
        if fact.by is not None:
            out.append(fact)
            continue
        at, size = 0, len(fact.text)
        while waiting and waiting[-1].at[0] - begun < size:
            (start, end), put, now = waiting[-1]
            start, end = max(start - begun, at), min(end - begun, size)
            gone = fact.part(start, end).model_copy(update={"by": by, "now": now or put.text})
            out += [fact.part(at, start), *([gone] if by not in (None, fact.turn) else [])]
            at = end
            if waiting[-1].at[1] - begun > size:
                break  # it goes on in the next fact
            out.append(put)
            waiting.pop()
        out.append(fact.part(at, size) if at else fact)
        begun += size
    return tuple(f for f in out if f.text)


def changes_in(facts: Sequence[Fact], by: int | None = None) -> tuple[Fact, ...]:
    """What was put right, or by one message alone, in the order of the case, each with the word behind it."""
    found, text, at = [], text_of(facts), 0
    for fact in facts:
        if fact.by is None:
            at += len(fact.text)
        elif by in (None, fact.by) and any(map(str.isalnum, fact.text)):
            beside = BESIDE.match(text, at + len(fact.now)) if text.startswith(fact.now, at) else None
            more = beside[0] if beside else ""
            found.append(fact.model_copy(update={"text": fact.text + more, "now": fact.now and fact.now + more}))
    return tuple(found)
