"""Readers of evaluation data: good rows are read, damaged ones are named by their number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from evals.datasets.cases import DeclineCase, DifferentialCase, EmergencyCase, EvidenceCase, read_cases
from evals.datasets.ddxplus import CONDITIONS, read_codes, read_conditions, validate_texts
from evals.datasets.mirage import read_exam
from evals.datasets.pubmedqa import read_pubmedqa
from evals.tasks.cases import SHIPPED
from prompts.errors import DataError
from tools.knowledge_graph.loader import read_graph


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def text_row(id: str, **more: Any) -> dict[str, Any]:
    row = {"id": id, "text": "I have heartburn.", "initial_text": "I have heartburn.", "pathology": "GERD"}
    return {**row, "age": 40, "sex": "F", "names_gold": False, **more}


def code_row(id: str, **more: Any) -> dict[str, Any]:
    row = {"id": id, "AGE": 40, "SEX": "F", "PATHOLOGY": "GERD", "EVIDENCES": ["E_1"], "INITIAL_EVIDENCE": "E_1"}
    return {**row, "DIFFERENTIAL_DIAGNOSIS": [["GERD", 1.0]], "split": "validate", **more}


def ddxplus(data: Path, texts: list[dict[str, Any]], codes: list[dict[str, Any]]) -> Path:
    write_rows(data / "ddxplus" / "patients_dev_text.jsonl", texts)
    write_rows(data / "ddxplus" / "patients_dev.jsonl", codes)
    return data


def test_only_the_validate_split_is_taken(tmp_path: Path) -> None:
    data = ddxplus(tmp_path, [text_row("a"), text_row("b")], [code_row("a", split="train"), code_row("b")])
    assert [row.id for row in validate_texts(data)] == ["b"]
    assert read_codes(data)["b"].differential == (("GERD", 1.0),)


def test_texts_and_codes_must_agree(tmp_path: Path) -> None:
    data = ddxplus(tmp_path, [text_row("a"), text_row("b")], [code_row("a"), code_row("b", PATHOLOGY="Croup")])
    with pytest.raises(DataError, match="row 2: b does not agree"):
        validate_texts(data)


def test_a_damaged_row_is_named_by_its_number(tmp_path: Path) -> None:
    data = ddxplus(tmp_path, [text_row("a"), text_row("b", age=-3)], [code_row("a"), code_row("b")])
    with pytest.raises(DataError, match=r"patients_dev_text.jsonl, row 2: age: ") as error:
        validate_texts(data)
    assert "--data" in error.value.advice


@pytest.mark.parametrize(("content", "words"), [("{oops\n", "row 1: no valid JSON"), ("\n\n", "has no rows")])
def test_a_damaged_file_says_what_is_wrong(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "mirage" / "exam_dev.jsonl"
    path.parent.mkdir()
    path.write_text(content)
    with pytest.raises(DataError, match=words):
        read_exam(tmp_path)


def test_a_missing_file_and_a_file_that_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"pubmedqa_dev.jsonl is not in"):
        read_pubmedqa(tmp_path)
    path = tmp_path / "literature" / "pubmedqa_dev.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="cannot be read as text"):
        read_pubmedqa(tmp_path)


def test_an_exam_answer_must_be_an_option(tmp_path: Path) -> None:
    good = {"dataset": "medqa", "id": "1", "question": "Q?", "options": {"A": "x", "B": "y"}, "answer": "B"}
    path = write_rows(tmp_path / "mirage" / "exam_dev.jsonl", [good, {**good, "id": "2", "dataset": "mmlu"}])
    assert {name: len(rows) for name, rows in read_exam(tmp_path).items()} == {"medqa": 1, "mmlu": 1}
    write_rows(path, [good, {**good, "answer": "E"}])
    with pytest.raises(DataError, match=r"row 2: .*'E' is none of the options"):
        read_exam(tmp_path)


def test_every_condition_is_a_disease_of_the_starter_graph() -> None:
    conditions = read_conditions()
    assert len(conditions) == len(set(conditions.values())) == len(yaml.safe_load(CONDITIONS.read_text())) == 49
    assert set(conditions.values()) <= {d.id for d in read_graph().diseases}


def test_the_shipped_cases_are_read() -> None:
    differentials = read_cases(SHIPPED, "differential*.yaml", DifferentialCase)
    assert len({c.id for c in differentials}) == len(differentials) >= 80
    assert sum(c.language == "zh" for c in differentials) >= 15
    assert len(read_cases(SHIPPED, "emergencies.yaml", EmergencyCase)) == 40
    assert len(read_cases(SHIPPED, "evidence.yaml", EvidenceCase)) == 40
    assert len(read_cases(SHIPPED, "decline.yaml", DeclineCase)) == 20


def test_a_damaged_case_is_named(tmp_path: Path) -> None:
    (tmp_path / "decline.yaml").write_text("- {id: a, language: en, kind: small_talk, text: hi}\n- {id: b}\n")
    with pytest.raises(DataError, match=r"decline.yaml, row 2: "):
        read_cases(tmp_path, "decline.yaml", DeclineCase)
    (tmp_path / "decline.yaml").write_text("a: [")
    with pytest.raises(DataError, match="no valid YAML"):
        read_cases(tmp_path, "decline.yaml", DeclineCase)
    (tmp_path / "decline.yaml").write_text("a: 1")
    with pytest.raises(DataError, match="is no list"):
        read_cases(tmp_path, "decline.yaml", DeclineCase)
