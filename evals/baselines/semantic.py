"""A semantic splitter of a library: chonkie's SemanticChunker, with the encoder in use.

It compares each sentence with the window before it and cuts at the minima of the smoothed similarities. A window's
vector is the mean of its sentences' vectors, as for SEOS: both see the same and differ in what they do with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evals.baselines.contract import SPECIAL, between, checked_count
from evals.baselines.ruler import Ruler, ruler_of
from prompts.errors import DataError
from tools.encoders import Encoder, Vectors
from tools.text.sentences import Span, sentences

THRESHOLD = 0.8  # code: chonkie's own default
LEAST, MOST = 0.01, 0.99  # code: chonkie takes thresholds between 0 and 1, the ends left out
ROUNDS = 12  # ours: halvings of the threshold while a number of parts is looked for


@dataclass(frozen=True)
class Semantic:
    """Chunks of at most ``size`` tokens, or of what the encoder reads where that is less."""

    size: int

    def __call__(self, text: str, title: str, encoder: Encoder, count: int | None = None) -> list[Span]:
        """Chunks; for a number of parts, no greatest size and the threshold that gives the nearest number."""
        checked_count(count)
        if not text.strip():
            return []
        ruler = ruler_of(encoder)
        if count is None:
            room = min(self.size, encoder.limit - SPECIAL - ruler.count(title))
            return _chunks(text, encoder, ruler, THRESHOLD, room)
        whole = ruler.count(text) + 1
        return _nearest(lambda threshold: _chunks(text, encoder, ruler, threshold, whole), count)


def _nearest(chunks: Callable[[float], list[Span]], count: int) -> list[Span]:
    """A higher threshold gives more chunks."""
    low, high = LEAST, MOST
    best = chunks(THRESHOLD)
    for _ in range(ROUNDS):
        if len(best) == count:
            break
        middle = (low + high) / 2
        found = chunks(middle)
        if abs(len(found) - count) < abs(len(best) - count):
            best = found
        if len(found) < count:
            low = middle
        else:
            high = middle
    return best


def _chunks(text: str, encoder: Encoder, ruler: Ruler, threshold: float, size: int) -> list[Span]:
    from chonkie import SemanticChunker

    chunker = SemanticChunker(_embeddings(encoder, ruler), threshold=threshold, chunk_size=max(1, size))
    found = chunker.chunk(text)
    if any(text[chunk.start_index : chunk.end_index] != chunk.text for chunk in found):
        raise DataError("The library changed the text that it cut.", "Install the version in constraints.txt.")
    return between(text, [chunk.start_index for chunk in found])


def _embeddings(encoder: Encoder, ruler: Ruler) -> Any:
    """The encoder as the library wants it."""
    from chonkie.embeddings.base import BaseEmbeddings

    class Embeddings(BaseEmbeddings):
        """Mean vectors of sentences."""

        @property
        def dimension(self) -> int:
            return encoder.dimension

        def embed(self, text: str) -> Vectors:
            return self.embed_batch([text])[0]

        def embed_batch(self, texts: list[str]) -> list[Vectors]:
            return mean_vectors(texts, encoder)

        def get_tokenizer(self) -> Callable[[str], int]:
            return ruler.count

    return Embeddings()


def mean_vectors(texts: Sequence[str], encoder: Encoder) -> list[Vectors]:
    """For each text the mean of its sentences' vectors, of unit length; all sentences are encoded in one call."""
    pieces = [[span.of(text) for span in sentences(text)] or [text] for text in texts]
    wanted = list(dict.fromkeys(piece for part in pieces for piece in part))
    known = dict(zip(wanted, encoder.encode_documents(wanted), strict=True)) if wanted else {}
    return [_mean([known[piece] for piece in part]) for part in pieces]


def _mean(vectors: Sequence[Vectors]) -> Vectors:
    total = np.sum(vectors, axis=0)
    unit: Vectors = (total / max(float(np.linalg.norm(total)), 1e-12)).astype(np.float32)
    return unit
