"""Whether a condition and the statement that it governs stay in one passage, against the size of the index.

A passage keeps a pair when both sentences stand in it whole; what the encoder does not read of a passage is not in the
index, so a pair there is not kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evals.baselines.contract import SPECIAL, pieces
from evals.baselines.ruler import Measured, Ruler
from tools.text.sentences import Span

if TYPE_CHECKING:
    from evals.baselines.contract import Segmenter
    from evals.contract import TaskContext
    from evals.datasets.qualifiers import Pair, Text
    from tools.encoders import Encoder

ROUNDS = 30  # ours: halvings of the overlap while an index of a given size is looked for


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
        self.pairs = [pair for pair in pairs if self._stands(pair)]
        self._encoder, ruler = encoder, Ruler(encoder)
        self.measured: dict[str, Measured] = {key: ruler.measure(text.text) for key, text in self.texts.items()}
        self._room = {key: encoder.limit - SPECIAL - ruler.count(text.title) for key, text in self.texts.items()}

    def _stands(self, pair: Pair) -> bool:
        return pair.document in self.texts and pair.stands_in(self.texts[pair.document].text)

    def cut(self, segmenter: Segmenter, context: TaskContext, label: str) -> tuple[Cut, Leads]:
        """Cut every document."""
        cut: dict[str, list[Span]] = {}
        leads: dict[str, list[int]] = {}
        for text in context.tick(self.texts.values(), label, len(self.texts)):
            found = pieces(segmenter, text.text, text.title, self._encoder)
            cut[text.id] = [span for span, _ in found]
            leads[text.id] = [self.measured[text.id].tokens(*lead) if lead else 0 for _, lead in found]
        return cut, leads

    def kept(self, cut: Cut, leads: Leads | None = None) -> Kept:
        """What passages keep."""
        before = leads or {key: [0] * len(spans) for key, spans in cut.items()}
        read = {key: list(map(partial(self._read, key), spans, before[key])) for key, spans in cut.items()}
        sizes = {
            key: [self.measured[key].tokens(*span) + lead for span, lead in zip(spans, before[key], strict=True)]
            for key, spans in cut.items()
        }
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
        bare = {key: _without_overlap(spans) for key, spans in cut.items()}
        low, high = 0, max((int(m.totals[-1]) for m in self.measured.values()), default=0)
        for _ in range(ROUNDS):
            if low >= high:
                break
            middle = (low + high + 1) // 2
            if self._size(self._overlapping(bare, middle)) <= tokens:
                low = middle
            else:
                high = middle - 1
        return self._overlapping(bare, low)

    def _overlapping(self, bare: Cut, overlap: int) -> Cut:
        return {
            key: [*spans[:1], *(Span(self._before(key, span.start, overlap), span.end) for span in spans[1:])]
            for key, spans in bare.items()
        }

    def _before(self, key: str, start: int, overlap: int) -> int:
        """The start of the word ``overlap`` tokens before a place."""
        measured = self.measured[key]
        at = int(np.searchsorted(measured.starts, start))
        back = int(np.searchsorted(measured.totals, measured.totals[at] - overlap, side="left"))
        return min(start, int(measured.starts[back])) if back < len(measured.starts) else start

    def _size(self, cut: Cut) -> int:
        return sum(self.measured[key].tokens(*span) for key, spans in cut.items() for span in spans)

    def _read(self, key: str, span: Span, lead: int) -> Span:
        return Span(span.start, self.measured[key].cut(span.start, span.end, self._room[key] - lead)[0])


def _whole(pair: Pair, spans: Sequence[Span]) -> bool:
    start, end = min(pair.qualifier[0], pair.statement[0]), max(pair.qualifier[1], pair.statement[1])
    return any(span.start <= start and end <= span.end for span in spans)


def _without_overlap(spans: Sequence[Span]) -> list[Span]:
    return [*spans[:1], *(Span(max(before.end, span.start), span.end) for before, span in pairwise(spans))]
