"""LangChain's RecursiveCharacterTextSplitter, measured in the encoder's tokens."""

from __future__ import annotations

from dataclasses import dataclass

from evals.baselines.contract import SPECIAL, checked_count
from evals.baselines.ruler import Ruler, ruler_of
from prompts.errors import DataError
from tools.encoders import Encoder
from tools.text.sentences import Span

ROUNDS = 24  # ours: halvings of the size while a number of parts is looked for


@dataclass(frozen=True)
class Recursive:
    """Separators in the library's own order: blank line, line, word, character.

    Attributes:
        size: most tokens of a chunk; what the encoder reads where that is less.
        overlap: tokens shared by neighbours at most.
    """

    size: int
    overlap: int = 0

    def __call__(self, text: str, title: str, encoder: Encoder, count: int | None = None) -> list[Span]:
        """Chunks; for a number of parts, the size that gives the nearest number (the smaller size of two)."""
        checked_count(count)
        ruler = ruler_of(encoder)
        if count is not None:
            return self._nearest(text, ruler, count)
        room = encoder.limit - SPECIAL - ruler.count(title)
        return _split(text, ruler, min(self.size, room), self.overlap)

    def _nearest(self, text: str, ruler: Ruler, count: int) -> list[Span]:
        low, high = 1, max(1, ruler.count(text))
        best = _split(text, ruler, high, 0)
        for _ in range(ROUNDS):
            if low > high or len(best) == count:
                break
            size = (low + high) // 2
            found = _split(text, ruler, size, 0)
            if abs(len(found) - count) <= abs(len(best) - count):
                best = found
            if len(found) > count:
                low = size + 1
            else:
                high = size - 1
        return best


def _split(text: str, ruler: Ruler, size: int, overlap: int) -> list[Span]:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        chunk_size=size, chunk_overlap=min(overlap, size - 1), length_function=ruler.count
    )
    return located(text, splitter.split_text(text), overlapping=overlap > 0)


def located(text: str, pieces: list[str], *, overlapping: bool) -> list[Span]:
    """Where pieces lie that come in order; raises DataError for one that is not of the text."""
    spans: list[Span] = []
    at = 0
    for piece in pieces:
        wanted = piece.strip()
        if not wanted:
            continue
        start = text.find(wanted, at)
        if start < 0:
            raise DataError("The library changed the text that it cut.", "Install the version in constraints.txt.")
        spans.append(Span(start, start + len(wanted)))
        at = start + (1 if overlapping else len(wanted))
    return spans
