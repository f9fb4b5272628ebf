"""What a statement holds for: its conditions and exceptions, against those of its quotes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from tools.text.negation import DENIES
from tools.text.tokens import tokens

VERB = (
    r"(?:is|are|was|were|has|have|had|can|cannot|may|might|must|should|will|would|do|does|did|needs?|requires?|gets?"
    r"|receives?)(?:n['’]t)?"
)
BESIDE = r"(?:in|of|to|for|from|by|at|on|as|or|and|than|within|before|after|during|because|with|without|who|when|if)"
# Where something holds, told by what comes before it; with the words that tell whether it is so or not. Ours.
CONDITION = re.compile(
    rf"\bwho\s+(?P<who>(?:{VERB}\s+)?(?:(?:not|never|also|still)\s+)?[^,;:.]*?)(?=\s(?:{VERB}|if|when|unless|without)\b|[,;:.]|$)"
    rf"|\b(?:if|when|where|once|(?P<unless>unless|except (?:for|in|if|when|where)))\s+(?P<when>[^,;:.]+)"
    rf"|\b(?:with|(?P<without>without))\s+(?:an?\s|the\s|any\s|some\s)?"
    rf"(?P<having>(?!{BESIDE}\b)[\w-]+(?:\s+(?!(?:{BESIDE}|{VERB})\b)[\w-]+){{0,2}})",
    re.IGNORECASE,
)
LACKS = re.compile(rf"{DENIES.pattern}|\b(?:without|unable|absent|free (?:of|from))\b", re.IGNORECASE)
DENIED = re.compile(
    rf"{DENIES.pattern}|\b(?:avoid\w*|contra-?indicat\w*|prohibited|unsafe|harmful|stop(?:s|ped)?|excluded?)\b",
    re.IGNORECASE,
)
# What is left out of what a statement says, and what it holds for alone.
EXCEPT = re.compile(
    r"\b(?:except(?: (?:for|in|if|when|with|that))?|unless|apart from|other than|excluding"
    r"|but not (?:in|for|with|when|if))\b"
    r"(?P<what>[^,;:.]*)",
    re.IGNORECASE,
)
ALONE = re.compile(r"\bonly (?:if|when|in|for|after|where|with|to)\b(?P<what>[^,;:.]*)", re.IGNORECASE)
SHARED = 0.6  # ours: share of the shorter one's words from which two conditions, or what holds under them, are the same
ENDS = re.compile(r"(?<=[.!?;])\s+")


class Condition(NamedTuple):
    """A condition: its words, whether it is that something is not so; and what holds under it, told in the same way."""

    words: set[str]
    lacks: bool
    main: set[str]
    denied: bool


def conditions(text: str) -> Iterator[Condition]:
    """The conditions of a text's sentences that deny one thing or none."""
    for sentence in ENDS.split(text):
        for m in CONDITION.finditer(sentence):
            what = m["who"] or m["when"] or m["having"] or ""
            lacks = len(LACKS.findall(what)) + bool(m["unless"] or m["without"])
            rest = f"{sentence[: m.start()]} {sentence[m.end() :]}"
            words, main = set(tokens(LACKS.sub(" ", what))), set(tokens(DENIED.sub(" ", rest)))
            if words and lacks < 2:
                yield Condition(words, lacks == 1, main, len(DENIED.findall(rest)) % 2 == 1)


def reconditioned(text: str, quotes: Sequence[str], held: Collection[str], asked: str = "") -> bool:
    """Whether a text holds for something else than its quotes: a condition is turned round or left out, an exception
    is made of which the words that are ``held`` tell nothing. What the asker told may be taken for granted."""
    asks = set(tokens(asked))
    if turned_condition(text, quotes) or dropped_condition(text, quotes, asks):
        return True
    return added_exception(text, {*held, *asks})


def turned_condition(text: str, quotes: Sequence[str]) -> bool:
    """Whether a text says of where something is so what its quotes say of where it is not, or the reverse."""
    held = [c for q in quotes for c in conditions(q)]
    for said in conditions(text):
        alike = [h for h in held if _alike(said.words, h.words) and _alike(said.main, h.main)]
        if alike and all(h.lacks is not said.lacks and h.denied is said.denied for h in alike):
            return True
    return False


def added_exception(text: str, held: Collection[str]) -> bool:
    """Whether a text leaves out something of which the words that are ``held`` tell nothing."""
    found = [set(tokens(m["what"])) for m in EXCEPT.finditer(text)]
    return any(words and not words & set(held) for words in found)


def dropped_condition(text: str, quotes: Sequence[str], beside: Collection[str] = ()) -> bool:
    """Whether a text says without a condition what its quotes say only under one, of which it has no word; ``beside``:
    words that the asker told."""
    own = set(tokens(text))
    if CONDITION.search(text) or EXCEPT.search(text) or DENIED.search(text) or re.search(r"\bonly\b", text, re.I):
        return False
    sentences = [s for q in quotes for s in ENDS.split(q)]
    alone = [(set(tokens(m["what"])), set(tokens(s[: m.start()]))) for s in sentences for m in ALONE.finditer(s)]
    free = any(_alike(own, set(tokens(s))) and not ALONE.search(s) for s in sentences)
    return not free and any(
        what and main and not what & (own | set(beside)) and _alike(own, main) for what, main in alone
    )


def _alike(left: set[str], right: set[str]) -> bool:
    """Whether two sets of words speak of the same: most of the shorter one's are the other's too."""
    return bool(left & right) and len(left & right) >= SHARED * min(len(left), len(right))
