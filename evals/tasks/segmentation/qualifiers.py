"""Part (c) of `segmentation`: conditions that stay with their statements, against the size of the index.

A passage keeps a pair when both sentences stand in it whole; what the encoder does not read of a passage is not in the
index, so a pair there is not kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from evals.contract import Figure, TaskContext
from evals.datasets.qualifiers import Pair, Text, read_pairs, read_texts
from evals.statistics import points, share
from evals.tasks.segmentation.segmenters import BASELINES, SEGMENTERS, SPECIAL, Ruler, Segmenter, pieces
from prompts.errors import DataError
from tools.encoders import Encoder
from tools.text.sentences import Span

ROUNDS = 30  # ours: halvings of the overlap while an index of a given size is looked for


def figures(context: TaskContext, encoder: Encoder) -> list[Figure]:
    """Cut every document with a pair; then give each baseline SEOS's index size.

    Raises DataError when no pair stands in the data any more.
    """
    documents = Documents(read_texts(context.data), context.sample(read_pairs()), encoder)
    if not documents.pairs:
        raise DataError(
            "None of the pairs stands in these documents.", "Give the folder of the data that the pairs were found in."
        )
    cut = {name: documents.cut(segmenter, context, name) for name, segmenter in SEGMENTERS.items()}
    kept = {name: documents.kept(spans, leads) for name, (spans, leads) in cut.items()}
    out: list[Figure] = []
    for name, one in kept.items():
        out += share(f"{name}.qualifiers.kept", one.pairs)
        out += share(f"{name}.qualifiers.stored", one.stored)
        out.append(Figure(name=f"{name}.qualifiers.index_tokens", value=one.tokens, n=len(documents.texts)))
        out += share(f"{name}.qualifiers.cut", one.cut)
    seos = kept["seos"]
    for name in BASELINES:
        same = documents.kept(documents.widened(cut[name][0], seos.tokens))
        out += share(f"{name}.qualifiers.kept_at_size", same.pairs)
        out += points(f"seos_over_{name}.qualifiers.kept", seos.pairs, same.pairs, context.seed)
    return out


class Kept(NamedTuple):
    """What a segmentation keeps.

    Attributes:
        pairs: for each pair, whether one passage has it whole, as far as the encoder reads that passage.
        stored: the same when all that is stored of the passage counts.
        tokens: of all passages of all documents, as stored, with the sentences that are read before them.
        cut: for each passage, whether the encoder reads less than is stored.
    """

    pairs: list[bool]
    stored: list[bool]
    tokens: int
    cut: list[bool]


Cut = Mapping[str, Sequence[Span]]  # the spans of each document
Leads = Mapping[str, Sequence[int]]  # for each span, the tokens of the sentence that is read before it


class Documents:
    """The documents that hold pairs, measured in the encoder's tokens."""

    def __init__(self, texts: Sequence[Text], pairs: Sequence[Pair], encoder: Encoder) -> None:
        held = {pair.document for pair in pairs}
        self.texts = {text.id: text for text in texts if text.id in held}
        there = [pair for pair in pairs if pair.document in self.texts]
        self.pairs = [pair for pair in there if pair.stands_in(self.texts[pair.document].text)]
        self._encoder, ruler = encoder, Ruler(encoder)
        self.measured = {key: ruler.measure(text.text) for key, text in self.texts.items()}
        self._room = {key: encoder.limit - SPECIAL - ruler.count(text.title) for key, text in self.texts.items()}

    def cut(self, segmenter: Segmenter, context: TaskContext, label: str) -> tuple[Cut, Leads]:
        """Cut every document."""
        cut: dict[str, list[Span]] = {}
        leads: dict[str, list[int]] = {}
        for text in context.each(list(self.texts.values()), label):
            found = pieces(segmenter, text.text, text.title, self._encoder)
            cut[text.id] = [span for span, _ in found]
            leads[text.id] = [self.measured[text.id].tokens(*lead) if lead else 0 for _, lead in found]
        return cut, leads

    def kept(self, cut: Cut, leads: Leads | None = None) -> Kept:
        """What passages keep."""
        read: dict[str, list[Span]] = {}
        sizes: dict[str, list[int]] = {}
        for key, spans in cut.items():
            measured, room, before = self.measured[key], self._room[key], leads[key] if leads else [0] * len(spans)
            both = list(zip(spans, before, strict=True))
            read[key] = [Span(s.start, measured.cut(s.start, s.end, room - lead)[0]) for s, lead in both]
            sizes[key] = [measured.tokens(*span) + lead for span, lead in both]
        return Kept(
            [_whole(pair, read[pair.document]) for pair in self.pairs],
            [_whole(pair, cut[pair.document]) for pair in self.pairs],
            sum(map(sum, sizes.values())),
            [size > self._room[key] for key, found in sizes.items() for size in found],
        )

    def widened(self, cut: Cut, tokens: int) -> Cut:
        """The same passages with the uniform overlap at which the index has about ``tokens`` tokens.

        Each passage but the first begins so many tokens earlier, in whole words. An overlap that the passages have
        already is taken off first. Without room for a larger index the passages stay as they are.
        """
        bare: Cut = {
            key: [*spans[:1], *(Span(max(before.end, span.start), span.end) for before, span in pairwise(spans))]
            for key, spans in cut.items()
        }
        low, high = 0, max((int(m.totals[-1]) for m in self.measured.values()), default=0)
        for _ in range(ROUNDS):
            if low >= high:
                break
            middle = (low + high + 1) // 2
            wide = self._overlapping(bare, middle)
            size = sum(self.measured[key].tokens(*span) for key, spans in wide.items() for span in spans)
            low, high = (middle, high) if size <= tokens else (low, middle - 1)
        return self._overlapping(bare, low)

    def _overlapping(self, bare: Cut, overlap: int) -> Cut:
        def before(key: str, start: int) -> int:
            """The start of the word ``overlap`` tokens before a place."""
            measured = self.measured[key]
            at = int(np.searchsorted(measured.starts, start))
            back = int(np.searchsorted(measured.totals, measured.totals[at] - overlap, side="left"))
            return min(start, int(measured.starts[back])) if back < len(measured.starts) else start

        return {
            key: [*spans[:1], *(Span(before(key, span.start), span.end) for span in spans[1:])]
            for key, spans in bare.items()
        }


def _whole(pair: Pair, spans: Sequence[Span]) -> bool:
    start, end = min(pair.qualifier[0], pair.statement[0]), max(pair.qualifier[1], pair.statement[1])
    return any(span.start <= start and end <= span.end for span in spans)
