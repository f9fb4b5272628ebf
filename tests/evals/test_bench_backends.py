"""The benchmark of the backends: what it counts as the same, and that it sees a difference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agent.settings import load_settings
from evals.bench import backends
from evals.bench.backends import Collection, compare, overlap
from tools.indexes.contract import Entry

WORDS = "fever cough rash chest pain oedema wheeze nausea gout fracture".split()


def small(count: int = 40) -> Collection:
    chance = np.random.default_rng(0)
    vectors = chance.normal(size=(count + 3, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    texts = [" ".join(chance.choice(WORDS, 4 + n)) for n in range(count)]
    entries = [Entry(id=f"d{n}", text=text, date=f"20{n % 30:02d}-01-01") for n, text in enumerate(texts)]
    return Collection(entries, vectors[:count], ["fever and gout", "chest pain", "rash"], vectors[count:], "test")


def test_overlap_is_a_share_of_the_longer_list() -> None:
    assert overlap(["a", "b"], ["b", "a"]) == 1
    assert overlap(["a", "b", "c", "d"], ["a", "x"]) == 0.25
    assert overlap([], ["a"]) == 0
    assert overlap([], []) == 1


def test_both_give_the_same_and_every_way_is_measured(tmp_path: Path) -> None:
    figures = {figure.name: figure for figure in compare(small(), load_settings(config=""), tmp_path)}
    shares = {name: figure.value for name, figure in figures.items() if "overlap" in name}
    assert 0 < shares.pop("words.3_segments.overlap@10") <= 1
    assert shares == {
        f"{way}.{rows}.overlap@10": 1.0 for way in ("words", "vector", "hybrid") for rows in ("all", "dates")
    }
    assert figures["words.dates.overlap@10"].n == 3
    assert figures["build.milvus"].n == 40
    assert figures["hybrid.all.milvus.p50"].value > 0


def test_a_difference_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tools.indexes.milvus.index import MilvusIndex

    monkeypatch.setattr(MilvusIndex, "search_text", lambda *_: [])
    monkeypatch.setattr(backends, "FILTERS", {"all": None})
    figures = {figure.name: figure.value for figure in compare(small(), load_settings(config=""), tmp_path)}
    assert figures["words.all.overlap@10"] == 0
    assert figures["vector.all.overlap@10"] == 1
