"""An encoder of words: a token a word, and vectors that count letters. Quick, and enough to cut texts by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tools.encoders import Vectors

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class WordEncoder:
    """Tokens are words; texts with like letters have like vectors."""

    name, dimension = "words", len(LETTERS)

    def __init__(self, limit: int = 64) -> None:
        self.limit = limit

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return self.encode_documents(texts)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        rows = np.array([[1e-3 + t.lower().count(c) for c in LETTERS] for t in texts], dtype=np.float32)
        rows = rows.reshape(-1, len(LETTERS))
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)  # type: ignore[no-any-return]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(t.split()) for t in texts]
