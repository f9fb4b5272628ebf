"""The regression gate: a figure that leaves its tolerance makes it fail, and the table says which."""

from __future__ import annotations

from pathlib import Path

import pytest

from evals.contract import AgentEvaluation, Figure, Task
from evals.smoke import gate
from evals.smoke.gate import FILE, read_expectations, write_expectations
from evals.tasks import registry
from evals.tasks.registry import TASKS
from prompts.errors import DataError

WRITTEN = """
runs:
  - {task: toy, limit: 3}
figures:
  toy.all.right: {value: 80.0, tolerance: 5.0, why: five hold for a reason}
  toy.all.flags: {value: 0.0, tolerance: 0, why: none may be missed}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "rows.txt").write_text("1 2")
    (tmp_path / "expected.yaml").write_text(WRITTEN)
    return tmp_path / "expected.yaml"


def measuring(monkeypatch: pytest.MonkeyPatch, folder: Path, **values: float) -> None:
    """The toy evaluation measures these values."""
    figures = [Figure(name=f"toy.all.{name}", value=value, n=20) for name, value in values.items()]
    toy = Task("toy", "a toy", ("rows.txt",), "", 9, lambda _: figures, home_data=folder)
    monkeypatch.setitem(registry.TASKS, "toy", toy)


def test_a_figure_that_leaves_its_tolerance_fails(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measuring(monkeypatch, file.parent, right=84.9, flags=0)
    assert gate.hold(update=False, json_file=None, path=file) == 0
    assert "All 2 figures are within" in capsys.readouterr().out
    measuring(monkeypatch, file.parent, right=74.9, flags=0)
    assert gate.hold(update=False, json_file=None, path=file) == 1
    told = capsys.readouterr().out
    assert "toy.all.right" in told
    assert "left its tolerance" in told
    assert "-5.1" in told
    assert "five hold for a reason" in told
    assert "toy.all.flags" not in told


@pytest.mark.parametrize("values", [{"right": 80.0}, {"right": 80.0, "flags": 0.0, "fresh": 1.0}])
def test_a_figure_too_few_or_too_many_fails(
    values: dict[str, float], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measuring(monkeypatch, file.parent, **values)
    assert gate.hold(update=False, json_file=None, path=file) == 1


def test_an_update_keeps_tolerances_and_reasons(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measuring(monkeypatch, file.parent, right=60, fresh=10)
    assert gate.hold(update=True, json_file=None, path=file) == 0
    now = read_expectations(file)
    assert (now.figures["toy.all.right"].value, now.figures["toy.all.right"].tolerance) == (60, 5)
    assert now.figures["toy.all.right"].why == "five hold for a reason"
    assert now.figures["toy.all.fresh"].tolerance == 5.0  # one of twenty
    assert "toy.all.flags" not in now.figures
    assert now.runs[0].data_sha256
    assert gate.hold(update=False, json_file=None, path=file) == 0
    write_expectations(now, file.with_name("again.yaml"))
    assert file.with_name("again.yaml").read_bytes() == file.read_bytes()


def test_changed_data_are_told(file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    measuring(monkeypatch, file.parent, right=80, flags=0)
    gate.hold(update=True, json_file=None, path=file)
    (file.parent / "rows.txt").write_text("1 2 3")
    capsys.readouterr()
    assert gate.hold(update=False, json_file=None, path=file) == 0
    assert "The data of toy have changed" in capsys.readouterr().out


def test_a_damaged_file_is_told(file: Path) -> None:
    file.write_text("runs: []")
    with pytest.raises(DataError, match="cannot be read"):
        read_expectations(file)


def test_what_is_shipped_runs_on_what_is_shipped() -> None:
    shipped = read_expectations(FILE)
    assert len(shipped.figures) > 30
    for run in shipped.runs:
        task = TASKS[run.task]
        assert task.home_data is not None
        assert isinstance(task.asks, AgentEvaluation)
    strict = [name for name in shipped.figures if name.endswith(("emergencies.flagged", "citations_foreign"))]
    assert strict
    assert all(shipped.figures[name].tolerance == 0 for name in strict)
