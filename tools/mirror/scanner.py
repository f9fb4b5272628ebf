"""The tokens of a query. What is no token ends up inside a word, where indexing turns it into a space."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from tools.mirror.syntax import Operator, QueryError

LONGEST = 100_000  # characters; ours: the longest published strategies have about 30,000
SIGNS = {"&": Operator.AND, "|": Operator.OR}  # PubMed User Guide, "PubMed character conversions"
WORD = re.compile(r'[^\s()\[\]"&|]+')
HISTORY = re.compile(r"#\d+")


class Kind(Enum):
    """The kinds of token."""

    OPEN = auto()
    CLOSE = auto()
    QUOTED = auto()
    TAG = auto()
    COLON = auto()
    OPERATOR = auto()
    WORD = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """A token, its text without quotes or brackets, and where it begins."""

    kind: Kind
    text: str
    at: int


def scan(query: str) -> list[Token]:
    """The tokens of a query, the last of kind END. Raises QueryError."""
    if len(query) > LONGEST:
        raise QueryError(f"The query has {len(query):,} characters, more than {LONGEST:,}", "Shorten it.", LONGEST)
    if any("\ud800" <= sign <= "\udfff" for sign in query):
        raise QueryError("The query has a broken character", "Type it again.", 0)
    text = query.replace("“", '"').replace("”", '"')
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        token, at = _next(text, at, tokens[-1].kind if tokens else Kind.OPEN)
        tokens.append(token)
    return [*tokens, Token(Kind.END, "", len(text))]


def _next(text: str, at: int, before: Kind) -> tuple[Token, int]:
    """The token that begins at ``at``, and where the next may begin."""
    sign = text[at]
    if sign in "()":
        return Token(Kind.OPEN if sign == "(" else Kind.CLOSE, sign, at), at + 1
    if sign == '"':
        return _closed(text, at, '"', Kind.QUOTED, "A quotation mark is not closed")
    if sign == "[":
        return _closed(text, at, "]", Kind.TAG, "A square bracket is not closed")
    if sign == "]":
        raise QueryError("A square bracket closes nothing", "Write tags as [tiab].", at)
    if sign in SIGNS:
        return Token(Kind.OPERATOR, SIGNS[sign].value, at), at + 1
    if sign == ":" and before in (Kind.TAG, Kind.QUOTED):
        return Token(Kind.COLON, sign, at), at + 1
    return _word(text, at)


def _word(text: str, at: int) -> tuple[Token, int]:
    match = WORD.match(text, at)
    word = match[0] if match else text[at]
    if HISTORY.fullmatch(word):
        raise QueryError(f"{word} names an earlier search, which is not kept here", "Write the search out.", at)
    kind = Kind.OPERATOR if word in Operator.__members__ else Kind.WORD
    return Token(kind, word, at), at + len(word)


def _closed(text: str, at: int, sign: str, kind: Kind, complaint: str) -> tuple[Token, int]:
    end = text.find(sign, at + 1)
    if end < 0:
        raise QueryError(complaint, f"Add {sign} where it ends.", at)
    return Token(kind, text[at + 1 : end], at), end + 1
