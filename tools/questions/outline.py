"""A document as a writer of questions reads it: its language, its headings, questions and statements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import zip_longest
from typing import NamedTuple, TypeVar

from tools.library.own import quick_sentences
from tools.questions.contract import SourceDocument
from tools.text.language import language_of
from tools.text.sentences import Span

# Orders in which a few of many stand for all: spread over a document, and in turns.
T = TypeVar("T")


def spread(items: Sequence[T]) -> list[T]:
    """All items, in an order of which every beginning is spread evenly over them: the first, that of the middle, those
    of the quarters, and so on (van der Corput's order).
    """
    bits = max(1, (len(items) - 1).bit_length())
    order = (int(format(number, f"0{bits}b")[::-1], 2) for number in range(1 << bits))
    return [items[place] for place in order if place < len(items)]


def in_turns(*sources: Iterable[T]) -> Iterator[T]:
    """The first of each, the second of each, and so on."""
    nothing = object()
    for row in zip_longest(*sources, fillvalue=nothing):
        yield from (item for item in row if item is not nothing)  # type: ignore[misc]


# Whether a document is in English, the one language in which the local writer asks.
LOOKED_AT = 4000  # ours: characters of a document by which its language is told
LEAST = 30  # ours: words below which a text says nothing of its language
# ours: share of function words that an English text has at least. Of 15,279 English web texts one in a thousand has
# fewer (lists of addresses and references); French, German and Spanish prose has 0 to 0.05
FUNCTION_SHARE = 0.06
LETTERS = re.compile(r"[^\W\d_]+")
FUNCTION_WORDS = frozenset(
    "the of and to in is are or for that with be as by this it on from can may not an at have has which was".split()
)


def is_english(document: SourceDocument) -> bool:
    """By the language that it names (en, eng, en-GB), by its letters, and by its words.

    A reader that knows no better calls whatever is not Chinese English.
    """
    named = document.language.strip().lower()
    if named and not named.startswith("en"):
        return False
    text = document.text[:LOOKED_AT]
    words = LETTERS.findall(text.lower())
    common = sum(word in FUNCTION_WORDS for word in words)
    return language_of(document.text) == "en" and (len(words) < LEAST or common >= FUNCTION_SHARE * len(words))


LINE = re.compile(r"\S[^\n]*")
HASHES = re.compile(r"#{1,6}\s+")
BULLET = re.compile(r"(?:^|\s{2,})[-*•]\s+")
HEADING_WORDS = 9  # ours: a line of more words is a statement, whatever it ends in
QUESTION_WORDS = 25  # ours: a longer question tells a story rather than asks
LEAST_WORDS = 3  # ours: a statement has a subject, a verb and something said
NO_HEADING = re.compile(r"[.;:,!]$|^[-*•(\d]|^[a-z]|https?:|@|\.{3}$")


class PieceKind(StrEnum):
    """What a piece of a text is."""

    HEADING = "heading"
    QUESTION = "question"
    STATEMENT = "statement"


class Piece(NamedTuple):
    """A piece of a text, ``text[start:end]``; its words on one line, and the heading over it."""

    kind: PieceKind
    start: int
    end: int
    words: str
    heading: str


def in_full(piece: Piece) -> str:
    """A piece with what stands over it."""
    return f"{piece.heading} {piece.words}" if piece.heading else piece.words


def outline(text: str) -> list[Piece]:
    """The pieces of a text in order. What is too short to say anything is left out."""
    lines = [Span(m.start(), m.start() + len(m[0].rstrip())) for m in LINE.finditer(text)]
    found: list[Piece] = []
    heading = ""
    for number, line in enumerate(lines):
        follows = lines[number + 1].of(text) if number + 1 < len(lines) else ""
        title = heading_of(line.of(text), follows)
        if title:
            heading = title
            kind = PieceKind.QUESTION if title.endswith("?") else PieceKind.HEADING
            found.append(Piece(kind, line.start, line.end, title, heading))
        else:
            found += _said(text, line, heading)
    return found


def heading_of(line: str, follows: str) -> str:
    """The heading that a line is, "" when it is none: marked, or short, unpunctuated and before something longer."""
    marked = HASHES.match(line)
    if marked:
        return line[marked.end() :].strip(" #*")
    words = line.split()
    short = 0 < len(words) <= HEADING_WORDS and len(line) < len(follows)
    return "" if not short or NO_HEADING.search(line) else " ".join(words).strip("*")


def _said(text: str, line: Span, heading: str) -> Iterator[Piece]:
    for part in _parts(text, line):
        for sentence in quick_sentences(text, part):
            words = " ".join(sentence.of(text).split())
            count = words.count(" ") + 1
            if count < LEAST_WORDS:
                continue
            asks = words.endswith("?") and count <= QUESTION_WORDS
            yield Piece(
                PieceKind.QUESTION if asks else PieceKind.STATEMENT, sentence.start, sentence.end, words, heading
            )


def _parts(text: str, line: Span) -> Iterator[Span]:
    """A line cut where a list is set within it."""
    start = line.start
    for mark in BULLET.finditer(text, line.start, line.end):
        if mark.start() > start:
            yield Span(start, mark.start())
        start = mark.end()
    if start < line.end:
        yield Span(start, line.end)
