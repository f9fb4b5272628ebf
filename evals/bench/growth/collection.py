"""A made-up collection of any size: words by Zipf's law, vectors in clusters, fields to filter on."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from evals.bench.correlated import Correlated
from tools.encoders import Vectors
from tools.indexes.contract import Entry, Filter, Part
from tools.text.tokens import STOP

DIMENSION = 384  # code: the embedded encoder's
VOCABULARY = 1_000_000  # ours: different words; PubMed has more, most of them in one record
EXPONENT, SHIFT = 1.6, 150  # ours: word n as often as (n + 150)^-1.6: new words come about as in 42,577 abstracts
STOP_SHARE = 0.4  # ours: of the words of English prose
WORDS = (60, 201)  # ours: words of a passage
TOPICS = 2_000  # ours: clusters of vectors
TOPIC_SHARE = 0.6  # ours: of a vector that its cluster gives
A_PART = 20_000  # ours: passages drawn at once; part of what a seed gives
QUERY_WORDS = 6  # ours: words of a question that are no stop words
MONTHS = 45 * 12  # ours: dates from 1980 to 2024
FIRST_PMID = 50_000_000  # ours: above PubMed's own
KINDS = ("review", "trial", "report", "guideline")
SHARES = (0.3, 0.2, 0.49, 0.01)
RECENT = Filter(since="2014-01")  # 11 years of 45
RARE = Filter(kinds=("guideline",))  # 1 %
SYLLABLES = [c + v for c in "bcdfghjklmnprstvwz" for v in "aeiou"]


class Collection:
    """Draws passages; the same for the same seed.

    Args:
        model: gives vectors as an encoder's spread. vocabulary: how many different words.
    """

    def __init__(self, model: Correlated, vocabulary: int = VOCABULARY) -> None:
        self._model = model
        self._topics = model.draw(TOPICS, seed=3)
        self._words = np.array([_word(n) for n in range(vocabulary)], dtype=object)
        weight = (np.arange(1, vocabulary + 1, dtype=np.float64) + SHIFT) ** -EXPONENT
        self._cumulative = np.cumsum(weight / weight.sum())
        self._stop = np.array(sorted(STOP), dtype=object)

    def parts(self, count: int) -> Iterator[Part]:
        """So many passages in parts."""
        for first in range(0, count, A_PART):
            yield Part(name=f"from {first}", read=partial(self.draw, first, min(A_PART, count - first)))

    def draw(self, first: int, count: int) -> tuple[list[Entry], Vectors]:
        """Passages from number ``first`` on, and their vectors (count, dimension)."""
        random = np.random.default_rng((first, 1))
        lengths = random.integers(*WORDS, count)
        words = self._prose(random, int(lengths.sum()))
        ends = np.cumsum(lengths).tolist()
        months = random.integers(0, MONTHS, count).tolist()
        kinds = random.choice(KINDS, count, p=SHARES).tolist()
        entries = [
            Entry(
                id=f"pubmed:{FIRST_PMID + first + n}@0-{length}",
                text=" ".join(words[end - length : end]),
                collection="made-up",
                kind=kind,
                date=f"{1980 + month // 12}-{month % 12 + 1:02}",
            )
            for n, (end, length, month, kind) in enumerate(zip(ends, lengths.tolist(), months, kinds, strict=True))
        ]
        return entries, self.vectors(first, count)

    def vectors(self, first: int, count: int) -> Vectors:
        """The vectors of these passages alone."""
        return self._clustered((first, 2), count)

    def questions(self, count: int) -> tuple[list[str], Vectors]:
        """Questions and their vectors, of passages that are in no collection."""
        random = np.random.default_rng(4)
        words = self._drawn(random, count * QUERY_WORDS).reshape(count, QUERY_WORDS)
        return [" ".join(row) for row in words.tolist()], self._clustered((5, 6), count)

    def _prose(self, random: np.random.Generator, count: int) -> list[str]:
        words = self._drawn(random, count)
        stop = random.random(count) < STOP_SHARE
        words[stop] = self._stop[random.integers(0, len(self._stop), int(stop.sum()))]
        prose: list[str] = words.tolist()
        return prose

    def _drawn(self, random: np.random.Generator, count: int) -> NDArray[np.object_]:
        at = np.searchsorted(self._cumulative, random.random(count))
        return np.asarray(self._words[np.minimum(at, len(self._words) - 1)], dtype=object)

    def _clustered(self, seed: tuple[int, int], count: int) -> Vectors:
        random = np.random.default_rng(seed)
        topics = self._topics[random.integers(0, TOPICS, count)]
        vectors = TOPIC_SHARE * topics + (1 - TOPIC_SHARE) * self._model.draw(count, int(random.integers(1 << 31)))
        unit: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        return unit


def truth(collection: Collection, count: int, questions: Vectors, k: int) -> NDArray[np.int64]:
    """The k nearest passages of each question, every vector compared in single precision: (questions, k)."""
    best, rows = np.empty((len(questions), 0), np.float32), np.empty((len(questions), 0), np.int64)
    for first in range(0, count, A_PART):
        scores = questions @ collection.vectors(first, min(A_PART, count - first)).T
        numbers = np.broadcast_to(np.arange(first, first + scores.shape[1]), scores.shape)
        best, rows = np.concatenate((best, scores), axis=1), np.concatenate((rows, numbers), axis=1)
        top = np.argpartition(-best, k - 1, axis=1)[:, :k]
        best, rows = np.take_along_axis(best, top, axis=1), np.take_along_axis(rows, top, axis=1)
    return rows


def number_of(id: str) -> int:
    """The number of a passage by its id."""
    return int(id.removeprefix("pubmed:").split("@")[0]) - FIRST_PMID


def _word(number: int) -> str:
    """A word of syllables, the shorter the lower its number."""
    word = ""
    number += len(SYLLABLES)
    while number:
        number, at = divmod(number, len(SYLLABLES))
        word += SYLLABLES[at]
    return word
