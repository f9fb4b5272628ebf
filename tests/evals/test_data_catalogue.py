"""The catalogue of data sets and its commands."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent.cli.app import app
from evals import commands
from evals.datasets import catalogue
from evals.datasets.catalogue import ORIGINALS, check_files, read_catalogue
from evals.tasks.registry import TASKS
from prompts.errors import InputError

SAMPLES = Path(catalogue.__file__).parent / "samples"


def test_every_input_of_every_task_stands_in_the_catalogue() -> None:
    named = {(file.path, task) for s in read_catalogue() for file in s.files for task in s.tasks}
    for task in TASKS.values():
        if task.home_data is None:
            wanted = {(pattern.removesuffix("/*"), task.name) for pattern in task.inputs}
            assert wanted <= named, f"{task.name}: {wanted - named}"
    assert {task for s in read_catalogue() for task in s.tasks} <= set(TASKS)


def test_every_reader_has_its_entry_and_every_open_data_set_an_address() -> None:
    sets = read_catalogue()
    assert len({s.name for s in sets}) == len(sets)
    assert {s.original for s in sets if s.original} == set(ORIGINALS)
    assert all(s.original in ("", s.name) for s in sets)
    assert all(s.addresses for s in sets if s.access not in ("shipped", "private"))
    assert all(address.startswith(("https://", "http://")) for s in sets for address in s.addresses)


def test_files_are_compared_by_their_checksums(tmp_path: Path) -> None:
    (mirage,) = (s for s in read_catalogue() if s.name == "mirage")
    path = tmp_path / "mirage" / "exam_dev.jsonl"
    assert [c.state for c in check_files([mirage], tmp_path)] == ["absent"]
    path.parent.mkdir()
    path.write_text("{}\n")
    (other,) = check_files([mirage], tmp_path)
    assert (other.state, other.sha256) == ("other", hashlib.sha256(b"{}\n").hexdigest())
    ours = mirage.model_copy(update={"files": (mirage.files[0].model_copy(update={"sha256": other.sha256}),)})
    assert [c.state for c in check_files([ours], tmp_path)] == ["same"]
    unknown = mirage.model_copy(update={"files": (mirage.files[0].model_copy(update={"sha256": ""}),)})
    assert [c.state for c in check_files([unknown], tmp_path)] == ["there"]
    with pytest.raises(InputError, match="no data folder"):
        check_files([mirage], tmp_path / "nowhere")


def test_the_commands(tmp_path: Path) -> None:
    commands.register(app)
    runner = CliRunner(env={"COLUMNS": "300"})
    shown = runner.invoke(app, ["eval", "data", "--json", str(tmp_path / "c.json")])
    assert shown.exit_code == 0, shown.output
    made = json.loads((tmp_path / "c.json").read_text())
    assert [s["name"] for s in made["data_sets"]] == [s.name for s in read_catalogue()]
    assert all(s.name in shown.output for s in read_catalogue())
    checked = runner.invoke(app, ["eval", "data", "--check", str(tmp_path)])
    assert checked.output.count("absent") >= 30
    told = runner.invoke(app, ["eval", "data", "show", "healthsearchqa"])
    assert "static-content.springer.com" in told.output
    assert "not measured by us" in told.output
    done = runner.invoke(
        app,
        [
            "eval",
            "data",
            "convert",
            "mirage",
            str(SAMPLES / "mirage"),
            str(tmp_path),
            "--json",
            str(tmp_path / "r.json"),
        ],
    )
    assert done.exit_code == 0, done.output
    assert "mirage/exam_dev.jsonl: 5 rows written" in done.output
    assert "left out, 2 times" in done.output
    assert json.loads((tmp_path / "r.json").read_text())["problems"] == []
