"""BM25 over the rows of an index, built when it is first needed after a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tools.text.tokens import tokens

# Lucene's variant, whose weights are never negative, at the library's own defaults (code: bm25s).
METHOD, K1, B = "lucene", 1.5, 0.75


class Lexicon:
    """BM25 scores of a fixed sequence of texts.

    Args:
        texts: what is searched. A text without words is never found.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        words = [tokens(text) for text in texts]
        self._count = len(words)
        self._model: Any = None
        if any(words):
            import bm25s

            self._model = bm25s.BM25(method=METHOD, k1=K1, b=B)
            self._model.index(words, show_progress=False)

    def scores(self, query: str) -> NDArray[np.float32]:
        """Array (number of texts,): 0 for a text that shares no word with the query."""
        known = [t for t in tokens(query) if t in self._model.vocab_dict] if self._model is not None else []
        if not known:
            return np.zeros(self._count, dtype=np.float32)
        return np.asarray(self._model.get_scores(known), dtype=np.float32)

    def __len__(self) -> int:
        """Number of texts."""
        return self._count

    def holding(self, token: str) -> int:
        """Number of texts that hold a token (as `tools.text.tokens` makes them)."""
        if self._model is None or token not in self._model.vocab_dict:
            return 0
        column, ends = self._model.vocab_dict[token], self._model.scores["indptr"]
        return int(ends[column + 1] - ends[column])

    def weighted(self, weights: Mapping[str, float]) -> NDArray[np.float32]:
        """Array (number of texts,): the sum over tokens (as `tools.text.tokens` makes them) of weight times BM25."""
        total = np.zeros(self._count, dtype=np.float32)
        for token, weight in weights.items():
            if self._model is not None and weight > 0 and token in self._model.vocab_dict:
                total += np.float32(weight) * np.asarray(self._model.get_scores([token]), dtype=np.float32)
        return total

    def save(self, folder: Path) -> None:
        """Write .npy and JSON files; nothing when no text has a word."""
        if self._model is not None:
            self._model.save(str(folder), show_progress=False)

    @classmethod
    def load(cls, folder: Path, count: int) -> Lexicon:
        """Read what `save` wrote for ``count`` texts."""
        lexicon = cls([])
        lexicon._count = count
        if folder.exists():
            import bm25s

            lexicon._model = bm25s.BM25.load(str(folder), load_corpus=False, show_progress=False)
        return lexicon
