"""The units that a text brings with it: sentences, and paragraphs."""

from __future__ import annotations

import re

from evals.baselines.contract import between, checked_count
from tools.encoders import Encoder
from tools.text.sentences import Span, sentences

BLANK = re.compile(r"\n[^\S\n]*\n\s*")


def by_sentence(text: str, title: str, encoder: Encoder, count: int | None = None) -> list[Span]:
    """Every sentence; at a given number of parts, runs of equally many sentences."""
    del title, encoder
    checked_count(count)
    units = list(sentences(text))
    if count is None or not units:
        return units
    firsts = sorted({round(k * len(units) / count) for k in range(min(count, len(units)))})
    return between(text, [units[i].start for i in firsts])


def by_paragraph(text: str, title: str, encoder: Encoder, count: int | None = None) -> list[Span]:
    """What stands between blank lines; at a given number of parts, runs of about equally many characters."""
    del title, encoder
    checked_count(count)
    starts = [0, *(match.end() for match in BLANK.finditer(text))]
    if count is None:
        return between(text, starts)
    marks = (len(text) * k / count for k in range(1, count))
    chosen = {min(starts, key=lambda start: abs(start - mark)) for mark in marks}
    return between(text, sorted({0, *chosen}))
