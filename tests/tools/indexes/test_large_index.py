"""The index for millions, on thousands: each type finds what exact search finds, and changes are seen at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from evals.bench.made_up import Correlated
from prompts.errors import DataError, InputError
from tools.encoders import Vectors
from tools.indexes.contract import Filter
from tools.indexes.large import LargeIndex
from tools.indexes.large_building import Block, BuildSettings, kind_for, lists_for

ROWS, DIMENSION = 3000, 32
KINDS = {
    "flat": BuildSettings(sample=50),
    "ivf_sq8": BuildSettings(flat_up_to=100, sample=100, block=1000),
    "ivf_pq": BuildSettings(flat_up_to=100, sample=100, block=1000, memory_budget=1000),
}


@pytest.fixture(scope="module")
def model() -> Correlated:
    random = np.random.default_rng(0)
    real = random.normal(size=(500, 48)) * np.linspace(2, 0.1, 48)
    return Correlated.fit((real / np.linalg.norm(real, axis=1, keepdims=True)).astype(np.float32), DIMENSION, rank=16)


@pytest.fixture(scope="module")
def vectors(model: Correlated) -> Vectors:
    return model.draw(ROWS, 1)


@pytest.fixture(scope="module")
def questions(model: Correlated) -> Vectors:
    return model.draw(60, 2)


def blocks(vectors: Vectors, size: int = 2500) -> Iterator[Block]:
    for at in range(0, len(vectors), size):
        part = vectors[at : at + size]
        yield f"from {at}", partial(lambda part, at: ([str(at + n) for n in range(len(part))], part), part, at)


def build(folder: Path, vectors: Vectors, kind: str) -> LargeIndex:
    return LargeIndex.build(
        folder, blocks(vectors), encoder="enc", dimension=DIMENSION, source="test", settings=KINDS[kind]
    )


@pytest.fixture(scope="module", params=KINDS)
def index(request: pytest.FixtureRequest, vectors: Vectors, tmp_path_factory: pytest.TempPathFactory) -> LargeIndex:
    index = build(tmp_path_factory.mktemp("large") / "index", vectors, request.param)
    assert index.manifest.kind == request.param
    return index


def found(index: LargeIndex, questions: Vectors, k: int = 10) -> list[list[str]]:
    return [[hit.id for hit in hits] for hits in index.search_vectors(questions, k)]


def test_questions_never_seen_find_what_exact_search_finds(
    index: LargeIndex, vectors: Vectors, questions: Vectors
) -> None:
    truth = np.argsort(-(questions @ vectors.T), axis=1)[:, :10]
    shares = [len({str(r) for r in t} & set(f)) / 10 for t, f in zip(truth, found(index, questions), strict=True)]
    manifest = index.manifest
    assert np.mean(shares) >= (0.999 if manifest.kind == "flat" else 0.92)
    assert abs(np.mean(shares) - manifest.measured.recall) < 0.06, "the manifest says what a search does"
    assert manifest.measured.recall >= manifest.measured.target
    if manifest.kind != "flat":
        assert manifest.nprobe < manifest.nlist, "tuning found no saving"
        assert manifest.code_bytes < 2 * DIMENSION


def test_scores_are_cosines_and_ranks_follow_them(index: LargeIndex, vectors: Vectors, questions: Vectors) -> None:
    for question, hits in zip(questions, index.search_vectors(questions * 7, 5), strict=True):
        assert [h.rank for h in hits] == [1, 2, 3, 4, 5]
        assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
        assert hits[0].score == pytest.approx(float(question @ vectors[int(hits[0].id)]), abs=2e-3)


def test_of_equal_ids_the_last_counts(tmp_path: Path, vectors: Vectors) -> None:
    def twice() -> Iterator[Block]:
        yield "old", lambda: (["7", "8"], vectors[:2])
        yield "new", lambda: (["7", "9"], vectors[2:4])

    index = LargeIndex.build(tmp_path / "index", twice(), encoder="enc", dimension=DIMENSION, source="twice")
    assert len(index) == 3
    hits = {h.id: h.score for h in index.search_vectors(vectors[2:3], 10)[0]}
    assert set(hits) == {"7", "8", "9"}
    assert hits["7"] == pytest.approx(1, abs=1e-3)


def test_named_ids_are_compared_exactly_and_other_filters_are_refused(
    index: LargeIndex, vectors: Vectors, questions: Vectors
) -> None:
    among = Filter(ids=("3", "2900", "nobody", "17"))
    expected = sorted((3, 17, 2900), key=lambda row: -float(vectors[row] @ questions[0]))
    hits = index.search_vectors(questions[:1], 10, among)[0]
    assert [h.id for h in hits] == [str(row) for row in expected]
    with pytest.raises(InputError, match="ids and vectors"):
        index.search_vectors(questions[:1], 10, Filter(languages=("en",)))
    assert index.search_vectors(questions[:2], 0) == [[], []]
    with pytest.raises(InputError, match="shape"):
        index.search_vectors(questions[:, :5], 10)


def test_damage_and_another_encoder_are_told(tmp_path: Path, vectors: Vectors) -> None:
    folder = tmp_path / "index"
    index = build(folder, vectors, "ivf_sq8")
    index.verify()
    with pytest.raises(DataError, match="made with enc"):
        LargeIndex.open(folder, "other", DIMENSION)
    lists = next(folder.glob("*/lists.ivf"))
    good = lists.read_bytes()
    lists.write_bytes(good[:-100])
    with pytest.raises(DataError, match="lists"):
        LargeIndex.open(folder, "enc", DIMENSION)
    lists.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    with pytest.raises(DataError, match="damaged"):
        LargeIndex.open(folder, "enc", DIMENSION).verify()
    lists.write_bytes(good)
    kept = lists.with_name("updates.npz")
    kept.write_bytes(b"changes that an older version kept")
    with pytest.raises(DataError, match="holds changes"):
        LargeIndex.open(folder, "enc", DIMENSION)
    kept.unlink()
    lists.unlink()
    with pytest.raises(DataError, match="missing"):
        LargeIndex.open(folder, "enc", DIMENSION)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"format": 0}))
    with pytest.raises(DataError, match="format"):
        LargeIndex.open(folder, "enc", DIMENSION)


def test_a_vector_without_direction_is_refused_by_name(tmp_path: Path, vectors: Vectors) -> None:
    bad = vectors[:3].copy()
    bad[1] = 0
    with pytest.raises(InputError, match="of 1 is zero"):
        build(tmp_path / "index", bad, "flat")


@pytest.mark.parametrize(
    ("count", "kept", "kind"),
    [(100_000, 768, "flat"), (1_000_000, 192, "ivf_sq8"), (38_000_000, 192, "ivf_pq"), (5_000_000, 768, "ivf_sq8")],
)
def test_the_type_follows_size_and_memory(count: int, kept: int, kind: str) -> None:
    assert kind_for(count, kept, BuildSettings()) == kind


def test_lists_grow_with_the_square_root_and_can_always_be_trained() -> None:
    assert [lists_for(n) for n in (1, 1000, 1_000_000, 38_000_000)] == [1, 16, 4096, 32_768]
    assert all(lists_for(n) * 39 <= n for n in (39, 100, 5000, 123_456))
