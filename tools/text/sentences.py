"""Sentences with exact offsets, English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from tools.text.language import HAN, language_of
from tools.text.sentence_ends import ABBREVIATIONS, adjusted

CHINESE_END = re.compile(r"[^。！？；\n]*[。！？；]+[”’」』）】》\"']*|[^。！？；\n]+")
LATIN_END = re.compile(r"(?<=[a-z]{3})[.!?](?=\s+[A-Z\u4e00-\u9fff])")  # a sentence in English within Chinese
LINE = re.compile(r"[^\n]+")
LABEL = re.compile(
    r"[-*•#]+\s+|[A-Z][A-Z /&]{3,40}:\s+"
    r"|(?:Background|Introduction|Objectives?|Aims?|Purpose|Methods?|Design|Results?|Findings|Conclusions?|Interpretation):\s+"
)  # list marks, and labels of structured abstracts
KEPT = 1024  # ours: texts whose sentences are remembered; a turn asks again for those of its case and evidence


class Span(NamedTuple):
    """Characters ``start`` to ``end`` of a text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The slice of the text."""
        return text[self.start : self.end]


def split_sentences(text: str) -> Iterator[Span]:
    """The sentences of a text in order, without surrounding white space; nothing is remembered.

    A line break always ends a sentence. English goes through nupunkt, to which medicine's abbreviations are told;
    what it still gets wrong is in `sentence_ends`. Chinese lines are cut at their own punctuation.
    ``text[s.start:s.end]`` is the sentence, exactly.
    """
    for line in LINE.finditer(text):
        words = line[0]
        chinese = HAN.search(words) is not None and language_of(words) == "zh"
        start = 0
        for end in _chinese(words) if chinese else _english(words):
            piece = words[start:end]
            if piece.strip():
                lead = len(piece) - len(piece.lstrip())
                yield Span(line.start() + start + lead, line.start() + start + len(piece.rstrip()))
            start = end


@lru_cache(maxsize=KEPT)
def sentences(text: str) -> tuple[Span, ...]:
    """What `split_sentences` gives, remembered: for texts of a turn that are asked for again and again."""
    return tuple(split_sentences(text))


def unlabelled(text: str, span: Span) -> Span:
    """A sentence without the list mark or the label of an abstract's section that it begins with."""
    label = LABEL.match(text, span.start, span.end)
    return Span(label.end(), span.end) if label is not None else span


def _chinese(line: str) -> list[int]:
    return sorted({m.end() for pattern in (CHINESE_END, LATIN_END) for m in pattern.finditer(line)})


def _english(line: str) -> list[int]:
    return adjusted(line, [end for _, (_, end) in _splitter().tokenize_with_spans(line)])


@lru_cache(maxsize=1)
def _splitter() -> Any:
    """A splitter of our own: the one that the library shares must not learn our abbreviations."""
    from nupunkt import PunktSentenceTokenizer, load_default_model

    splitter = PunktSentenceTokenizer.from_json(load_default_model().to_json())
    splitter.add_abbreviations(list(ABBREVIATIONS))
    return splitter
