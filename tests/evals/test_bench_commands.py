"""The list of benchmarks imports none of them; a command has the options of its file, and tells figures as JSON."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from evals.bench import commands
from evals.bench.frame import Figure, Panel, drawn, figures_of, in_child, looking
from prompts.errors import DataError, InputError


def test_the_list_imports_no_benchmark_and_names_each(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("evals.bench.") and name != commands.__name__]:
        monkeypatch.delitem(sys.modules, name)
    listed = CliRunner().invoke(commands.bench, ["--help"])
    assert listed.exit_code == 0
    assert all(f"\n  {name} " in listed.output for name in commands.BENCHMARKS)
    assert not {f"evals.bench.{name.replace('-', '_')}" for name in commands.BENCHMARKS} & set(sys.modules)


@pytest.mark.parametrize("name", commands.BENCHMARKS)
def test_every_benchmark_has_a_file_and_help(name: str) -> None:
    shown = CliRunner().invoke(commands.bench, [name, "--help"])
    assert shown.exit_code == 0, shown.exception
    assert "--json" in shown.output or name == "house"


def test_figures_are_told_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def measure(count: Annotated[int, typer.Option(min=1)] = 2) -> list[Figure]:
        return figures_of("toy.", count, ("half", 0.5, "s", "at most 1"))

    made = typer.Typer()
    made.command()(commands.reported(measure))
    assert CliRunner().invoke(made, ["--count", "3", "--json", str(tmp_path / "f.json")]).exit_code == 0
    expected = [{"name": "toy.half", "value": 0.5, "unit": "s", "n": 3, "asked": "at most 1"}]
    assert json.loads((tmp_path / "f.json").read_text()) == expected
    assert CliRunner().invoke(made, ["--count", "0"]).exit_code == 2


def test_a_part_of_the_server_that_there_is_not_is_named() -> None:
    done = CliRunner().invoke(commands.bench, ["server", "--only", "nothing"])
    assert isinstance(done.exception, InputError)
    assert "no part nothing" in str(done.exception)


def test_a_child_gives_what_its_function_gave_whatever_it_printed() -> None:
    assert in_child("os.path:join", "a", "b") == "a/b"
    assert in_child("builtins:print", "noise") is None
    with pytest.raises(DataError, match="ended with 1"):
        in_child("os.path:nothing")


def test_looks_are_taken_at_once_and_at_the_end() -> None:
    numbers = iter(range(10))
    with looking(lambda: next(numbers), 60) as seen:
        assert seen == [0]
    assert seen == [0, 1]


def test_a_look_that_fails_fails_the_measurement() -> None:
    """It ended the looks unseen: what grew after it was not counted."""
    looks = ["at once"]
    with pytest.raises(IndexError), looking(looks.pop, 0.001):
        time.sleep(0.05)


def test_a_plot_stands_on_its_axes() -> None:
    shown = drawn("t", [Panel("MB", "turns", {"server": [(0, 100), (50, 200), (100, 200)]})])
    assert 'points="52.0,125.0 180.0,52.0 308.0,52.0"' in shown
    assert "<svg" in drawn("nothing", [Panel("MB", "turns", {"server": []})])
