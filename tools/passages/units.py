"""The units that SEOS puts together: sections by headings, sentences within them, pieces of over-long sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from tools.encoders import Encoder
from tools.text.sentences import Span, split_sentences

HEADING = re.compile(r"^#{1,6}[ \t]+(?P<title>\S.*?)[ \t]*#*[ \t]*$", re.MULTILINE)
ATOM = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]|[^\s\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]+")
CLAUSE_END = re.compile(r"[,;:，；：、）)—]$")


class Section(NamedTuple):
    """The text under a heading: characters ``start`` to ``end``, the heading left out."""

    title: str | None
    start: int
    end: int


class Unit(NamedTuple):
    """A sentence, or a piece of one that is too long: its characters and its tokens in the encoder's own counting."""

    start: int
    end: int
    tokens: int


def sections(text: str) -> list[Section]:
    """The sections of a document in order; one with nothing but white space is left out."""
    parts: list[Section] = []
    title, start = None, 0
    for heading in HEADING.finditer(text):
        parts.append(Section(title, start, heading.start()))
        title, start = heading["title"], heading.end()
    parts.append(Section(title, start, len(text)))
    return [part for part in parts if text[part.start : part.end].strip()]


def sentence_units(text: str, parts: Sequence[Section], limits: Sequence[int], encoder: Encoder) -> list[list[Unit]]:
    """The units of each section; none has more tokens than its section's limit.

    Tokens are counted once for the whole document. A sentence over the limit is cut at clause boundaries, else
    between words, else within a word.
    """
    spans = [[Span(p.start + s.start, p.start + s.end) for s in split_sentences(text[p.start : p.end])] for p in parts]
    counts = iter(encoder.count_tokens([span.of(text) for section in spans for span in section]))
    out: list[list[Unit]] = []
    for section, limit in zip(spans, limits, strict=True):
        units: list[Unit] = []
        for span in section:
            tokens = next(counts)
            units += [Unit(*span, tokens)] if tokens <= limit else cut_sentence(text, span, limit, encoder)
        out.append(units)
    return out


def packed(units: Sequence[Unit], length: int) -> list[Unit]:
    """Runs of neighbouring units, each as long as fits into ``length`` tokens."""
    runs: list[Unit] = []
    for unit in units:
        if runs and runs[-1].tokens + unit.tokens <= length:
            runs[-1] = Unit(runs[-1].start, unit.end, runs[-1].tokens + unit.tokens)
        else:
            runs.append(unit)
    return runs


def cut_sentence(text: str, span: Span, limit: int, encoder: Encoder) -> list[Unit]:
    """Pieces of a sentence with at most ``limit`` tokens each, in order, without surrounding white space.

    Each piece ends at the last clause boundary in the second half of what fits, or at the last word that fits.
    """
    atoms = _atoms(text, span, limit, encoder)
    totals = np.array([0, *accumulate(atom.tokens for atom in atoms)])
    clause = np.array([bool(CLAUSE_END.search(text[a.start : a.end])) for a in atoms])
    pieces: list[Unit] = []
    at = 0
    while at < len(atoms):
        end = max(at + 1, int(np.searchsorted(totals, totals[at] + limit, side="right")) - 1)
        if end < len(atoms):
            half = at + (end - at) // 2
            ends = np.flatnonzero(clause[half:end])
            end = half + int(ends[-1]) + 1 if len(ends) else end
        pieces.append(Unit(atoms[at].start, atoms[end - 1].end, int(totals[end] - totals[at])))
        at = end
    return pieces


def _atoms(text: str, span: Span, limit: int, encoder: Encoder) -> list[Unit]:
    """Words, and Chinese characters one by one; a word over the limit is cut into its characters."""
    found = [Span(span.start + m.start(), span.start + m.end()) for m in ATOM.finditer(span.of(text))]
    atoms: list[Unit] = []
    for word, tokens in zip(found, encoder.count_tokens([w.of(text) for w in found]), strict=True):
        if tokens <= limit:
            atoms.append(Unit(*word, tokens))
        else:
            atoms += [Unit(i, i + 1, 1) for i in range(word.start, word.end)]
    return atoms
