"""Whether quotes support a statement: its words, numbers and negations against theirs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from graphs.judging.polarity import NEGATION, clauses
from tools.evidence import Evidence, Frozen, Statement
from tools.text.language import language_of
from tools.text.tokens import tokens

# A figure that stands alone: not the digits of a code (J93.1) or of a name (CA19).
NUMBER = re.compile(r"(?<![A-Za-z\d.,])\d+(?:[.,]\d+)*")
NUMBER_WORDS = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "twelve": "12", "half": "0.5", "twice": "2",
}  # fmt: skip
CODE = re.compile(r"\b[A-Z]\d\d(?:\.\w+)?\b")  # an ICD-10 code
# Words of the house's own frames around quotes; see graphs.answering.differential_answer.
FRAMES = {
    "en": "fits this case against watch also usual rare disease to consider",
    "zh": "符合本例 与本例不符 警示 通常还有",
}


class SupportSettings(Frozen):
    """Settings of the check. All ours.

    Attributes:
        words: share of a statement's words that its quotes must hold to support it outright.
        least: share from which the embeddings may make up for other wording. dense: the cosine that this needs.
    """

    words: float = 0.7
    least: float = 0.35
    dense: float = 0.6


@dataclass(frozen=True)
class Check:
    """The outcome of the checks that need no encoder: ``share`` of words held, and what disagrees ("" nothing)."""

    share: float
    disagrees: str


@lru_cache(maxsize=2)
def _frame(language: str) -> frozenset[str]:
    """Words of the frames in one language: the dictionary that cuts Chinese is not loaded for English."""
    return frozenset(tokens(FRAMES[language]))


def identical(statement: str, quotes: Sequence[str]) -> bool:
    """Whether a statement is one of its quotes, or its quotes in a row, white space and a final stop aside."""
    plain = _plain(statement)
    return any(plain == _plain(q) for q in quotes) or plain == _plain(" ".join(quotes))


def check(statement: Statement, evidence: Sequence[Evidence]) -> Check:
    """A statement against its quotes and the titles of what it cites."""
    quotes = [c.quote for c in statement.citations]
    rest = _without(statement.text, quotes)
    if identical(statement.text, quotes):
        return Check(1.0, "")
    held = {t for q in quotes for t in tokens(q)} | {t for e in evidence for t in _names(e)}
    wanted = set(tokens(CODE.sub(" ", rest))) - _frame(language_of(rest))
    share = len(wanted & held) / len(wanted) if wanted else 1.0
    if numbers(rest) - {n for q in quotes for n in numbers(q)}:
        return Check(share, "numbers")
    if any(_denies(c) != _denies(_closest(c, quotes)) for c in clauses(rest) if set(tokens(c)) & held):
        return Check(share, "negation")
    return Check(share, "")


def numbers(text: str) -> set[str]:
    """The figures in a text, number words among them, thousands separators dropped."""
    found = {m[0].replace(",", "").rstrip(".") for m in NUMBER.finditer(CODE.sub(" ", text))}
    return found | {NUMBER_WORDS[w] for w in re.findall(r"[a-z]+", text.lower()) if w in NUMBER_WORDS and w != "one"}


def _denies(text: str) -> bool:
    return len(NEGATION.findall(text)) % 2 == 1


def _closest(clause: str, quotes: Sequence[str]) -> str:
    """The clause of the quotes that shares most words with a clause."""
    wanted = set(tokens(clause))
    candidates = [c for q in quotes for c in clauses(q)] or list(quotes)
    return max(candidates, key=lambda c: len(wanted & set(tokens(c))), default="")


def _without(text: str, quotes: Sequence[str]) -> str:
    """What a statement says beside its quotes."""
    for quote in sorted(quotes, key=len, reverse=True):
        text = text.replace(quote, " ")
    return text


def _names(evidence: Evidence) -> list[str]:
    """Words of the title, and of the first line, where an entry of the graph gives its names."""
    return tokens(evidence.title) + tokens(evidence.text.split("\n", 1)[0])


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip(".。").casefold()
