"""Windows of a fixed number of tokens, cut between words, with or without overlap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evals.baselines.contract import between, checked_count
from evals.baselines.ruler import Measured, ruler_of
from tools.encoders import Encoder
from tools.text.sentences import Span


@dataclass(frozen=True)
class Fixed:
    """As many whole words as fit in ``size`` tokens; the next window begins ``overlap`` tokens before the end."""

    size: int
    overlap: int = 0

    def __call__(self, text: str, title: str, encoder: Encoder, count: int | None = None) -> list[Span]:
        """Windows; at a given number of parts, parts of equal tokens."""
        del title
        checked_count(count)
        measured = ruler_of(encoder).measure(text)
        if not len(measured.starts):
            return []
        return equal_parts(text, measured, count) if count is not None else self._windows(measured)

    def _windows(self, words: Measured) -> list[Span]:
        spans: list[Span] = []
        first, n = 0, len(words.starts)
        while True:
            after = int(np.searchsorted(words.totals, words.totals[first] + self.size, side="right")) - 1
            after = min(n, max(first + 1, after))
            spans.append(Span(int(words.starts[first]), int(words.ends[after - 1])))
            if after == n:
                return spans
            back = int(np.searchsorted(words.totals, words.totals[after] - self.overlap, side="left"))
            first = max(first + 1, min(after, back))


def equal_parts(text: str, words: Measured, count: int) -> list[Span]:
    """Parts of as nearly equal tokens as whole words allow."""
    marks = words.totals[-1] * np.arange(1, count) / count
    firsts = np.unique(np.concatenate(([0], np.searchsorted(words.totals, marks, side="left"))))
    return between(text, [int(words.starts[i]) for i in firsts if i < len(words.starts)])
