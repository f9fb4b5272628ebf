"""BM25 over the rows of an index, built when it is first needed after a change."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tools.text.tokens import tokens

# Lucene's variant, whose weights are never negative, at the library's own defaults (code: bm25s).
METHOD, K1, B = "lucene", 1.5, 0.75
ARRAYS = ("data", "indices", "indptr")  # bm25s's own: weights, their texts, and where those of each token begin
FILE, VOCABULARY = "{}.csc.index.npy", "vocab.index.json"


class Lexicon:
    """BM25 scores of a fixed sequence of texts.

    Args:
        texts: what is searched. A text without words is never found.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        words = [tokens(text) for text in texts]
        self._count = len(words)
        self._columns: dict[str, int] = {}
        if any(words):
            import bm25s

            model = bm25s.BM25(method=METHOD, k1=K1, b=B)
            model.index(words, show_progress=False)
            self._columns = model.vocab_dict
            self._data, self._indices, self._indptr = (model.scores[name] for name in ARRAYS)

    def scores(self, query: str) -> NDArray[np.float32]:
        """Array (number of texts,): 0 for a text that shares no word with the query."""
        total = np.zeros(self._count, dtype=np.float32)
        for token in tokens(query):
            self._add(token, 1.0, total)
        return total

    def __len__(self) -> int:
        """Number of texts."""
        return self._count

    def holding(self, token: str) -> int:
        """Number of texts that hold a token (as `tools.text.tokens` makes them)."""
        column = self._columns.get(token)
        return 0 if column is None else int(self._indptr[column + 1] - self._indptr[column])

    def weighted(self, weights: Mapping[str, float]) -> NDArray[np.float32]:
        """Array (number of texts,): the sum over tokens (as `tools.text.tokens` makes them) of weight times BM25."""
        total = np.zeros(self._count, dtype=np.float32)
        for token, weight in weights.items():
            if weight > 0:
                self._add(token, weight, total)
        return total

    def _add(self, token: str, weight: float, total: NDArray[np.float32]) -> None:
        column = self._columns.get(token)
        if column is not None:
            held = slice(self._indptr[column], self._indptr[column + 1])
            total[self._indices[held]] += np.float32(weight) * self._data[held]  # a text stands once in a column

    def save(self, folder: Path) -> None:
        """Write the .npy and JSON files of bm25s; nothing when no text has a word."""
        if self._columns:
            import bm25s

            model = bm25s.BM25(method=METHOD, k1=K1, b=B)
            model.vocab_dict = self._columns
            model.scores = dict(zip(ARRAYS, (self._data, self._indices, self._indptr), strict=True))
            model.scores["num_docs"], model.nonoccurrence_array = self._count, None  # its variant has none
            model.save(str(folder), show_progress=False)

    @classmethod
    def load(cls, folder: Path, count: int) -> Lexicon:
        """Read what `save` wrote for ``count`` texts, without bm25s, which imports SciPy."""
        lexicon = cls([])
        lexicon._count = count
        if folder.exists():
            lexicon._columns = json.loads((folder / VOCABULARY).read_bytes())
            arrays = (np.load(folder / FILE.format(name), allow_pickle=False) for name in ARRAYS)
            lexicon._data, lexicon._indices, lexicon._indptr = arrays
        return lexicon
