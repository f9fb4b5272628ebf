"""`anamnesis dev gate annotate` and `train` as a user runs them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from agent.agent import Agent
from agent.settings import load_settings
from evals.training import gate as gate_module
from evals.training.gate_annotation import read_annotated, write_annotated
from graphs.completeness.contract import Label
from prompts.errors import InputError
from support.annotating import many, quick_heads

ROWS = [
    {"id": "reflux", "diagnosis": "GERD", "text": "I am 50. I have heartburn after meals. I own a red bicycle."},
    {
        "id": "wrong",
        "diagnosis": "GERD",
        "text": "My son is 2. He has a barking cough and noisy breathing in. He takes antacids for heartburn.",
    },
]


@pytest.fixture(autouse=True)
def home(built_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANAMNESIS_HOME", str(built_home))
    monkeypatch.setenv("COLUMNS", "200")
    return built_home


def gate(*arguments: str | Path) -> Result:
    return CliRunner().invoke(gate_module.gate, list(map(str, arguments)))


def written(folder: Path) -> Path:
    path = folder / "cases.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    return path


def test_cases_are_annotated_reviewed_and_annotated_again(tmp_path: Path) -> None:
    cases, out, review = written(tmp_path), tmp_path / "out.jsonl", tmp_path / "review.csv"
    shown = gate("annotate", cases, "--out", out, "--review", review)
    assert shown.exit_code == 0, shown.output
    assert "2 cases" in shown.stdout
    assert "diagnosed right: 1" in shown.stdout
    found = {case.id: [unit.label for unit in case.units] for case in read_annotated(out)}
    assert found["reflux"][1:] == [Label.A, Label.C]
    assert found["wrong"] == [Label.C, Label.C, Label.B]
    rows = list(csv.reader(review.read_text(encoding="utf-8-sig").splitlines()))
    rows[1][-1] = "B"
    with review.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    again = gate("annotate", cases, "--out", out, "--reviewed", review, "--quiet")
    assert "0 diagnoses were made" in again.stdout
    assert "1 labels are a person's" in again.stdout
    assert read_annotated(out)[0].units[0].label is Label.B


def test_mistakes_are_input_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANAMNESIS_MODEL", raising=False)
    cases, out = written(tmp_path), tmp_path / "out.jsonl"
    for wrong in (
        ("annotate", tmp_path / "none.jsonl", "--out", out),
        ("annotate", cases, "--out", cases),
        ("annotate", cases, "--out", out, "--by", "model"),
        ("annotate", cases, "--out", out, "--reviewed", cases),
        ("train", cases, "--out", tmp_path / "t"),
        ("train", cases, "--out", tmp_path / "t", "--head", "--backbone", tmp_path),
        ("train", cases, "--out", tmp_path / "t", "--head", "--epochs", "20"),
    ):
        result = gate(*wrong)
        assert isinstance(result.exception, InputError), wrong
    write_annotated(out, many(12))
    for folder in (tmp_path, tmp_path / "none"):
        result = gate("train", out, "--out", tmp_path / "t", "--backbone", folder)
        assert isinstance(result.exception, InputError)
    assert "transformers model" in str(result.exception)


def test_a_trained_head_labels_the_agents_sentences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    annotated, folder = tmp_path / "annotated.jsonl", tmp_path / "head"
    write_annotated(annotated, many(12))
    with quick_heads():
        shown = gate("train", annotated, "--out", folder, "--head", "--licence", "none")
    assert shown.exit_code == 0, shown.output
    assert "macro_f1" in shown.stdout
    assert isinstance(gate("train", annotated, "--out", folder, "--head").exception, InputError)
    monkeypatch.setenv("ANAMNESIS_GATE__CLASSIFIER", str(folder))
    settings = load_settings(config="ica-rag:trained-classifier", literature={"live": "off"})
    with Agent(settings) as agent:
        answer = agent.ask("I am 50. My chest burns on day 3. It rises after supper 5. I own bicycle 9.")
    assert answer.gate is not None
    assert [unit.label for unit in answer.gate.units][1:] == [Label.A, Label.B, Label.C]
    assert all("classifier" in unit.reason for unit in answer.gate.units)
    assert answer.gate.score == answer.gate.parts["i_norm"]
