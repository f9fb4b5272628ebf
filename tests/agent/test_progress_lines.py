"""Long work tells how far it is where no terminal watches it too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent import assembly
from agent.cli.app import app
from agent.cli.bars import EVERY, Lines, bars
from prompts.errors import DataError


def test_a_line_at_the_first_step_then_now_and_then_and_at_the_end() -> None:
    said: list[str] = []
    clock = [0.0]
    lines = Lines(said.append, lambda: clock[0])
    for done in range(1, 8):
        lines("files", done, 7, note=f"{10 * done:,} documents")
        clock[0] += EVERY / 2
    assert said == [
        "files: 1 of 7, 10 documents, 0 s",
        "files: 3 of 7, 30 documents, 5 s",
        "files: 5 of 7, 50 documents, 10 s",
        "files: 7 of 7, 70 documents, 15 s",
    ]
    lines("files", 7, 7)
    lines("vectors", 2000)
    assert said[4:] == ["vectors: 2,000, 18 s"]


def test_the_first_use_says_that_it_builds_unless_it_is_to_be_quiet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def built(*_: object, say: Callable[[str], None], **__: object) -> None:
        say("library ...")
        raise DataError("stopped here")

    monkeypatch.setattr(assembly, "build", built)
    monkeypatch.setenv("ANAMNESIS_HOME", str(tmp_path))
    for options in ([], ["--quiet"]):
        done = CliRunner().invoke(app, ["ask", "What is croup?", *options])
        assert isinstance(done.exception, DataError)
        told = done.stderr.splitlines() + capsys.readouterr().err.splitlines()
        assert told == ([] if options else ["The first use builds the library and its indexes, once:", "library ..."])


def test_quiet_work_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with bars(show=False) as advance:
        advance("files", 1, 2, note="x")
    assert capsys.readouterr() == ("", "")
