"""How well texts cover queries: cosine of embeddings beside inverse-document-frequency weighted words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence, Set
from typing import NamedTuple

import numpy as np

from tools.encoders import Encoder, Vectors
from tools.medicines.names import forms
from tools.text.tokens import tokens

DENSE_SHARE = 0.65  # ours: paraphrase first, shared words second
WINDOW = 1000  # characters; ours: below the 256 tokens that the embedded encoder reads


class Scores(NamedTuple):
    """Scores of texts against queries.

    Attributes:
        relevance: (queries, texts), 0..1, dense and lexical together.
        dense: (queries, texts) cosine, best window of each text.
        similarity: (texts, texts) cosine between the texts' mean vectors.
    """

    relevance: Vectors
    dense: Vectors
    similarity: Vectors


class Relevance:
    """Scores texts against queries with one encoder call for each side."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def score(self, queries: Sequence[str], texts: Sequence[str]) -> Scores:
        """Scores of every text for every query, each query in its best form (`forms`: brands and medicines by class).

        A text longer than a window counts by its best window.
        """
        if not queries or not texts:
            empty = np.zeros((len(queries), len(texts)), dtype=np.float32)
            return Scores(empty, empty, np.zeros((len(texts), len(texts)), dtype=np.float32))
        pieces = [windows(t) for t in texts]
        starts = np.cumsum([0, *(len(p) for p in pieces[:-1])])
        vectors = self._encoder.encode_documents([w for p in pieces for w in p])
        asked = [forms(q) for q in queries]
        first = np.cumsum([0, *(len(f) for f in asked[:-1])])
        by_window = self._encoder.encode_queries([form for f in asked for form in f]) @ vectors.T
        by_form = np.clip(np.maximum.reduceat(by_window, starts, axis=1), 0.0, 1.0)
        dense = np.asarray(np.maximum.reduceat(by_form, first, axis=0), dtype=np.float32)
        means = np.add.reduceat(vectors, starts, axis=0)
        means = means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)
        relevance = np.asarray(DENSE_SHARE * dense + (1 - DENSE_SHARE) * lexical(queries, texts), dtype=np.float32)
        return Scores(relevance, dense, np.asarray(means @ means.T, dtype=np.float32))


def lexical(queries: Sequence[str], texts: Sequence[str]) -> Vectors:
    """(queries, texts): share of each query's words in each text, weighted by rarity among the texts; best form."""
    bags = [set(tokens(t)) for t in texts]
    weigh = Rarity(bags)
    out = np.zeros((len(queries), len(texts)), dtype=np.float32)
    for row, query in enumerate(queries):
        wanted = [set(tokens(form)) for form in forms(query)]
        out[row] = [max(covered(words, bag, weigh) for words in wanted) for bag in bags]
    return out


class Rarity:
    """Weight of a word among bags of words: log(1 + (n - df + 0.5) / (df + 0.5)), as in BM25 (Robertson).

    A word that no bag holds weighs as one that a single bag holds (ours): among few texts the words of a question in
    everyday language would else outweigh all that the texts do hold.
    """

    def __init__(self, bags: Sequence[Set[str]]) -> None:
        self._n = len(bags)
        self._df = Counter(word for bag in bags for word in bag)

    def __call__(self, word: str) -> float:
        df = max(self._df[word], 1)
        return math.log(1 + (self._n - df + 0.5) / (df + 0.5))


def covered(wanted: Set[str], bag: Set[str], weigh: Rarity) -> float:
    """Weighted share of the wanted words that the bag holds, 0..1; 0 when nothing is wanted."""
    total = sum(weigh(w) for w in wanted)
    return sum(weigh(w) for w in wanted & bag) / total if total else 0.0


def jaccard(left: Set[str], right: Set[str]) -> float:
    """Shared words over all words, 0..1."""
    return len(left & right) / len(left | right) if left or right else 0.0


def windows(text: str, size: int = WINDOW) -> list[str]:
    """The text in pieces of at most ``size`` characters, cut at white space where there is any."""
    pieces = []
    while len(text) > size:
        cut = text.rfind(" ", size // 2, size)
        cut = size if cut < 0 else cut
        pieces.append(text[:cut])
        text = text[cut:].lstrip()
    return [*pieces, text] if text or not pieces else pieces
