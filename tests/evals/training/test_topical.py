"""What tells what a study is about is trained on: which document is a question's own, and which are others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agent.settings import Settings
from evals.contract import TaskContext
from evals.datasets.pubmedqa import PubMedQuestion
from evals.training import topical
from graphs.verdicts.topical import FEATURES, with_products
from support.word_encoder import WordEncoder


def test_a_trial_of_ours_stands_beside_the_nearest_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = topical.TRIALS.read_text(encoding="utf-8").splitlines()[:4]
    few = tmp_path / "trials.jsonl"
    few.write_text("\n".join(rows), encoding="utf-8")
    monkeypatch.setattr(topical, "TRIALS", few)
    context = TaskContext(data=tmp_path, limit=0, seed=0, settings=Settings(home=tmp_path))
    found = list(topical.own_trials(context, WordEncoder()))
    assert [len(set(r.group)) for r in found] == [1] * 4
    for r in found:
        assert r.x.shape == (1 + topical.NEIGHBOURS, FEATURES)
        assert r.own.tolist() == [True, False, False]
        assert r.x[0, 0] > r.x[1:, 0].max()  # its own trial holds most of the question's words


def test_a_piece_is_of_its_article_alone() -> None:
    row = PubMedQuestion.model_construct(id="1", pmid="123")
    assert topical.of_question("pubmed:123@0-40", row)
    assert not topical.of_question("pubmed:1234@0-40", row)


def test_every_two_features_are_multiplied_once() -> None:
    rows = with_products(np.array([[2.0, 3.0, 5.0]]))
    assert rows.tolist() == [[2, 3, 5, 4, 6, 10, 9, 15, 25]]
