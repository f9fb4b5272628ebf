"""Two runs held against each other."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent.cli.app import app
from evals.commands import register
from evals.comparison import Side, compare, direction, read_side
from evals.contract import Figure, Report
from evals.runner import write_report
from prompts.errors import DataError, InputError

SETTINGS = {"limit": 5, "seed": 0, "model": None}


def figure(name: str, value: float, low: float | None = None, high: float | None = None) -> Figure:
    ci95 = None if low is None or high is None else (low, high)
    return Figure(name=name, value=value, n=10, ci95=ci95)


def side(*figures: Figure, data: str = "abc", right: dict[str, bool] | None = None, **settings: object) -> Side:
    return Side("x", "toy", {**SETTINGS, **settings}, data, figures, right or {})


def test_only_what_lies_beyond_both_intervals_is_better_or_worse() -> None:
    first = side(
        figure("a.b.accuracy", 50, 40, 60),
        figure("a.b.near", 50, 40, 60),
        figure("a.b.false_flags", 10, 5, 15),
        figure("a.b.chance", 25),
        figure("a.b.gone", 1),
    )
    second = side(
        figure("a.b.accuracy", 70, 61, 80),
        figure("a.b.near", 65, 55, 75),  # the first's value lies below it, this one's above the first's
        figure("a.b.false_flags", 30, 20, 40),
        figure("a.b.chance", 26),
        figure("a.b.fresh", 1),
    )
    marks = {c.name: c.mark for c in compare(first, second).figures}
    assert marks == {
        "a.b.accuracy": "better",
        "a.b.near": "better",
        "a.b.false_flags": "worse",
        "a.b.chance": "moved",
        "a.b.gone": "only first",
        "a.b.fresh": "only second",
    }
    within = compare(side(figure("a.b.accuracy", 50, 40, 60)), side(figure("a.b.accuracy", 59, 49, 69)))
    assert [c.mark for c in within.figures] == ["same"]


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("exam.medqa.accuracy", 1),
        ("exam.medqa.abstained", -1),
        ("ours.ddxplus.aurc", -1),
        ("gate.units_30.ms", -1),
        ("pubmedqa.shown_over_hidden.p", 0),
        ("exam.medqa.majority", 0),
        ("answers_over_dense.rephrase.recovery@1_p", 0),
        ("trust.injections.obeyed", -1),
        ("trust.retracted_documents.used", -1),
        ("trust.control_documents.used", 0),
        ("trust.statements.unsupported_strictly", -1),
        ("trust.turns.cost", -1),
        ("trust.follow_up.percent_of_random", -1),
        ("false.local.cited", -1),
        ("library_questions.ood.cited", 1),
        ("d1.claims.reviews", 0),
        ("mirror.import.records_s", 1),  # records a second, no time
        ("ours_over_margin.ddxplus.aurc", 1),
    ],
)
def test_the_way_in_which_a_figure_is_better(name: str, way: int) -> None:
    assert direction(name) == way


def test_samples_that_both_have_are_paired() -> None:
    first = {f"a/{n}": False for n in range(8)} | {"b/1": True, "b/2": True}
    second = {f"a/{n}": True for n in range(8)} | {"b/1": False, "b/3": True}
    found = compare(side(right=first), side(right=second))
    by_group = {p.group: p for p in found.paired}
    assert (by_group["all"].n, len(by_group["all"].gained), by_group["all"].lost) == (9, 8, ("b/1",))
    assert by_group["a"].p == pytest.approx(2 / 2**8)
    assert by_group["a"].mark == "better"
    assert by_group["b"].mark == "same"  # one pair proves nothing
    assert "2 samples are in one run alone" in found.differences


def test_what_is_not_alike_is_told_first(tmp_path: Path) -> None:
    for name, data, seed in (("a", "one", 0), ("b", "two", 1)):
        report = Report(task="toy", settings={"seed": seed}, data_sha256=data, seconds=1, figures=(figure("a.b.c", 1),))
        write_report(report, tmp_path / f"{name}.json")
    register(app)
    out = tmp_path / "out.json"
    arguments = ["eval", "compare", str(tmp_path / "a.json"), str(tmp_path / "b.json"), "--json", str(out)]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    lines = done.stdout.splitlines()
    assert lines[:2] == ["not alike: other data: one, two", "not alike: other seed: 0, 1"]
    assert lines[-1].startswith("0 better, 0 worse")
    assert out.is_file()


def test_what_is_no_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no"):
        read_side(tmp_path / "x.json")
    with pytest.raises(InputError, match="holds no log"):
        read_side(tmp_path)
    (tmp_path / "x.json").write_text("[]")
    with pytest.raises(DataError, match="no report"):
        read_side(tmp_path)
