"""An encoder for evaluations: every vector is kept on disk, because the texts are public and come again.

Sessions of users never go through it: `tools.embedding_cache.CachedEncoder` writes no query.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tools.embedding_cache import CachedEncoder
from tools.encoders import Encoder, Vectors


class EvalEncoder:
    """An encoder that computes the vector of a text once, whichever side it is on.

    Args:
        encoder: computes what is missing; it keeps its document vectors itself.
        folder: where the vectors lie, apart from the agent's own cache.
    """

    def __init__(self, encoder: Encoder, folder: Path) -> None:
        self._encoder = encoder
        self.name, self.dimension, self.limit = encoder.name, encoder.dimension, encoder.limit
        self._queries = CachedEncoder(_QueriesAsDocuments(encoder), folder, public=True)
        self._documents = CachedEncoder(encoder, folder / "documents", public=True)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension); only texts never seen before are encoded."""
        return self._queries.encode_documents(texts)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension); texts given with a question too, which the agent itself does not keep."""
        return self._documents.encode_documents(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special tokens left out."""
        return self._encoder.count_tokens(texts)

    def close(self) -> None:
        """Close the caches of the evaluation."""
        self._queries.close()
        self._documents.close()


class _QueriesAsDocuments:
    """The query side of an encoder, offered as its document side, so that one cache serves both."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.name, self.dimension, self.limit = encoder.name, encoder.dimension, encoder.limit

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.encode_queries(texts)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.encode_queries(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._encoder.count_tokens(texts)
