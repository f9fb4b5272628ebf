"""A calculation as users meet it: in a conversation, and by `anamnesis calculate`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent.agent import Agent
from agent.cli.app import app
from agent.settings import load_settings
from prompts.errors import InputError
from tools.evidence import Origin, verify_citation


@pytest.fixture(scope="module")
def agent(built_home: Path) -> Iterator[Agent]:
    with Agent(load_settings(home=built_home, literature={"live": "off"})) as made:
        yield made


def test_a_question_is_answered_with_inputs_what_is_missing_and_the_source(agent: Agent) -> None:
    answer = agent.ask("What is the CHA2DS2-VASc of a 76-year-old woman with hypertension and diabetes?")
    assert answer.kind == "calculation"
    assert answer.usage.tool_calls == 0
    first, counted, missing, *about = [s.text for s in answer.statements]
    assert first == "CHA2DS2-VASc: 5 points from what was told, 5 to 9 with what is missing."
    assert "age 76 years, 2 points (“76-year-old”)" in counted
    assert missing.startswith("Missing: heart failure")
    assert about[-1].startswith("Source: Lip et al.")
    made, formula = answer.evidence
    assert (made.origin, formula.origin) == (Origin.CASE, Origin.RETRIEVED)
    known = {e.id: e for e in answer.evidence}
    assert all(verify_citation(c, known[c.evidence_id]) for s in answer.statements for c in s.citations)
    assert "own_document" not in {n.code for n in answer.notices}


def test_the_case_of_the_session_is_read_and_stays(agent: Agent) -> None:
    session = agent.session()
    session.ask(
        "A 70-year-old man has had cough, fever and green sputum for three days. RR 24, BP 118/70, urea 9 mmol/L."
    )
    answer = session.ask("What is his CURB-65?")
    assert answer.statements[0].text == "CURB-65: 2 points from what was told, 2 to 3 with what is missing."
    assert session.ask("why?").kind == "explain"


def test_a_value_that_was_missing_goes_on_with_the_calculation(agent: Agent) -> None:
    session = agent.session()
    first = session.ask("What is the eGFR of a 60-year-old man?")
    assert first.kind == "calculation"
    assert any("creatinine" in s.text.lower() and s.text.startswith("Missing") for s in first.statements)
    second = session.ask("creatinine is 140")
    assert second.kind == "calculation"
    assert second.statements[0].text.startswith("eGFR")
    assert not any(s.text.startswith("Missing") for s in second.statements)
    assert session.ask("He has a cough and fever.").kind == "case"


def test_an_emergency_is_told_beside_and_a_wrong_unit_is_refused(agent: Agent) -> None:
    answer = agent.ask("Calculate CURB-65 for a confused 70-year-old man, urea 9 mmol/L, RR 32, BP 85/50.")
    assert answer.emergency
    assert answer.statements[0].text == "CURB-65: 5 points."
    refused = agent.ask("eGFR for a 60-year-old man, creatinine 140 ng/mL?")
    assert refused.abstained
    assert [n.code for n in refused.notices] == ["calculation_refused"]


def test_the_command_calculates_from_inputs_and_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    listed = CliRunner().invoke(app, ["calculate"])
    assert "cha2ds2-vasc" in listed.output
    made = CliRunner().invoke(app, ["calculate", "egfr", "creatinine=140 µmol/L", "age=60", "sex=male"])
    assert made.output.startswith("eGFR (CKD-EPI 2021): 50 mL/min/1.73 m².")
    of_case = [
        "calculate",
        "curb-65",
        "urea=9 mmol/L",
        "--json",
        "--case",
        "A confused 70-year-old man, RR 32, BP 85/50",
    ]
    assert json.loads(CliRunner().invoke(app, of_case).stdout)["value"] == 5
    for wrong in (["calculate", "egfr", "age"], ["calculate", "egfr", "creatinine=140"], ["calculate", "none"]):
        assert isinstance(CliRunner().invoke(app, wrong).exception, InputError)
