"""A real server with a tiny model of random weights: what it says is noise, and every turn ends valid and honest."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from evals.bench.faults import invalid
from evals.bench.random_model import ask_all, figures_of, missing, random_server
from evals.bench.run import QUESTIONS

KINDS = ("case", "evidence", "multiple_choice")


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.skipif(bool(missing()), reason=missing())
def test_every_kind_of_question_ends_valid_and_tells_what_was_judged_locally(
    built_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    questions = yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))
    asked = [next(q for q in questions if q["kind"] == kind) for kind in KINDS]
    with random_server(tmp_path) as (url, model):
        answers = ask_all(url, model, asked, built_home)
    assert [invalid(a) for a in answers] == [[]] * len(KINDS)
    figures = {f.name: f.value for f in figures_of(answers)}
    assert figures["random.unknown_ids"] == figures["random.unverified_quotes"] == 0
    assert all(a.usage.model_calls for a in answers)
    assert all(any(n.code == "judged_locally" for n in a.notices) for a in answers)
