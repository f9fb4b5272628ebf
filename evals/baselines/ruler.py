"""Tokens of an encoder along a text, word by word.

Word pieces never span white space, so the tokens of a text are the sum over its words. Each word is counted once.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.encoders import Encoder

WORD = re.compile(r"\S+")


class Measured(NamedTuple):
    """The words of a text.

    Attributes:
        starts, ends: (n,) characters of each word.
        totals: (n + 1,) tokens before each word, and of them all.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    totals: NDArray[np.int64]

    def tokens(self, start: int, end: int) -> int:
        """Tokens of the words that begin in ``start`` to ``end``."""
        first, after = np.searchsorted(self.starts, [start, end])
        return int(self.totals[after] - self.totals[first])

    def cut(self, start: int, end: int, room: int) -> tuple[int, int]:
        """The longest beginning of a span with at most ``room`` tokens, in whole words: (its end, its tokens)."""
        first, after = np.searchsorted(self.starts, [start, end])
        last = int(np.searchsorted(self.totals, self.totals[first] + room, side="right")) - 1
        last = min(int(after), last)
        if last <= first:
            return start, 0
        return min(end, int(self.ends[last - 1])), int(self.totals[last] - self.totals[first])


class Ruler:
    """Measures texts in the tokens of one encoder."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._known: dict[str, int] = {}

    def measure(self, text: str) -> Measured:
        """The words of a text with their tokens."""
        found = list(WORD.finditer(text))
        words = [match[0] for match in found]
        counts = self._counts(words)
        totals = np.concatenate(([0], np.cumsum(np.array(counts, dtype=np.int64)))).astype(np.int64)
        starts = np.array([match.start() for match in found], dtype=np.int64)
        return Measured(starts, np.array([match.end() for match in found], dtype=np.int64), totals)

    def count(self, text: str) -> int:
        """Tokens of a text, special ones left out."""
        return sum(self._counts(WORD.findall(text)))

    def _counts(self, words: list[str]) -> list[int]:
        missing = [word for word in dict.fromkeys(words) if word not in self._known]
        if missing:
            self._known.update(zip(missing, self._encoder.count_tokens(missing), strict=True))
        return [self._known[word] for word in words]


def ruler_of(encoder: Encoder) -> Ruler:
    """The ruler of an encoder, so that a word is counted once a run."""
    known: Any = encoder  # an encoder is hashed by identity; its protocol does not say so
    return _ruler_of(known)


@lru_cache(maxsize=4)
def _ruler_of(encoder: Any) -> Ruler:
    return Ruler(encoder)
