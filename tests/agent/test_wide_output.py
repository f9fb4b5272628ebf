"""Nothing that is printed breaks a name, whatever the width: in a pipe, and on a narrow terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Group
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from agent.cli.console import WideConsole

NAME = "own:zelnorine-in-hereditary-kelvar-fever-0123456789abcdef"
PATH = "/home/somebody/papers/a folder with spaces/broken.pdf"
PROSE = "It was found that nothing of this was ever found before. " * 4


def table() -> Table:
    made = Table("Id", "Path")
    made.add_column("Note", overflow="fold")
    made.add_row(NAME, PATH, PROSE)
    return made


def printed(*objects: object, **options: object) -> str:
    out = io.StringIO()
    console = WideConsole(file=out, color_system=None, **options)  # type: ignore[arg-type]
    for item in objects:
        console.print(item)
    return out.getvalue()


@pytest.mark.parametrize("columns", ["", "40", "200"])
def test_in_a_pipe_a_row_is_a_line_and_a_paragraph_too(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    lines = printed(table(), PROSE).splitlines()
    (row,) = [line for line in lines if NAME in line]
    assert PATH in row
    assert PROSE.strip() in row
    assert lines[-1] == PROSE


def test_in_a_pipe_lines_that_are_set_in_or_held_together_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    shown = printed(Padding(f"{PATH}\n{NAME}", (0, 0, 0, 2)), Group(Text(PROSE), Text(NAME)))
    assert [line.strip() for line in shown.splitlines()] == [PATH, NAME, PROSE.strip(), NAME]


def test_a_narrow_terminal_wraps_between_words_only() -> None:
    shown = printed(table(), PROSE, force_terminal=True, width=40)
    assert NAME in shown
    for word in [*PATH.split(), *PROSE.split()]:
        assert word in shown
    prose = shown.rpartition("┘\n")[2].splitlines()
    assert max(map(len, prose)) <= 40


def test_a_wide_terminal_is_used_and_the_width_is_as_before() -> None:
    out = io.StringIO()
    console = WideConsole(file=out, color_system=None, force_terminal=True, width=400)
    console.print(table())
    assert console.width == 400
    assert max(map(len, out.getvalue().splitlines())) <= 400
    assert PATH in out.getvalue()


def test_a_box_keeps_the_width_of_its_console() -> None:
    shown = printed(Panel(PROSE), width=60)
    assert {len(line) for line in shown.splitlines()} == {60}
    assert " ".join(shown.replace("│", " ").split()[1:-1]).count("found before.") >= 3
