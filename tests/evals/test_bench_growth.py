"""`anamnesis dev bench growth`: what it draws, measures and says of the growth."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from evals.bench import growth
from evals.bench.growth import DIMENSION, NAME, PANELS, ROWS, SHARES, K, as_plot, as_table, exponent
from evals.bench.made_up import Correlated, Passages, number_of
from tools.text.tokens import tokens


@pytest.fixture(scope="module")
def real() -> np.ndarray:
    random = np.random.default_rng(0).normal(size=(300, 40)) * np.linspace(2, 0.1, 40)
    return (random / np.linalg.norm(random, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def collection(real: np.ndarray) -> Passages:
    return Passages(Correlated.fit(real, DIMENSION), vocabulary=50_000)


def test_passages_are_the_same_for_the_same_numbers_and_vary_as_said(collection: Passages) -> None:
    entries, vectors = collection.draw(Passages.A_PART, 2000)
    again, same = collection.draw(Passages.A_PART, 2000)
    assert entries == again
    assert np.array_equal(vectors, same)
    assert np.array_equal(vectors, collection.vectors(Passages.A_PART, 2000))
    assert [number_of(entry.id) for entry in entries] == list(range(Passages.A_PART, Passages.A_PART + 2000))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert 0.2 < np.mean([Passages.RECENT.admits(entry) for entry in entries]) < 0.29
    assert 0.002 < np.mean([Passages.RARE.admits(entry) for entry in entries]) < 0.02
    lengths = [len(entry.text.split()) for entry in entries]
    assert (min(lengths), max(lengths)) == (60, 200)
    holding = Counter(word for entry in entries for word in set(tokens(entry.text)))
    assert 0.2 < holding.most_common(1)[0][1] / 2000 < 0.4, "the commonest word stands in about a quarter"
    assert sum(n == 1 for n in holding.values()) > 0.25 * len(holding), "many words stand in one passage"


@pytest.mark.slow
def test_one_size_is_built_and_asked(
    tmp_path: Path, real: np.ndarray, collection: Passages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growth, "collection", lambda *_: collection)
    words, vectors = collection.questions(20)
    (tmp_path / "questions.json").write_text(json.dumps(words))
    np.save(tmp_path / "questions.npy", vectors)
    expected = collection.nearest(1500, vectors, K)
    assert np.array_equal(expected, np.argsort(-(vectors @ collection.vectors(0, 1500).T), axis=1)[:, :K])
    np.save(tmp_path / "truth-1500.npy", expected)
    built = growth.build(str(tmp_path), 1500, DIMENSION)
    measured = built | growth.serve(str(tmp_path), 1500, DIMENSION)
    assert measured["recall"] == 1
    on_disk = sum(path.stat().st_size for path in (tmp_path / NAME).rglob("*") if path.is_file())
    assert measured["disk_mb"] == pytest.approx(on_disk / 1e6)
    assert measured["disk_vectors"] == DIMENSION * 4
    assert measured["disk_rows"] > 0 < measured["disk_words"]
    assert ROWS.keys() | SHARES.keys() <= measured.keys()
    assert measured["vector_short"] == measured["recent_short"] == 0


def test_the_exponent_is_the_power_and_wide_where_there_is_none() -> None:
    sizes = [10_000, 100_000, 1_000_000]
    slope, half = exponent(sizes, [3 * size**0.7 for size in sizes])
    assert slope == pytest.approx(0.7)
    assert half < 1e-6
    assert exponent(sizes, [1, 50, 60])[1] > 3
    assert exponent(sizes[:2], [1, 10]) == (pytest.approx(1), float("inf"))


def test_table_and_plot_show_every_size() -> None:
    measured = {size: {key: size / 1000 * n for n, key in enumerate((*ROWS, *SHARES), 1)} for size in (1000, 10_000)}
    lines = as_table(measured).splitlines()
    assert lines[0].startswith("| figure | 1,000 | 10,000 |")
    assert len(lines) == 2 + len(ROWS) + len(SHARES)
    assert all(line.count("|") == lines[0].count("|") for line in lines)
    assert "| 1 | 10 | 1.00 | 1.00 |" in lines[2], "with two sizes there is no interval"
    figure = ElementTree.fromstring(as_plot(measured))  # noqa: S314 - our own text
    lines_ = figure.findall(".//{*}polyline")
    assert len(lines_) == sum(map(len, PANELS.values()))
    for line in lines_:
        (left, low), (right, high) = (map(float, point.split(",")) for point in line.attrib["points"].split())
        assert right > left
        assert high < low, "more is higher up"
