"""Training of what warrants a verdict and of what medicines' records answer: small, made-up rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evals.datasets.closed import ClosedQuestion
from evals.training import medicine_head, verdict_head
from evals.training.verdict_head import Weighed, as_known, fitted, held_out, train_verdicts
from graphs.verdicts import warrant
from support.scripted_reader import ScriptedReader
from tools.medicines import answering
from tools.medicines.answering import SAID, see


def rows(count: int) -> list[Weighed]:
    """Questions of which an answer is right where its first feature is high."""
    rng = np.random.default_rng(3)
    out = []
    for n in range(count):
        gold, features = ("yes", "no")[n % 2], rng.normal(size=(2, 5))
        features[:, 0] = (3.0, -3.0) if gold == "yes" else (-3.0, 3.0)
        row = ClosedQuestion.model_validate({"id": n, "q": "Is it so?", "gold": gold, "monograph": f"page-{n}"})
        out.append(Weighed(row, features, ("yes", "no")))
    return out


def test_what_is_written_says_what_was_fitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict_head, "as_known", lambda *_: iter(()))
    path, questions, told = tmp_path / "warrant.safetensors", rows(800), list[str]()
    train_verdicts(path, tell=told.append, questions=questions)
    network = warrant.trained.__wrapped__(path)
    monkeypatch.setattr(warrant, "trained", lambda: network)
    wanted = fitted(questions, verdict_head.Settings()).probable(questions[0].rows)
    assert warrant._probable(questions[0].rows) == pytest.approx(wanted, abs=1e-5)
    assert wanted[0] > 0.8 > 0.2 > wanted[1]
    assert "800 questions" in told[0]


def test_what_a_writer_took_for_uncovered_and_medicine_answers_is_not_learned() -> None:
    fields = {"id": 1, "q": "Is it so?", "gold": "not_covered", "truth": "yes"}
    row = Weighed(ClosedQuestion.model_validate(fields), np.zeros((2, 5)), ("yes", "no"))
    assert row.learned.tolist() == [False, True]
    assert row.targets.tolist() == [0.0, 0.0]


def test_held_out_counts_each_question_once_and_wrong_ones_among_all() -> None:
    told = held_out(rows(800), verdict_head.Settings())
    assert "from 0.70: 0.0 % of all wrong, 100.0 % of the 800 covered right" in told


def test_known_questions_are_asked_of_their_own_page() -> None:
    (one,) = as_known(1, 7)
    assert one.row.monograph
    assert one.row.gold in one.says
    assert one.rows.shape[1] == len(warrant.trained().mean)


def test_a_medicine_head_is_written_as_it_was_fitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = medicine_head.examples()[::12]
    monkeypatch.setattr(medicine_head, "examples", lambda: kept)
    monkeypatch.setattr(medicine_head, "TrainedReader", lambda: ScriptedReader({}))
    path, told = tmp_path / "answering.safetensors", list[str]()
    medicine_head.train_medicines(path, tell=told.append)
    head = answering.trained.__wrapped__(path)
    monkeypatch.setattr(answering, "trained", lambda: head)
    seen = see([(r.question, r.told, r.found) for r in kept], ScriptedReader({}))
    model = medicine_head.fitted(kept, seen, medicine_head.Settings())
    for one in seen[:5]:
        assert answering.probabilities(one) == pytest.approx(model.probabilities(one), abs=0.01)
    assert set(np.array([r.gold for r in kept])) == set(SAID)
    assert f"{len(kept)} questions" in told[0]
