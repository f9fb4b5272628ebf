"""Reciprocal rank fusion and source-balanced pools."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.fusion import balanced_pool, reciprocal_rank_fusion

RANKING = st.lists(st.sampled_from("abcdefgh"), unique=True)


def test_scores_are_sums_of_reciprocal_ranks() -> None:
    fused = reciprocal_rank_fusion({"words": ["a", "b"], "meaning": ["b", "c"]})
    assert [f.id for f in fused] == ["b", "a", "c"]
    assert fused[0].score == pytest.approx(1 / 62 + 1 / 61)
    assert fused[0].ranks == {"words": 2, "meaning": 1}
    assert [f.rank for f in fused] == [1, 2, 3]


def test_ties_go_to_the_best_single_rank_then_to_the_id() -> None:
    assert [f.id for f in reciprocal_rank_fusion({"x": ["b"], "y": ["a"]})] == ["a", "b"]
    # With k = 0: 1/2 + 1/2 ties with 1/1; the one that was first somewhere wins.
    fused = reciprocal_rank_fusion({"x": ["z", "a"], "y": ["y", "a"]}, k=0)
    assert [f.id for f in fused] == ["y", "z", "a"]


def test_a_repeated_id_counts_once_a_stream() -> None:
    assert reciprocal_rank_fusion({"x": ["a", "a", "b"]})[1].ranks == {"x": 2}
    assert reciprocal_rank_fusion({}) == []


@given(st.dictionaries(st.sampled_from("xyz"), RANKING))
def test_every_id_appears_once_and_the_order_of_streams_does_not_matter(streams: dict[str, list[str]]) -> None:
    fused = reciprocal_rank_fusion(streams)
    assert sorted(f.id for f in fused) == sorted({i for ids in streams.values() for i in ids})
    turned = reciprocal_rank_fusion(dict(reversed(streams.items())))
    assert [(f.id, f.score) for f in turned] == [(f.id, f.score) for f in fused]


def test_each_source_gives_its_own_first_ones_in_turn() -> None:
    sources = {"pubmed": ["p1", "p2", "p3"], "library": ["l1"], "empty": []}
    assert balanced_pool(sources, 2) == ["p1", "l1", "p2"]
    assert balanced_pool({"a": ["x", "y"], "b": ["x", "z"]}, 5) == ["x", "y", "z"]
