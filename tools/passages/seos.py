"""SEOS: segmentation at semantic minima, with overlap that grows with continuity (CoMeta).

Sentences -> vectors of the windows beside each gap -> continuity curve -> N partitions from a token budget ->
breakpoints -> overlap. The paper leaves the formula of N, the window and the overlap rule open; ours are named below.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from prompts.errors import InputError
from tools.encoders import Encoder
from tools.passages.continuity import (
    Curve,
    continues,
    continuity_curves,
    exact,
    leans_back,
    prices,
    top_minima,
    windows_of,
)
from tools.passages.contract import Passage, StoredDocument, context_of, with_neighbours
from tools.passages.units import Section, Unit, cut_sentence, sections, sentence_units
from tools.text.sentences import Span

# The blocks of a section: what blank lines part, for a text that has them says there where its subject changes.
BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
LEAST = 0.25  # ours: share of the budget below which a block joins its neighbour, so that no passage is a mere line


def blocks(text: str, units: Sequence[Unit], budget: int) -> list[list[Unit]]:
    """The units of a section, parted at blank lines (ours).

    A block joins the one before it when it goes on with a list or a sentence; when it begins with a sentence that leans
    on that one, and both fit one passage; and when either of the two is shorter than a quarter of the budget.
    """
    parted: list[list[Unit]] = []
    for unit in units:
        if not parted or BLANK_LINE.search(text, parted[-1][-1].end, unit.start):
            parted.append([unit])
        else:
            parted[-1].append(unit)
    joined: list[list[Unit]] = []
    for block in parted:
        if joined and _belongs(text, joined[-1], block, budget):
            joined[-1] += block
        else:
            joined.append(block)
    return joined


def _belongs(text: str, before: Sequence[Unit], block: Sequence[Unit], budget: int) -> bool:
    sizes = _tokens(before), _tokens(block)
    opening = text[block[0].start : block[0].end]
    return min(sizes) < LEAST * budget or continues(opening) or (leans_back(opening) and sum(sizes) <= budget)


def _tokens(block: Sequence[Unit]) -> int:
    return sum(unit.tokens for unit in block)


# How much a passage shares with the one before it (CoMeta: overlap grows with the continuity across the break).
def overlap(continuity: float, scale: tuple[float, float], largest: int) -> int:
    """Sentences shared across a breakpoint: none at the document's lowest continuity, ``largest`` at its highest.

    The rule (linear in between, rounded) is ours; the paper says only that overlap grows with continuity.
    """
    low, high = scale
    return round(largest * (continuity - low) / (high - low)) if high > low else 0


def paper_overlap(continuity: float, largest: int) -> int:
    """Sentences shared across a breakpoint by the degree of continuity itself: none where the windows beside it have
    nothing in common (cosine 0), ``largest`` where they are the same (1). Of ``seos_paper``; its breakpoints are the
    lowest minima, so that on a scale over the whole document nearly all of them would share nothing.

    The paper says that the overlap at each breakpoint is determined by the degree of semantic continuity; that the
    relation is linear, and its largest value, are ours.
    """
    return round(largest * min(1.0, max(0.0, continuity)))


def reach_back(text: str, units: Sequence[Unit], first: int, earliest: int) -> int:
    """The unit from which ``units[first]`` can be understood: back over those that lean on what came before (ours).

    Never before ``earliest``. A condition often stands in the sentence before the one that leans on it.
    """
    while first > earliest and leans_back(text[units[first].start : units[first].end]):
        first -= 1
    return first


def within(units: Sequence[Unit], start: int, first: int, after: int, limit: int) -> int:
    """The first shared unit, moved on until all units up to ``after`` fit the limit in tokens."""
    while start < first and sum(u.tokens for u in units[start:after]) > limit:
        start += 1
    return start


# ours: tokens of an average passage. Against 128 it keeps more conditions with their statements in a smaller index, at
# the same coverage of answers; an overlap still fits into the 256 tokens that the embedded encoder reads.
BUDGET = 160
MAX_OVERLAP = 1  # ours: sentences shared across the most continuous gap; what is shared is read twice
PAPER_OVERLAP = 3  # ours: the same of `seos_paper`, across windows that are the same
REACH = 2  # ours: sentences over which an overlap goes back to the one that a passage leans on
SMALLEST = 0.15  # ours: share of the average passage below which `seos` makes none if it can help it
PARAGRAPH = 1.0  # ours: standard deviations of the curve by which a break at a new paragraph costs less
LEANING = 2.0  # ours: standard deviations by which a break before a sentence that leans back costs more
SPECIAL = 3  # code: a BERT adds a token before and one after a text, MedCPT one more between title and rest
CONTEXT_SHARE = 0.25  # ours: a title and section longer than this share of the encoder's limit are left out
LEAD_SHARE = 0.2  # ours: a sentence that opens a block is read before its later parts up to this share of the limit
UNBOUNDED = 2**31  # tokens: more than any text has


@dataclass(frozen=True)
class SeosSettings:
    """How to segment.

    Attributes:
        method: ``seos_paper`` is the published rule (the top minima of the curve), ``seos`` the exact one.
        budget: tokens of an average passage, in the encoder's own.
        window: sentences on each side of a gap; None takes one and a half average passages.
        max_overlap: sentences shared across the most continuous gap; None takes the method's own number.
        smallest: share of the average passage below which ``seos`` makes none if it can help it.
        paragraph, leaning: of ``seos``, in standard deviations of the curve; see `continuity.prices`.
        reach: of ``seos``: an overlap reaches back to the sentence that a passage leans on, over so many at most.
        lead: of ``seos``: the later parts of a block are embedded with the sentence that opens it.
        partitions: cut the whole text as one section into so many, whatever the budget and the encoder's limit: to
            compare breakpoints. None lets the budget decide in each section.

    Raises InputError for values out of range.
    """

    method: Literal["seos", "seos_paper"] = "seos"
    budget: int = BUDGET
    window: int | None = None
    max_overlap: int | None = None
    smallest: float = SMALLEST
    paragraph: float = PARAGRAPH
    leaning: float = LEANING
    reach: int = REACH
    lead: bool = True
    partitions: int | None = None

    def __post_init__(self) -> None:
        if self.max_overlap is None:
            object.__setattr__(self, "max_overlap", MAX_OVERLAP if self.method == "seos" else PAPER_OVERLAP)
        whole = (self.budget, self.window or 1, self.partitions or 1)
        if min(whole) < 1 or self.window == 0 or self.partitions == 0 or min(self.largest, self.reach) < 0:
            raise InputError("A budget, a window and a number of partitions are at least 1.", "Give larger numbers.")
        if not 0 <= self.smallest <= 1:
            raise InputError("The smallest passage is a share of the average one.", "Give a number from 0 to 1.")

    @property
    def largest(self) -> int:
        """The sentences of `max_overlap`."""
        return self.max_overlap or 0

    def overlap(self, continuity: float, scale: tuple[float, float]) -> int:
        """Sentences shared across a breakpoint, by the method's rule."""
        if self.method == "seos_paper":
            return paper_overlap(continuity, self.largest)
        return overlap(continuity, scale, self.largest)


class Break(NamedTuple):
    """A breakpoint within a section.

    Attributes:
        at: character of the first sentence after it.
        continuity: cosine across it.
        shared: sentences that the passage after it shares with the one before.
        wanted: sentences that the continuity asks for, before what fits and what the passage leans on decide.
    """

    at: int
    continuity: float
    shared: int
    wanted: int


class SectionCut(NamedTuple):
    """How a section or a block of it was cut: curve, with the character after each gap, breakpoints and passages."""

    section: Section
    tokens: int
    curve: Curve
    gaps: tuple[int, ...]
    breaks: tuple[Break, ...]
    passages: tuple[Passage, ...]


class Part(NamedTuple):
    """A section or a block of it, to be cut: its heading, context, lead, units, what a passage may hold, and N."""

    section: Section
    context: str
    lead: tuple[int, int] | None
    units: list[Unit]
    limit: int
    partitions: int

    @property
    def tokens(self) -> int:
        return sum(u.tokens for u in self.units)


def segment(document: StoredDocument, encoder: Encoder, settings: SeosSettings | None = None) -> tuple[Passage, ...]:
    """Cut a document into passages, in order.

    A heading starts a new passage and is its section, not its text; with ``seos`` a blank line starts one too, see
    `blocks`. N = ceil(tokens / budget) in each of these parts (ours), in the encoder's own tokens. No passage, context
    included, exceeds what the encoder reads, unless a number of partitions is set; with ``seos_paper`` one that would
    is cut once more (ours).
    """
    return with_neighbours(document.id, [p for cut in examine(document, encoder, settings) for p in cut.passages])


def examine(document: StoredDocument, encoder: Encoder, settings: SeosSettings | None = None) -> list[SectionCut]:
    """What `segment` does, part by part, with the curve and the breakpoints; neighbours are not named."""
    chosen = settings or SeosSettings()
    parts = parts_of(document, encoder, chosen)
    split, windows = to_embed(parts, chosen)
    return cut_parts(document.text, parts, continuity_curves(document.text, split, windows, encoder), encoder, chosen)


def to_embed(parts: Sequence[Part], chosen: SeosSettings) -> tuple[list[list[Unit]], list[int]]:
    """The units of each part whose curve is wanted, none where it is not cut, and the windows of the curves."""
    split = [p.units if p.partitions > 1 else [] for p in parts]
    return split, windows_of(split, [p.partitions for p in parts], chosen.window)


def cut_parts(
    text: str, parts: Sequence[Part], curves: Sequence[Curve], encoder: Encoder, chosen: SeosSettings
) -> list[SectionCut]:
    """The parts of a document, cut by their curves."""
    values = np.concatenate([np.empty(0), *curves])
    scale = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    cuts = [_cut(text, p, curve, scale, chosen) for p, curve in zip(parts, curves, strict=True)]
    return cuts if chosen.partitions else _all_fitted(text, cuts, encoder)


def breakpoints(
    text: str, units: Sequence[Unit], curve: Curve, count: int, limit: int, chosen: SeosSettings
) -> list[int]:
    """The first units of all partitions but the first, by the method that is set.

    Args:
        units: n sentences of one section. curve: (n - 1,) continuity of its gaps.
        count: N. limit: tokens of a partition, of ``seos``.
    """
    if count < 2:
        return []
    if chosen.method == "seos_paper":
        return top_minima(curve, count)
    sizes = np.array([u.tokens for u in units], dtype=np.int64)
    cost = prices(text, units, curve, paragraph=chosen.paragraph, leaning=chosen.leaning)
    return exact(cost, sizes, count, int(chosen.smallest * sizes.sum() / count), limit)


def parts_of(document: StoredDocument, encoder: Encoder, settings: SeosSettings) -> list[Part]:
    """The sections or blocks of a document, with their units and the number of passages wanted of each."""
    text = document.text
    found = [Section(None, 0, len(text))] if settings.partitions and text.strip() else sections(text)
    contexts = [context_of(document.title, section.title) for section in found]
    lengths = encoder.count_tokens(contexts) if found else []
    room = encoder.limit - SPECIAL
    kept = [c if n <= CONTEXT_SHARE * room else "" for c, n in zip(contexts, lengths, strict=True)]
    limits = [room - (n if c else 0) for c, n in zip(kept, lengths, strict=True)]
    units = sentence_units(text, found, limits, encoder)
    parts: list[Part] = []
    for section, context, part_units, limit in zip(found, kept, units, limits, strict=True):
        budget = min(settings.budget, limit)
        whole = settings.partitions or settings.method == "seos_paper"
        for block in [part_units] if whole else blocks(text, part_units, budget):
            place = section if whole else Section(section.title, block[0].start, block[-1].end)
            lead = None if whole or not settings.lead else _lead(text, block, budget, limit, encoder)
            holds = UNBOUNDED if settings.partitions else limit - (lead.tokens if lead else 0)
            wanted = settings.partitions or math.ceil(sum(u.tokens for u in block) / min(budget, holds))
            count = max(1, min(len(block), wanted))
            parts.append(Part(place, context, (lead.start, lead.end) if lead else None, block, holds, count))
    return parts


def _lead(text: str, block: Sequence[Unit], budget: int, limit: int, encoder: Encoder) -> Unit | None:
    """The sentence that opens a block of several passages, or what may be read of it; None where it has no place."""
    if sum(u.tokens for u in block) <= budget:
        return None
    most, first = int(LEAD_SHARE * limit), block[0]
    lead = first if first.tokens <= most else cut_sentence(text, Span(first.start, first.end), most, encoder)[0]
    return lead if max(u.tokens for u in block) <= limit - lead.tokens else None


def _cut(text: str, part: Part, curve: Curve, scale: tuple[float, float], settings: SeosSettings) -> SectionCut:
    units = part.units
    inner = breakpoints(text, units, curve, part.partitions, part.limit, settings)
    breaks, passages = [], []
    for k, (first, after) in enumerate(pairwise([0, *inner, len(units)])):
        start = first
        if k:
            before = [0, *inner][k - 1]
            start = first - (wanted := settings.overlap(float(curve[first - 1]), scale))
            if settings.method == "seos":
                start = min(start, reach_back(text, units, first, max(before, first - settings.reach)))
            start = within(units, max(before, start), first, after, part.limit)
            breaks.append(Break(units[first].start, float(curve[first - 1]), first - start, wanted))
        passages.append(
            Passage(
                start=units[start].start,
                end=units[after - 1].end,
                core_start=units[first].start,
                core_end=units[after - 1].end,
                section=part.section.title,
                context=part.context,
                lead=part.lead if start else None,
            )
        )
    gaps = tuple(u.start for u in units[1:]) if len(curve) else ()
    return SectionCut(part.section, part.tokens, curve, gaps, tuple(breaks), tuple(passages))


def _all_fitted(text: str, cuts: Sequence[SectionCut], encoder: Encoder) -> list[SectionCut]:
    """The sections with every passage within what the encoder reads; counted in one call."""
    everything = [p for cut in cuts for p in cut.passages]
    kept = fitted(text, everything, encoder.limit - SPECIAL, encoder)
    if kept == everything:
        return list(cuts)
    return [
        cut._replace(passages=tuple(p for p in kept if cut.section.start <= p.core_start < cut.section.end))
        for cut in cuts
    ]


# The last look at passages: what a tokeniser makes of a whole passage may be more than the sum of its sentences.


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
