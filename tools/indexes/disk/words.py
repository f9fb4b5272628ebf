"""BM25 over memory-mapped postings: by bm25s's own scores, or counted anew once rows came or went."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tools.indexes.disk.changes import Changes
from tools.indexes.disk.layout import mapped_array
from tools.indexes.disk.ordering import COUNTS, LENGTHS, PARAMETERS, contributions, idf

Scores = NDArray[np.float32]


class DiskWords:
    """The words of a finished index.

    Args:
        folder: as `tools.indexes.disk.ordering.write_words` left it.
        rows: rows stored. count: rows that count. tokens: words in these.
    """

    def __init__(self, folder: Path, rows: int, count: int, tokens: int) -> None:
        self._rows, self._count, self._tokens = rows, count, tokens
        self._lengths: NDArray[np.int32] = mapped_array(folder / LENGTHS)
        self._model: Any = None
        if (folder / PARAMETERS).is_file():
            import bm25s

            self._model = bm25s.BM25.load(folder, mmap=True, load_vocab=False, show_progress=False)
            kept = self._model.scores
            kept.update({name: np.asarray(kept[name]) for name in ("data", "indices", "indptr")})
            self._counts = mapped_array(folder / COUNTS)

    def scores(self, numbers: Sequence[int]) -> Scores:
        """(rows,): the score of each row for words given by their numbers; a word given twice counts twice."""
        if self._model is None or not numbers:
            return np.zeros(self._rows, dtype=np.float32)
        return np.asarray(self._model.get_scores_from_ids(list(numbers)), dtype=np.float32)

    def scores_with(self, words: Sequence[str], numbers: dict[str, int], changes: Changes) -> tuple[Scores, Scores]:
        """(rows,) and (fresh rows,): the scores that BM25 gives for the collection as it is after the changes.

        Args:
            words: of the query; one given twice counts twice. numbers: of those that the finished index knows.
        """
        stored, fresh = np.zeros(self._rows, dtype=np.float32), np.zeros(len(changes.ids), dtype=np.float32)
        count = self._count - len(changes.gone) + len(changes.ids)
        total = self._tokens - int(self._lengths[changes.gone].sum(dtype=np.int64)) + int(changes.lengths.sum())
        for word in words if total else ():
            rows, counts = self._postings(numbers.get(word), changes)
            places, often = changes.holding(word)
            if not len(rows) + len(places):
                continue
            weight = idf(len(rows) + len(places), count)
            stored[rows] += contributions(counts, self._lengths[rows], weight, total / count)
            fresh[places] += contributions(often, changes.lengths[places], weight, total / count)
        return stored, fresh

    def _postings(self, number: int | None, changes: Changes) -> tuple[NDArray[Any], NDArray[Any]]:
        """Rows that hold a word and are still there, and how often."""
        if self._model is None or number is None:
            return np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32)
        start, end = self._model.scores["indptr"][number : number + 2].tolist()
        rows, counts = self._model.scores["indices"][start:end], self._counts[start:end]
        if not len(changes.gone):
            return rows, counts
        kept = np.isin(rows, changes.gone, invert=True)
        return rows[kept], counts[kept]
