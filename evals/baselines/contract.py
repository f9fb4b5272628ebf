"""What a segmenter is: spans of a text with exact offsets, at its own size or at a given number of parts."""

from __future__ import annotations

from itertools import pairwise
from typing import Protocol, runtime_checkable

from prompts.errors import InputError
from tools.encoders import Encoder
from tools.text.sentences import Span

SPECIAL = 2  # code: a BERT encoder adds one token before and one after a text


class Segmenter(Protocol):
    """Cuts a text."""

    def __call__(self, text: str, title: str, encoder: Encoder, count: int | None = None) -> list[Span]:
        """Spans in order, none empty: ``text[span.start:span.end]`` is the passage, exactly.

        Args:
            title: put before each passage when it is embedded; it counts towards what the encoder reads.
            encoder: its tokens and vectors are used.
            count: parts wanted instead of the segmenter's own size; without overlap. A text with fewer places to
                cut gives fewer.
        """


@runtime_checkable
class Leading(Protocol):
    """A segmenter that puts a sentence of the text before some of its passages when they are searched."""

    def led(self, text: str, title: str, encoder: Encoder) -> list[tuple[Span, Span | None]]:
        """The passages that a call gives, each with the sentence before it, or None."""


def pieces(segmenter: Segmenter, text: str, title: str, encoder: Encoder) -> list[tuple[Span, Span | None]]:
    """The passages of a text, each with the sentence that is read before it, or None."""
    if isinstance(segmenter, Leading):
        return segmenter.led(text, title, encoder)
    return [(span, None) for span in segmenter(text, title, encoder)]


def trimmed(text: str, start: int, end: int) -> Span:
    """The span without the white space at its ends."""
    piece = text[start:end]
    return Span(start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip()))


def between(text: str, starts: list[int]) -> list[Span]:
    """The spans that begin at these places and end at the next; those of white space alone are left out."""
    edges = [*starts, len(text)]
    found = (trimmed(text, start, end) for start, end in pairwise(edges))
    return [span for span in found if span.start < span.end]


def checked_count(count: int | None) -> None:
    """Raise InputError for a number of parts below one."""
    if count is not None and count < 1:
        raise InputError(f"A text cannot be cut into {count} parts.", "Ask for one part or more.")
