"""A document as a writer of questions reads it: headings, questions that stand in the text, statements with places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from tools.library.own import quick_sentences
from tools.text.sentences import Span

LINE = re.compile(r"\S[^\n]*")
HASHES = re.compile(r"#{1,6}\s+")
BULLET = re.compile(r"(?:^|\s{2,})[-*•]\s+")
HEADING_WORDS = 9  # ours: a line of more words is a statement, whatever it ends in
QUESTION_WORDS = 25  # ours: a longer question tells a story rather than asks
LEAST_WORDS = 3  # ours: a statement has a subject, a verb and something said
NO_HEADING = re.compile(r"[.;:,!]$|^[-*•(\d]|^[a-z]|https?:|@|\.{3}$")


class Kind(StrEnum):
    """What a piece of a text is."""

    HEADING = "heading"
    QUESTION = "question"
    STATEMENT = "statement"


class Piece(NamedTuple):
    """A piece of a text, ``text[start:end]``; its words on one line, and the heading over it."""

    kind: Kind
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
            kind = Kind.QUESTION if title.endswith("?") else Kind.HEADING
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
            yield Piece(Kind.QUESTION if asks else Kind.STATEMENT, sentence.start, sentence.end, words, heading)


def _parts(text: str, line: Span) -> Iterator[Span]:
    """A line cut where a list is set within it."""
    start = line.start
    for mark in BULLET.finditer(text, line.start, line.end):
        if mark.start() > start:
            yield Span(start, mark.start())
        start = mark.end()
    if start < line.end:
        yield Span(start, line.end)
