"""Query vectors of evaluation texts are computed once, and only evaluations keep them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evals.sessions import EvalEncoder
from tools.embedding_cache import CachedEncoder, unkept
from tools.encoders import Vectors


class Counting:
    """An encoder whose two sides differ and that counts the texts it was given."""

    name, dimension, limit = "counting", 4, 8

    def __init__(self) -> None:
        self.queries: list[str] = []
        self.documents: list[str] = []

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        self.queries += texts
        return self._vectors("query", texts)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        self.documents += texts
        return self._vectors("document", texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(t.split()) for t in texts]

    def _vectors(self, side: str, texts: Sequence[str]) -> Vectors:
        digests = [hashlib.sha256(f"{side} {t}".encode()).digest()[:4] for t in texts]
        return np.array([list(d) for d in digests], dtype=np.float32).reshape(-1, 4) / 255


def test_a_second_run_encodes_nothing(tmp_path: Path) -> None:
    first = Counting()
    encoder = EvalEncoder(first, tmp_path)
    vectors = encoder.encode_queries(["a", "b", "a"])
    encoder.close()
    assert first.queries == ["a", "b"]
    np.testing.assert_array_equal(vectors, Counting().encode_queries(["a", "b", "a"]))
    second = Counting()
    again = EvalEncoder(second, tmp_path)
    np.testing.assert_array_equal(again.encode_queries(["b", "a"]), vectors[[1, 0]])
    again.encode_queries(["c"])
    assert second.queries == ["c"]


def test_the_two_sides_are_not_mixed_up(tmp_path: Path) -> None:
    inner = Counting()
    encoder = EvalEncoder(CachedEncoder(inner, tmp_path / "documents"), tmp_path / "queries")
    query, document = encoder.encode_queries(["a"]), encoder.encode_documents(["a"])
    assert not np.array_equal(query, document)
    np.testing.assert_array_equal(document, Counting().encode_documents(["a"]))
    assert (encoder.name, encoder.dimension, encoder.limit) == ("counting", 4, 8)
    assert encoder.count_tokens(["x y z"]) == [3]
    assert encoder.encode_queries([]).shape == (0, 4)


def test_a_users_encoder_never_writes_a_query(tmp_path: Path) -> None:
    inner = Counting()
    user = CachedEncoder(inner, tmp_path)
    user.encode_queries(["my secret"])
    user.encode_queries(["my secret"])
    assert inner.queries == ["my secret", "my secret"]


def test_texts_given_with_a_question_are_kept_by_evaluations_alone(tmp_path: Path) -> None:
    inner = Counting()
    agents = CachedEncoder(inner, tmp_path / "agent")
    with unkept():
        agents.encode_documents(["a letter"])
        agents.encode_documents(["a letter"])
        assert inner.documents == ["a letter", "a letter"]
        EvalEncoder(agents, tmp_path / "evaluations").encode_documents(["a letter"])
        EvalEncoder(agents, tmp_path / "evaluations").encode_documents(["a letter"])
    assert len(inner.documents) == 3
    agents.encode_documents(["public"])
    agents.encode_documents(["public"])
    assert inner.documents[3:] == ["public"]
