"""`anamnesis eval smoke`: the smoke set is run, and every figure held to what is expected of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from rich.table import Table

from agent.cli.wide import WideConsole
from evals.contract import Figure, Report
from evals.runner import figure_number, run_task
from evals.tasks.registry import find_task
from prompts.errors import DataError
from tools.files import write_atomic

# What the smoke set is expected to measure: a file with a value, a tolerance and a reason for every figure.
FILE = Path(__file__).with_name("expected.yaml")
ADVICE = "Restore the file, or write it anew with `anamnesis eval smoke --update`."
HEAD = """# What `anamnesis eval smoke` must measure. `--update` writes the values of a run; tolerances and reasons
# stay, and are written by hand. Look at what changed before you commit it.
"""
ONE_SAMPLE = "one sample may change, as where two scores lie close and the processor rounds otherwise"

State = Literal["ok", "left its tolerance", "not measured", "not expected"]


class Expected(BaseModel):
    """A figure's value, how far from it is still the same, and why that far."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: float
    tolerance: float = Field(ge=0)
    why: str = Field(min_length=1)


class SmokeRun(BaseModel):
    """A task of the smoke set; ``data_sha256`` is of the data that the values were measured on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str
    limit: int = Field(ge=1)
    seed: int = Field(default=0, ge=0)
    data_sha256: str = ""


class Expectations(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    runs: tuple[SmokeRun, ...] = Field(min_length=1)
    figures: dict[str, Expected] = Field(default_factory=dict)


class Held(BaseModel):
    """A figure held against what is expected of it."""

    name: str
    expected: Expected | None
    measured: Figure | None
    state: State


def read_expectations(path: Path = FILE) -> Expectations:
    """The file; raises DataError when it is damaged."""
    try:
        return Expectations.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        raise DataError(f"{path.name} cannot be read: {' '.join(str(error).split())[:300]}", ADVICE) from None


def held(expected: Mapping[str, Expected], measured: Mapping[str, Figure]) -> list[Held]:
    """Every figure that is expected or was measured, in the order of the names."""
    out: list[Held] = []
    for name in sorted({*expected, *measured}):
        wanted, figure = expected.get(name), measured.get(name)
        out.append(Held(name=name, expected=wanted, measured=figure, state=_state(wanted, figure)))
    return out


def _state(wanted: Expected | None, figure: Figure | None) -> State:
    if wanted is None:
        return "not expected"
    if figure is None:
        return "not measured"
    # a millionth: what a value loses by being written with four places
    return "ok" if abs(figure.value - wanted.value) <= wanted.tolerance + 1e-6 else "left its tolerance"


def updated(before: Expectations, measured: Mapping[str, Figure], hashes: Mapping[str, str]) -> Expectations:
    """The expectations with the values of a run. A new figure may change by one sample, until a person says else."""
    figures = {
        name: Expected(value=round(figure.value, 4), tolerance=old.tolerance, why=old.why)
        if (old := before.figures.get(name)) is not None
        else Expected(value=round(figure.value, 4), tolerance=_one(figure), why=ONE_SAMPLE)
        for name, figure in sorted(measured.items())
    }
    runs = tuple(run.model_copy(update={"data_sha256": hashes[run.task]}) for run in before.runs)
    return Expectations(runs=runs, figures=figures)


def write_expectations(expectations: Expectations, path: Path = FILE) -> None:
    """Write the file, a line a figure."""
    lines = [HEAD, "runs:"]
    lines += [f"  - {_line(run.model_dump())}" for run in expectations.runs]
    lines += ["figures:", *(f"  {n}: {_line(e.model_dump())}" for n, e in expectations.figures.items()), ""]
    write_atomic(path, "\n".join(lines).encode())


def _line(values: Mapping[str, object]) -> str:
    text: str = yaml.safe_dump(dict(values), default_flow_style=True, sort_keys=False, width=10_000, allow_unicode=True)
    return text.strip()


def _one(figure: Figure) -> float:
    """A sample's worth of a share, rounded up to a tenth."""
    return -(-1000 // max(figure.n, 1)) / 10


def failures(rows: Sequence[Held]) -> list[Held]:
    """What does not hold."""
    return [row for row in rows if row.state != "ok"]


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
