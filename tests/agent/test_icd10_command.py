"""`anamnesis icd10`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent.cli.app import app
from prompts.errors import InputError


@pytest.fixture
def home(built_home: Path) -> Path:
    return built_home


def test_it_prints_codes_and_tells_what_the_chinese_table_lacks(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANAMNESIS_HOME", str(home))
    monkeypatch.setenv("COLUMNS", "160")
    table = tmp_path / "zh.csv"
    table.write_text("code,name_zh\nN,N\nK35,急性阑尾炎\n", encoding="utf-8")
    text = "STEMI; no gout. 急性阑尾炎; suspected lumps of cheese"
    shown = CliRunner().invoke(app, ["icd10", text, "--zh", str(table)])
    assert shown.exit_code == 0, shown.output
    assert "Acute myocardial infarction" in shown.output
    assert "K35" in shown.output
    assert "not linked" in shown.output
    assert "gout" not in shown.output
    assert "row 2 of the table was left out" in shown.output
    rows = json.loads(CliRunner().invoke(app, ["icd10", "STEMI", "--json", "--subdivision"]).stdout)
    assert rows[0]["entity"]["code"] == "I21"
    assert "--zh or ANAMNESIS_ICD10_ZH" in CliRunner().invoke(app, ["icd10", "肺炎"]).output


def test_mistakes_are_input_errors(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANAMNESIS_HOME", str(home))
    for arguments in (["icd10", " "], ["icd10", "x" * 30_000], ["icd10", "gout", "--zh", str(home / "none.csv")]):
        assert isinstance(CliRunner().invoke(app, arguments).exception, InputError)
