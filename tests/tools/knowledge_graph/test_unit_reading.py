"""A case that is read again is not embedded again, reads the same, and Chinese is never embedded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from support.close import assert_close
from tools.encoders import Encoder, Vectors
from tools.knowledge_graph import matching
from tools.knowledge_graph.lookup import KnowledgeGraph

CASE = "I have a dry cough and a fever. My knee hurts. I do not wheeze."


class Counting:
    """An encoder that keeps what it was asked."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        # what has the embedded name is not asked: the heads have embedded the same words
        self.name, self.dimension, self.limit = "counted", encoder.dimension, encoder.limit
        self.asked: list[str] = []

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return self._encoder.encode_queries(texts)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.encode_documents(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._encoder.count_tokens(texts)


def test_what_was_read_is_remembered_and_the_same(
    encoder: Encoder, write_graph: Callable[[None], Path], tmp_path: Path
) -> None:
    counting = Counting(encoder)
    graph = KnowledgeGraph(counting, tmp_path, write_graph(None))
    first = graph.look_up(CASE)
    once = len(counting.asked)
    assert once > 0
    assert graph.look_up(CASE) == first
    assert len(counting.asked) == once
    graph.look_up(f"{CASE} I have a rash.")
    assert [t for t in counting.asked[once:] if "knee" in t] == []
    fresh = KnowledgeGraph(encoder, tmp_path, write_graph(None))
    assert_close(fresh.look_up(CASE), first)


def test_memory_is_bounded_and_chinese_is_not_embedded(
    encoder: Encoder, write_graph: Callable[[None], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "REMEMBERED", 1)
    counting = Counting(encoder)
    graph = KnowledgeGraph(counting, tmp_path, write_graph(None))
    first = graph.look_up(CASE)
    assert_close(graph.look_up(CASE), first)  # read again in other batches
    asked = len(counting.asked)
    graph.look_up("我有词fever，没有词rash。")
    assert len(counting.asked) == asked
