"""The encoder's share of a build's time."""

from __future__ import annotations

import time
from collections.abc import Sequence

from tools.encoders import Encoder, Vectors


class TimedEncoder:
    """An encoder that counts the seconds spent in it."""

    def __init__(self, encoder: Encoder) -> None:
        self.name, self.dimension, self.limit = encoder.name, encoder.dimension, encoder.limit
        self._encoder = encoder
        self.seconds = 0.0

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension)."""
        started = time.perf_counter()
        vectors = self._encoder.encode_queries(texts)
        self.seconds += time.perf_counter() - started
        return vectors

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension)."""
        started = time.perf_counter()
        vectors = self._encoder.encode_documents(texts)
        self.seconds += time.perf_counter() - started
        return vectors

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text; tokenising is the encoder's time too."""
        started = time.perf_counter()
        counts = self._encoder.count_tokens(texts)
        self.seconds += time.perf_counter() - started
        return counts
