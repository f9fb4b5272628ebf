"""The publications and the encoder of the benchmark of collections."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evals.bench.corpus import Reading
from evals.bench.made_up import HashEncoder, Publications
from tools.corpus.building import Wanted, build
from tools.corpus.contract import Recipe
from tools.corpus.local_engine import LocalEngine

TEXTS = ["Gout is treated with rest. Attacks of gout end within days, and ice eases them."]
COUNT = 400


def test_what_is_made_up_is_read_whole_and_the_same_every_time(tmp_path: Path) -> None:
    sources = [tmp_path / "one", tmp_path / "two"]
    for folder in sources:
        folder.mkdir()
        assert len(list(Publications(TEXTS).files(folder, COUNT))) == 2
    first, second = ([p.read_bytes() for p in sorted(folder.iterdir())] for folder in sources)
    assert first == second
    encoder = HashEncoder(16)
    recipe = Recipe(encoder=encoder.name, dimension=encoder.dimension, block=150)
    backend = Reading()
    wanted = Wanted("made-up", sources[:1], recipe)
    counts = build(tmp_path / "home", wanted, LocalEngine(), lambda: encoder, backend).counts
    assert counts.unread == 0
    assert counts.publications + counts.without_text + counts.replaced + counts.deletions == counts.steps
    assert abs(counts.without_text - 0.1 * COUNT) < 25
    assert 0 < counts.replaced < 5 * Publications.REVISED * COUNT
    assert backend.rows == counts.passages > 1.5 * counts.publications


def test_vectors_are_those_of_the_words() -> None:
    near, far, same = HashEncoder(64).encode_documents(["gout attack of the toe", "blood clot in lung", "gout attack"])
    assert np.allclose(np.linalg.norm([near, far, same], axis=1), 1)
    assert near @ same > 0.6 > near @ far
    assert HashEncoder(64).encode_documents([]).shape == (0, 64)
