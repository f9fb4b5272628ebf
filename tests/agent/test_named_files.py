"""A file that a user names to be written lies in a folder that is there; none is made, and nothing is worked out."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent.cli.app import app
from evals.commands import register
from prompts.errors import InputError
from tools.files import named_file

register(app)
COMMANDS = (
    "search croup --strategy",
    "search croup --report",
    "search croup --references",
    "ask croup --references",
    "sessions export s --out",
    "trace s/1 --html",
    "kg show --case cough --plot",
    "kg export",
    "mirror export",
    "questions testset starter --out",
    "dev passages note.txt --plot",
    "dev bench --json",
    "dev bench growth --plot",
    "dev gate annotate cases.jsonl --out",
    "dev reader train --data . --out",
    "eval run understanding --json",
    "eval ledger --out",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_folder_is_told_and_not_made(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANAMNESIS_HOME", str(tmp_path / "home"))
    missing = tmp_path / "missing" / "deep" / "file.json"
    done = CliRunner().invoke(app, [*command.split(), str(missing)])
    assert isinstance(done.exception, InputError), done.output
    assert f"the folder {missing.parent} is not there" in done.exception.what
    assert not (tmp_path / "missing").exists()
    assert not (tmp_path / "home").exists(), "it is told before anything is opened"


def test_what_is_no_file_is_told_and_a_place_in_a_folder_stands(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is no folder"):
        named_file(tmp_path / "file" / "a.json")
    with pytest.raises(InputError, match=r"is a folder\."):
        named_file(tmp_path)
    assert named_file(tmp_path / "a.json") == tmp_path / "a.json"
    assert named_file(Path("-")) == Path("-")
    assert named_file(None) is None
