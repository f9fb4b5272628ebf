"""The encoder of the benchmark: words hashed into a vector, so that what is measured is the pipeline around it."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from tools.encoders import Vectors

DIMENSION = 64  # ours: of the vectors; the embedded encoder has 384, which only the writing of parts feels
KNOWN = 100_000  # ours: words whose places are remembered


class HashEncoder:
    """Texts with words in common are near each other; three tokens for two words, as word pieces have."""

    limit = 256

    def __init__(self, dimension: int = DIMENSION) -> None:
        self.dimension = dimension
        self.name = f"words-hashed-{dimension}"

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension)."""
        return self.encode_documents(texts)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension)."""
        places = [[_hash(word) % self.dimension for word in text.split()] for text in texts]
        rows = np.repeat(np.arange(len(texts)), [len(found) for found in places])
        flat = rows * self.dimension + np.fromiter((p for found in places for p in found), dtype=np.int64)
        counts = np.bincount(flat, minlength=len(texts) * self.dimension).reshape(len(texts), self.dimension)
        vectors = counts.astype(np.float32) + 1e-3
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text."""
        return [3 * len(text.split()) // 2 for text in texts]


@lru_cache(maxsize=KNOWN)
def _hash(word: str) -> int:
    return zlib.crc32(word.encode())
