"""A collection on disk answers as the index in memory does: the same words' scores, the same nearest rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.collections import COMPRESSED, DIMENSION, ENCODER, FILTERS, SMALL, Rows, built, drawn, in_memory, unit
from tools.fusion import reciprocal_rank_fusion
from tools.indexes import large, postings, table
from tools.indexes.backends import LocalCollection
from tools.indexes.contract import Entry, Filter
from tools.indexes.large_building import BuildSettings
from tools.indexes.local import LocalIndex

ROWS = [drawn(0, 900), drawn(800, 300, seed=1), drawn(1100, 200)]  # d:800 to d:899 come twice: the later one counts
QUERIES = ["word0", "word1 word17 word250", "word3 word3 word40 unheard", "unheard", ""]


@pytest.fixture(scope="module", params=["small", "compressed"])
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[LocalCollection, LocalIndex]:
    chosen = SMALL if request.param == "small" else COMPRESSED
    index = built(tmp_path_factory.mktemp("disk"), ROWS, chosen)
    assert index.manifest.vectors == ("exact" if request.param == "small" else "ivf_sq8")
    return index, in_memory(ROWS)


def same_words(index: LocalCollection, oracle: LocalIndex) -> None:
    for query in QUERIES:
        for where in (None, *FILTERS):
            for k in (0, 10, 5000):
                assert index.search_text(query, k, where) == oracle.search_text(query, k, where), (query, where, k)


def test_words_have_the_scores_of_the_index_in_memory_to_the_last_bit(pair: tuple[LocalCollection, LocalIndex]) -> None:
    index, oracle = pair
    assert len(index) == index.manifest.count == len(oracle) == 1300
    same_words(index, oracle)


def test_words_counted_in_many_chunks_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "CHUNK", 97)
    monkeypatch.setattr(postings, "FLUSH", 50)
    same_words(built(tmp_path, ROWS), in_memory(ROWS))


def test_vectors_of_a_small_collection_are_compared_exactly_under_every_filter(tmp_path: Path) -> None:
    index, oracle = built(tmp_path, ROWS), in_memory(ROWS)
    queries = drawn(1, 8, seed=5)[1]
    for where in (None, *FILTERS):
        for mine, theirs in zip(
            index.search_vectors(queries, 10, where), oracle.search_vectors(queries, 10, where), strict=True
        ):
            assert [hit.id for hit in mine] == [hit.id for hit in theirs]
            assert [hit.score for hit in mine] == pytest.approx([hit.score for hit in theirs], abs=2e-6)


@pytest.mark.parametrize("few", [0, 20_000], ids=["lists", "all that pass"])
def test_a_filter_on_compressed_vectors_never_falls_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(large, "FEW", few)
    index, oracle = built(tmp_path, ROWS, COMPRESSED), in_memory(ROWS)
    queries = drawn(1, 20, seed=5)[1]
    shares = []
    for where in FILTERS:
        for mine, theirs in zip(
            index.search_vectors(queries, 10, where), oracle.search_vectors(queries, 10, where), strict=True
        ):
            assert len(mine) == len(theirs)
            assert all(where.admits(entry) for hit in mine if (entry := oracle.get(hit.id)) is not None)
            assert [hit.score for hit in mine] == sorted((hit.score for hit in mine), reverse=True)
            if theirs:
                shares.append(len({hit.id for hit in mine} & {hit.id for hit in theirs}) / len(theirs))
    assert np.mean(shares) > (0.99 if few else 0.94)


def test_equal_vectors_are_ordered_by_id_also_at_the_cut_of_compressed_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large, "FEW", 0)
    entries, vectors = drawn(0, 1000)
    vectors[:950] = vectors[0]  # more of them than candidates are asked for at first
    index = built(tmp_path, [(entries[::-1], np.ascontiguousarray(vectors[::-1]))], COMPRESSED)
    expected = sorted(f"d:{n}" for n in range(950))[:5]
    assert [hit.id for hit in index.search_vectors(vectors[:1], 5)[0]] == expected


@pytest.mark.parametrize("chosen", [SMALL, COMPRESSED], ids=["small", "compressed"])
def test_changes_count_at_once_in_every_open_index_and_after_opening_again(
    tmp_path: Path, chosen: BuildSettings
) -> None:
    index, oracle = built(tmp_path, ROWS, chosen), in_memory(ROWS)
    other = LocalCollection.open(index._folder, ENCODER, DIMENSION)
    new: Rows = drawn(1290, 30, seed=9)
    gone = [f"d:{n}" for n in range(0, 300, 2)] + ["d:1295", "d:1295", "d:nobody"]
    for one in (oracle, index):
        one.add(*new)
        assert len(one) == 1320
        assert one is oracle or len(other) == 1320
        assert one.delete(gone) == 151
        assert one.delete(gone) == 0
        assert len(one) == 1169
        one.add([Entry(id="d:0", text="自发性气胸 word17", kind="k1")], new[1][:1])
    for now in (index, other, LocalCollection.open(index._folder, ENCODER, DIMENSION)):
        assert len(now) == now.manifest.count == len(oracle)
        assert now.manifest.checksum == ""
        same_words(now, oracle)
        for name in ("d:0", "d:2", "d:5", "d:1295", "d:1300", "d:nobody"):
            assert now.get(name) == oracle.get(name)
        asked = np.concatenate([new[1][5:7], ROWS[0][1][2:9]])  # among them those of deleted rows
        for where in (None, Filter(since="2000")):
            for hits, expected in zip(
                now.search_vectors(asked, 5, where), oracle.search_vectors(asked, 5, where), strict=True
            ):
                assert [hit.id for hit in hits] == [hit.id for hit in expected]
    assert index.wants_rebuild


def test_hybrid_is_the_fusion_of_both_streams_under_one_filter(tmp_path: Path) -> None:
    index, oracle = built(tmp_path, ROWS), in_memory(ROWS)
    query = unit(np.ones((1, DIMENSION)))
    where = Filter(kinds=("k1",), since="2004")
    streams = {
        "words": [hit.id for hit in oracle.search_text("word1 word17", 40, where)],
        "vectors": [hit.id for hit in oracle.search_vectors(query, 40, where)[0]],
    }
    fused = sorted(reciprocal_rank_fusion(streams, 60), key=lambda one: (-one.score, one.id))[:7]
    hits = index.search_hybrid("word1 word17", query[0], 7, where, pool=40, rrf_k=60)
    assert [(hit.id, hit.score, hit.rank) for hit in hits] == [(f.id, f.score, n) for n, f in enumerate(fused, 1)]
    assert set(streams["words"]) & set(streams["vectors"]), "nothing was fused"


TEXTS = st.lists(st.sampled_from("fever cough 气胸 pain the 9 rash 治疗".split()), max_size=6).map(" ".join)


@settings(max_examples=12, deadline=None)
@given(st.lists(st.lists(st.tuples(st.integers(0, 9), TEXTS), max_size=6), max_size=4))
def test_any_texts_in_any_parts_have_the_scores_of_the_index_in_memory(
    tmp_path_factory: pytest.TempPathFactory, shapes: list[list[tuple[int, str]]]
) -> None:
    rows = [
        ([Entry(id=f"d:{n}", text=text) for n, text in shape], drawn(at, len(shape))[1])
        for at, shape in enumerate(shapes)
    ]
    index, oracle = built(tmp_path_factory.mktemp("any"), rows), in_memory(rows)
    assert len(index) == len(oracle)
    for query in ("fever", "pain rash 9", "气胸 治疗", "the"):
        assert index.search_text(query, 10) == oracle.search_text(query, 10)
