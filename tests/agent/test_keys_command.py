"""`anamnesis keys`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent.cli.keys import keys
from prompts.errors import InputError


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.setenv("ANAMNESIS_HOME", str(tmp_path))
    return CliRunner()


def test_a_key_is_shown_once_listed_without_its_text_and_revoked(run: CliRunner) -> None:
    made = run.invoke(keys, ["create", "Ward 7", "--scope", "ask", "--scope", "review", "--expires", "90d"])
    text = made.stdout.strip()
    assert text.startswith("ana_")
    assert len(text) == 60
    listed = run.invoke(keys, ["list", "--json"])
    assert text.split("_", 2)[2] not in listed.stdout
    record = json.loads(listed.stdout)[0]
    assert (record["name"], record["scopes"], record["state"]) == ("Ward 7", ["ask", "review"], "valid")
    assert record["expires"] > record["created"]
    assert run.invoke(keys, ["revoke", record["id"]]).exit_code == 0
    assert json.loads(run.invoke(keys, ["list", "--json"]).stdout)[0]["state"] == "revoked"
    shown = run.invoke(keys, ["list"]).stdout
    assert record["id"] in shown


@pytest.mark.parametrize(
    "wrong",
    [
        ["Ward", "--scope", "all"],
        ["Ward", "--expires", "soon"],
        [" "],
        ["a\nb"],
        ["x" * 81],
        ["Ward", "--expires", "0d"],
    ],
)
def test_a_wrong_request_is_a_message_and_makes_no_key(run: CliRunner, wrong: list[str]) -> None:
    result = run.invoke(keys, ["create", *wrong])
    assert isinstance(result.exception, InputError)
    assert json.loads(run.invoke(keys, ["list", "--json"]).stdout) == []
    assert isinstance(run.invoke(keys, ["revoke", "nobody"]).exception, InputError)
