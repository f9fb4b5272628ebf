"""The reader's relevance head in a cross-encoder's place: a question read with the sentences of a document."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tools.passages.lexical import coverage, inverse_frequency
from tools.reading.contract import Pair, Reader
from tools.text.sentences import sentences
from tools.text.tokens import tokens

SENTENCES = 3  # ours: of a document that are read, those that share most with the question


class RelevanceReranker:
    """Orders documents by how surely one of their sentences speaks of the question's subject.

    It was trained on sentences of abstracts, and reads English alone; what it cannot read keeps its place (score 0).

    Args:
        reader: whose relevance is taken.
    """

    name = "the trained reader's relevance head"

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def rerank(self, query: str, articles: Sequence[str]) -> NDArray[np.float32]:
        """Array (len(articles),), 0..1: higher is more relevant."""
        chosen = [_telling(query, article) for article in articles]
        readings = iter(self._reader.read([Pair(query, sentence) for part in chosen for sentence in part]))
        best = [max((next(readings).relevance for _ in part), default=0.0) for part in chosen]
        return np.array(best, dtype=np.float32)


def _telling(query: str, article: str) -> list[str]:
    """The sentences of a text that share most with a question, in their order."""
    said = [span.of(article) for span in sentences(article)]
    bags = [frozenset(tokens(sentence)) for sentence in said]
    if not said:
        return []
    scores = coverage(tokens(query), bags, inverse_frequency(bags))
    return [said[n] for n in sorted(sorted(range(len(said)), key=lambda i: (-scores[i], i))[:SENTENCES])]
