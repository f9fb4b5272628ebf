"""Sentences with exact offsets."""

from __future__ import annotations

import re
import threading
from functools import lru_cache
from typing import Any, NamedTuple

from tools.text.language import language_of

_one_at_a_time = threading.Lock()  # pysbd keeps the text in hand on the segmenter: two threads would mix theirs
CHINESE_END = re.compile(r"[^。！？；\n]*[。！？；]+[”’」』）]*|[^。！？；\n]+")
LINE = re.compile(r"[^\n]+")


class Span(NamedTuple):
    """Characters ``start`` to ``end`` of a text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The slice of the text."""
        return text[self.start : self.end]


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[Span, ...]:
    """The sentences of a text in order, without surrounding white space.

    A line break always ends a sentence. English goes through pysbd, which knows abbreviations and decimals;
    Chinese is cut at its own punctuation. ``text[s.start:s.end]`` is the sentence, exactly.
    """
    spans: list[Span] = []
    chinese = language_of(text) == "zh"
    for line in LINE.finditer(text):
        pieces = _chinese(line[0]) if chinese else _english(line[0])
        spans += [Span(line.start() + s, line.start() + e) for s, e in pieces]
    return tuple(spans)


def _chinese(line: str) -> list[tuple[int, int]]:
    return [_trim(line, m.start(), m.end()) for m in CHINESE_END.finditer(line) if m[0].strip()]


def _english(line: str) -> list[tuple[int, int]]:
    pieces: list[tuple[int, int]] = []
    at = 0
    with _one_at_a_time:
        found = _segmenter().segment(line)
    for sentence in found:
        wanted = sentence.strip()
        if not wanted:
            continue
        start = line.find(wanted, at)
        if start < 0:  # the splitter changed the text: keep the rest of the line whole
            break
        pieces.append((start, start + len(wanted)))
        at = start + len(wanted)
    rest = _trim(line, at, len(line))
    return [*pieces, rest] if rest[0] < rest[1] else pieces


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


@lru_cache(maxsize=1)
def _segmenter() -> Any:
    import pysbd

    return pysbd.Segmenter(language="en", clean=False)
