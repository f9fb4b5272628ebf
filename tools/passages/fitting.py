"""The last look at passages: what a tokeniser makes of a whole passage may be more than the sum of its sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tools.encoders import Encoder
from tools.passages.contract import Passage
from tools.passages.units import cut_sentence
from tools.text.sentences import Span


def fitted(text: str, passages: Sequence[Passage], room: int, encoder: Encoder) -> list[Passage]:
    """The passages, none with more than ``room`` tokens: one that has gives up its overlap, else it is cut.

    All are counted in one call. The pieces of a passage that is cut share nothing.
    """
    counts = encoder.count_tokens([p.embedded_text(text) for p in passages]) if passages else []
    kept: list[Passage] = []
    for passage, tokens in zip(passages, counts, strict=True):
        if tokens > room:
            kept += _smaller(text, passage, room, encoder)
        elif kept and passage.start < kept[-1].core_start:  # what it shared was cut
            kept.append(passage.model_copy(update={"start": passage.core_start}))
        else:
            kept.append(passage)
    return kept


def _smaller(text: str, passage: Passage, room: int, encoder: Encoder) -> Iterator[Passage]:
    alone = passage.model_copy(update={"start": passage.core_start})
    if passage.start < passage.core_start and _fits(text, alone, room, encoder):
        yield alone
        return
    prefix = alone.prefix(text)
    limit = room - (encoder.count_tokens([prefix])[0] if prefix else 0)
    while limit > 0:
        spans = [Span(u.start, u.end) for u in cut_sentence(text, Span(alone.start, alone.end), limit, encoder)]
        pieces = [alone.model_copy(update=_at(*span)) for span in spans]
        if all(_fits(text, piece, room, encoder) or piece.end - piece.start == 1 for piece in pieces):
            yield from pieces
            return
        limit //= 2  # ours: a tokeniser that makes more of the whole than of its words gets shorter pieces


def _at(start: int, end: int) -> dict[str, int]:
    return {"start": start, "end": end, "core_start": start, "core_end": end}


def _fits(text: str, passage: Passage, room: int, encoder: Encoder) -> bool:
    return encoder.count_tokens([passage.embedded_text(text)])[0] <= room
