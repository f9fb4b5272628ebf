"""Documents as answers are sought in them: the words of the whole, and the meaning of their windows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tools.encoders import Encoder, Vectors
from tools.library.document import lead
from tools.library.own import paragraph_windows
from tools.passages.batched_bm25 import BatchedBM25
from tools.questions.bags import bag
from tools.questions.contract import SourceDocument
from tools.readers.contract import Section
from tools.text.tokens import tokens

CHUNK = 64  # ours: documents whose windows are embedded between two reports of progress
LEXICAL = 0.5  # ours: words and meaning count alike
Scores = NDArray[np.float32]
Progress = Callable[[str, int, int], None]


class Rarity:
    """Weight of a token among documents: log(1 + (n - df + 0.5) / (df + 0.5)), as in BM25 (Robertson)."""

    def __init__(self, bags: Sequence[Sequence[str]]) -> None:
        self._n = len(bags)
        self._df = Counter(token for bag in bags for token in set(bag))

    def __call__(self, token: str) -> float:
        """The weight; that of a token of one document for one that none holds."""
        df = max(self._df[token], 1)
        return math.log(1 + (self._n - df + 0.5) / (df + 0.5))


class Collection:
    """A collection that questions are asked of.

    Args:
        documents: in any order; ids differ.
    """

    def __init__(self, documents: Sequence[SourceDocument]) -> None:
        self.documents = tuple(documents)
        self.number = {d.id: n for n, d in enumerate(documents)}
        bags = [tokens(f"{d.title} {d.text}") for d in documents]
        self.rarity = Rarity(bags)
        self._words = BatchedBM25(bags)
        self._windows: Vectors | None = None
        self._first: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def embed(self, encoder: Encoder, progress: Progress | None = None) -> None:
        """Embed the windows of all documents, once."""
        parts: list[Vectors] = []
        first: list[int] = []
        count = 0
        for at in range(0, len(self.documents), CHUNK):
            texts = [_window_texts(d, encoder) for d in self.documents[at : at + CHUNK]]
            for found in texts:
                first.append(count)
                count += len(found)
            parts.append(encoder.encode_documents([text for found in texts for text in found]))
            if progress is not None:
                progress("documents", min(at + CHUNK, len(self.documents)), len(self.documents))
        self._windows = np.concatenate(parts) if parts else np.empty((0, encoder.dimension), dtype=np.float32)
        self._first = np.array(first, dtype=np.int64)

    def answering(self, questions: Sequence[str], vectors: Vectors) -> Scores:
        """Array (documents, questions): how well each answers, 0..1; BM25 as a share of the best, and cosine, alike.

        Args:
            vectors: of the questions, (questions, dimension).
        """
        words = self._words.scores([bag(q) for q in questions])
        most = words.max(axis=0, initial=np.float32(1e-9))
        meaning = self.nearness(vectors)
        return np.asarray(LEXICAL * words / most + (1 - LEXICAL) * meaning, dtype=np.float32)

    def nearness(self, vectors: Vectors) -> Scores:
        """Array (documents, questions): cosine of the nearest window. `embed` comes first."""
        if self._windows is None:
            raise RuntimeError("the windows are not embedded")
        return np.asarray(np.maximum.reduceat(self._windows @ vectors.T, self._first, axis=0), dtype=np.float32)


def _window_texts(document: SourceDocument, encoder: Encoder) -> list[str]:
    """What is embedded of a document: its windows, each after the title; the title alone where there is no text."""
    if document.windows:
        return [f"{lead(document.title, w.section)}{document.text[w.start : w.end]}" for w in document.windows]
    sections = (Section(title="", start=0, end=len(document.text)),)
    before = lead(document.title, "") if document.title.strip() else ""
    windows = paragraph_windows(document.title, document.text, sections, encoder)
    return [f"{before}{document.text[w.start : w.end]}" for w in windows] or [before or document.id]
