"""Agreement of raters and of judges with people: known values, a file of labels, LiveQA's grades, and the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from agent.cli.app import app
from evals import commands
from evals.datasets.judged_labels import SAMPLE, read_labels
from evals.datasets.liveqa import LIVEQA, LIVEQA_ANSWERS, read_graded
from evals.judges.validation import cohen, correlation, fleiss, most_common
from prompts.errors import DataError

# Fleiss' own example (1971 form): 3 raters, 4 items; by hand P = 2/3 and chance = 0.5.
ITEMS = [("a", "a", "a"), ("b", "b", "b"), ("a", "a", "b"), ("a", "b", "b")]


def test_kappas_are_those_by_hand() -> None:
    first = [1] * 25 + [0] * 25
    second = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert cohen(first, second) == pytest.approx((0.7 - 0.5) / 0.5)
    assert fleiss(ITEMS) == pytest.approx((2 / 3 - 0.5) / 0.5)
    assert cohen([1, 1], [1, 1]) is None
    with pytest.raises(ValueError, match="equally many"):
        fleiss([("a", "b"), ("a",)])


@given(st.lists(st.sampled_from("abc"), min_size=2))
def test_who_agrees_with_himself_has_kappa_1_or_none(labels: list[str]) -> None:
    assert cohen(labels, labels) == (pytest.approx(1) if len(set(labels)) > 1 else None)
    assert fleiss([(label, label) for label in labels]) == (pytest.approx(1) if len(set(labels)) > 1 else None)


def test_correlations_know_order_and_line() -> None:
    first, second = [1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 4.0, 9.0, 16.0, 25.0]
    (spearman,) = correlation("judge.x.spearman", "spearman", first, second, 0)
    (pearson,) = correlation("judge.x.pearson", "pearson", first, second, 0)
    assert spearman.value == pytest.approx(1)
    assert pearson.value == pytest.approx(0.9811, abs=1e-4)
    assert spearman.n == 5
    assert correlation("judge.x.pearson", "pearson", [1, 1, 1], [1, 2, 3], 0) == []


def test_the_sample_is_read_and_faults_are_named(tmp_path: Path) -> None:
    rows = read_labels(SAMPLE)
    assert {row.kind for row in rows} == {"answerability", "relevancy", "adherence"}
    assert most_common([0, 2, 2]) == 2
    assert most_common([1, 2]) == 1
    row = {"id": "1", "kind": "relevancy", "question": "q", "text": "t", "labels": {"a": 6}}
    path = tmp_path / "labels.jsonl"
    faults: list[dict[str, Any]] = [{}, {"labels": {"a": 2}, "golden": "g"}, {"labels": {}}]
    for fault in faults:
        path.write_text(json.dumps({**row, **fault}) + "\n")
        with pytest.raises(DataError, match="row 1"):
            read_labels(path)


def liveqa(folder: Path) -> None:
    (folder / "medquad").mkdir()
    answers = {
        "right": "Scabies is treated with a permethrin cream on the whole skin.",
        "near": "Scabies is caused by a mite that lives in the skin.",
        "wrong": "Gout is caused by crystals of uric acid.",
        "empty": "",
    }
    grades = {"right": [4, 3], "near": [2], "wrong": [1], "empty": [1]}
    question: dict[str, Any] = {
        "id": "TQ1", "subject": "Scabies", "message": "How is scabies treated?",
        "reference_answers": [{"answer": answers["right"], "url": "u"}],
        "qrels": [{"answer_id": key, "grade": g} for key, given in grades.items() for g in given],
    }  # fmt: skip
    (folder / LIVEQA).write_text(json.dumps(question) + "\n")
    rows = [json.dumps({"answer_id": key, "answer": text}) for key, text in answers.items()]
    (folder / LIVEQA_ANSWERS).write_text("\n".join(rows))


def test_an_answer_graded_twice_has_the_mean_and_empty_ones_are_left_out(tmp_path: Path) -> None:
    liveqa(tmp_path)
    rows = read_graded(tmp_path)
    assert [(row.grade, row.answer[:4]) for row in rows] == [(3.5, "Scab"), (2, "Scab"), (1, "Gout")]
    assert rows[0].question == "Scabies. How is scabies treated?"


def test_the_command_compares_with_both(tmp_path: Path, built_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANAMNESIS_HOME", str(built_home))
    monkeypatch.delenv("ANAMNESIS_MODEL", raising=False)
    liveqa(tmp_path)
    commands.register(app)
    out = tmp_path / "report.json"
    arguments = ["eval", "judges", "--labels", str(SAMPLE), "--data", str(tmp_path), "--json", str(out)]
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    report = json.loads(out.read_text())
    figures = {f["name"]: f for f in report["figures"]}
    assert report["settings"]["judge"] == "local"
    assert figures["people.answerability.agreement"]["value"] == pytest.approx(100 * 5 / 6)
    assert figures["judge.adherence.spearman"]["value"] > 0.8
    assert figures["judge.liveqa_relevancy.spearman"]["value"] == pytest.approx(1)
    assert figures["judge.liveqa_relevancy.agreement"]["n"] == 2  # of the grades 3 and above, and 1
    assert figures["judge.liveqa_adherence.pearson"]["n"] == 3
    assert 0 <= figures["judge.answerability.agreement"]["value"] <= 100
    with pytest.raises(Exception, match="nothing to compare"):
        CliRunner().invoke(app, ["eval", "judges"], catch_exceptions=False)
