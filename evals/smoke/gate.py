"""`anamnesis eval smoke`: the smoke set is run, and every figure held to what is expected of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from agent.cli.wide import WideConsole
from evals.contract import Figure, Report
from evals.runner import figure_number, run_task
from evals.smoke.expectations import (
    FILE,
    Expectations,
    Held,
    failures,
    held,
    read_expectations,
    updated,
    write_expectations,
)
from evals.tasks.registry import find_task
from tools.files import write_atomic

FAILED = 1  # exit code


def hold(*, update: bool, json_file: Path | None, path: Path = FILE) -> int:
    """Run the smoke set; 0 where every figure is within its tolerance or was written as expected, else 1."""
    expectations = read_expectations(path)
    reports = measure(expectations)
    measured = {figure.name: figure for report in reports for figure in report.figures}
    if json_file is not None:
        write_atomic(json_file, f"{json.dumps([r.model_dump(mode='json') for r in reports], indent=2)}\n".encode())
    console = WideConsole()
    rows = held(expectations.figures, measured)
    seconds = sum(report.seconds for report in reports)
    if update or failures(rows):
        console.print(table_of(rows, seconds, whole=update))
    if update:
        write_expectations(updated(expectations, measured, {r.task: r.data_sha256 for r in reports}), path)
        console.print(f"{path} is written.", markup=False, highlight=False)
        return 0
    for line in changed_data(expectations, reports):
        console.print(f"[yellow]{line}[/]", highlight=False)
    wrong = failures(rows)
    for row in wrong:
        if row.expected is not None:
            console.print(f"{row.name}: its tolerance, because {row.expected.why}", markup=False, highlight=False)
    console.print(f"{verdict(rows, measured)} {seconds:.0f} s.", highlight=False)
    return FAILED if wrong else 0


def measure(expectations: Expectations) -> list[Report]:
    """The reports of every run of the smoke set."""
    return [run_task(find_task(run.task), None, limit=run.limit, seed=run.seed) for run in expectations.runs]


def changed_data(expectations: Expectations, reports: Sequence[Report]) -> list[str]:
    """A line for every task whose data are not those that the expectations were measured on."""
    then = {run.task: run.data_sha256 for run in expectations.runs}
    return [
        f"The data of {report.task} have changed since the expectations were written."
        for report in reports
        if then[report.task] != report.data_sha256
    ]


def table_of(rows: Sequence[Held], seconds: float, *, whole: bool) -> Table:
    """The figures that do not hold; every figure with ``whole``."""
    shown = rows if whole else failures(rows)
    table = Table(title=f"anamnesis eval smoke: {len(rows)} figures, {seconds:.0f} s", title_justify="left")
    table.add_column("figure", no_wrap=True)
    for column in ("expected", "measured", "change", "tolerance"):
        table.add_column(column, justify="right")
    table.add_column("what", no_wrap=True)
    for row in shown:
        wanted, figure = row.expected, row.measured
        change = figure.value - wanted.value if wanted is not None and figure is not None else None
        table.add_row(
            row.name,
            figure_number(wanted.value, row.name) if wanted else "",
            figure_number(figure.value, row.name) if figure else "",
            f"{change:+.1f}" if change is not None else "",
            f"{wanted.tolerance:g}" if wanted else "",
            row.state if row.state == "ok" else f"[red]{row.state}[/]",
        )
    return table


def verdict(rows: Sequence[Held], measured: dict[str, Figure]) -> str:
    """One line: held, or what to do."""
    wrong = failures(rows)
    if not wrong:
        return f"All {len(measured)} figures are within their tolerances."
    names = ", ".join(row.name for row in wrong)
    return (
        f"{len(wrong)} of {len(rows)} figures do not hold: {names}. Mend the cause; where the change is meant, "
        "`anamnesis eval smoke --update` writes what is expected anew."
    )
