"""SEOS: segmentation at semantic minima, with overlap that grows with continuity (CoMeta).

Sentences -> vectors of the windows beside each gap -> continuity curve -> N partitions from a token budget ->
breakpoints -> overlap. The paper leaves the formula of N, the window and the overlap rule open; ours are named below.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from tools.encoders import Encoder, Vectors
from tools.passages.breakpoints import Curve, exact, top_minima
from tools.passages.contract import Passage, StoredDocument, context_of
from tools.passages.units import Section, Unit, sections, sentence_units

BUDGET = 128  # ours: tokens a passage; half of what the embedded encoder reads, so that an overlap fits
WINDOW = 2  # ours: sentences on each side of a gap
MAX_OVERLAP = 2  # ours: sentences shared across the most continuous gap
SMALLEST = 0.25  # ours: share of the budget below which `seos` makes no passage if it can help it
SPECIAL = 2  # code: a BERT encoder adds one token before and one after the text
CONTEXT_SHARE = 0.25  # ours: a title and section longer than this share of the encoder's limit are left out


@dataclass(frozen=True)
class SeosSettings:
    """How to segment: ``seos_paper`` is the published rule, ``seos`` the exact one within the encoder's limit."""

    method: Literal["seos", "seos_paper"] = "seos"
    budget: int = BUDGET
    window: int = WINDOW
    max_overlap: int = MAX_OVERLAP


class _Part(NamedTuple):
    """A section to be cut: its heading, context, units, what a passage may hold, and N."""

    section: Section
    context: str
    units: list[Unit]
    limit: int
    partitions: int


def segment(document: StoredDocument, encoder: Encoder, settings: SeosSettings | None = None) -> tuple[Passage, ...]:
    """Cut a document into passages, in order.

    A heading starts a new passage and is its section, not its text. N = ceil(tokens / budget) in each section
    (ours), in the encoder's own tokens. With ``seos`` no passage, context included, exceeds what the encoder reads.
    """
    chosen = settings or SeosSettings()
    parts = _parts(document, encoder, chosen)
    curves = continuity_curves(
        document.text, [p.units if p.partitions > 1 else [] for p in parts], chosen.window, encoder
    )
    values = np.concatenate([np.empty(0), *curves])
    scale = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    passages: list[Passage] = []
    for part, curve in zip(parts, curves, strict=True):
        passages += _cut(part, curve, scale, chosen)
    return _with_neighbours(document.id, passages)


def continuity_curves(
    text: str, sections_units: Sequence[Sequence[Unit]], window: int, encoder: Encoder
) -> list[Curve]:
    """The continuity curve of each section: cosine between the windows left and right of each gap.

    Args:
        sections_units: the units of each section; windows stay within their section.
        window: sentences on each side of a gap.

    Returns:
        One array (n - 1,) a section of n units, all sentences of the document encoded in one call. A window's vector
        is the mean of its sentences' vectors (ours): on the starter library it finds topic changes as well as windows
        that are encoded whole, at half the work, and the sentence vectors serve the quotes too.
    """
    flat = [text[u.start : u.end] for units in sections_units for u in units]
    if not flat:
        return [np.empty(0) for _ in sections_units]
    vectors = encoder.encode_documents(flat)
    cuts = np.cumsum([len(units) for units in sections_units])[:-1]
    return [_continuity(part, window) for part in np.split(vectors, cuts)]


def _continuity(vectors: Vectors, window: int) -> Curve:
    """Cosine between the mean vectors left and right of each gap; (n, dimension) -> (max(0, n - 1),)."""
    n = len(vectors)
    if n < 2:
        return np.empty(0)
    totals = np.concatenate((np.zeros((1, vectors.shape[1])), np.cumsum(vectors, axis=0, dtype=np.float64)))
    gaps = np.arange(1, n)
    left = totals[gaps] - totals[np.maximum(0, gaps - window)]
    right = totals[np.minimum(n, gaps + window)] - totals[gaps]
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    curve: Curve = np.einsum("ij,ij->i", left, right) / np.maximum(lengths, np.finfo(np.float64).tiny)
    return curve


def _parts(document: StoredDocument, encoder: Encoder, settings: SeosSettings) -> list[_Part]:
    found = sections(document.text)
    contexts = [context_of(document.title, section.title) for section in found]
    lengths = encoder.count_tokens(contexts) if found else []
    room = encoder.limit - SPECIAL
    kept = [c if n <= CONTEXT_SHARE * room else "" for c, n in zip(contexts, lengths, strict=True)]
    limits = [room - (n if c else 0) for c, n in zip(kept, lengths, strict=True)]
    units = sentence_units(document.text, found, limits, encoder)
    parts: list[_Part] = []
    for section, context, part_units, limit in zip(found, kept, units, limits, strict=True):
        tokens = sum(u.tokens for u in part_units)
        count = min(len(part_units), math.ceil(tokens / min(settings.budget, limit)))
        parts.append(_Part(section, context, part_units, limit, max(1, count)))
    return parts


def _cut(part: _Part, curve: Curve, scale: tuple[float, float], settings: SeosSettings) -> list[Passage]:
    units, breaks = part.units, [0, len(part.units)]
    if part.partitions > 1:
        sizes = np.array([u.tokens for u in units], dtype=np.int64)
        smallest = int(SMALLEST * min(settings.budget, part.limit))
        paper = settings.method == "seos_paper"
        inner = (
            top_minima(curve, part.partitions) if paper else exact(curve, sizes, part.partitions, smallest, part.limit)
        )
        breaks = [0, *inner, len(units)]
    passages: list[Passage] = []
    for k, (first, after) in enumerate(pairwise(breaks)):
        start = first
        if k:
            wanted = overlap(float(curve[first - 1]), scale, settings.max_overlap)
            start = _overlap_start(units, max(breaks[k - 1], first - wanted), first, after, part.limit)
        passages.append(
            Passage(
                start=units[start].start,
                end=units[after - 1].end,
                core_start=units[first].start,
                core_end=units[after - 1].end,
                section=part.section.title,
                context=part.context,
            )
        )
    return passages


def overlap(continuity: float, scale: tuple[float, float], largest: int) -> int:
    """Sentences shared across a breakpoint: none at the document's lowest continuity, ``largest`` at its highest.

    The rule (linear in between, rounded) is ours; the paper says only that overlap grows with continuity.
    """
    low, high = scale
    return round(largest * (continuity - low) / (high - low)) if high > low else 0


def _overlap_start(units: Sequence[Unit], start: int, first: int, after: int, limit: int) -> int:
    """The first shared unit, moved on until the whole passage fits the limit."""
    while start < first and sum(u.tokens for u in units[start:after]) > limit:
        start += 1
    return start


def _with_neighbours(document_id: str, passages: Sequence[Passage]) -> tuple[Passage, ...]:
    ids = [p.id(document_id) for p in passages]
    return tuple(
        p.model_copy(update={"neighbours": tuple(ids[j] for j in (i - 1, i + 1) if 0 <= j < len(ids))})
        for i, p in enumerate(passages)
    )
