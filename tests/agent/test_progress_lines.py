"""Long work tells how far it is where no terminal watches it too."""

from __future__ import annotations

import pytest

from agent.cli.bars import EVERY, Lines, bars


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


def test_quiet_work_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with bars(show=False) as advance:
        advance("files", 1, 2, note="x")
    assert capsys.readouterr() == ("", "")
