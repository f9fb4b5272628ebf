"""`anamnesis eval smoke`: the smoke set is run, and every figure held to what is expected of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
import yaml
from pydantic import Field, ValidationError
from rich.table import Table

from agent.cli.console import WideConsole
from evals.commands import JsonFile, write_json
from evals.contract import Figure, Report
from evals.runner import figure_number, run_task
from evals.tasks.registry import find_task
from prompts.errors import DataError
from tools.evidence import Frozen
from tools.files import write_atomic

# What the smoke set is expected to measure: a file with a value, a tolerance and a reason for every figure.
FILE = Path(__file__).with_name("expected.yaml")
ADVICE = "Restore the file, or write it anew with `anamnesis eval smoke --update`."
HEAD = """# What `anamnesis eval smoke` must measure. `--update` writes the values of a run; tolerances and reasons
# stay, and are written by hand. Look at what changed before you commit it.
"""
ONE_SAMPLE = "one sample may change, as where two scores lie close and the processor rounds otherwise"
FAILED = 1  # exit code
State = Literal["ok", "left its tolerance", "not measured", "not expected"]


class Expected(Frozen):
    """A figure's value, how far from it is still the same, and why that far."""

    value: float
    tolerance: float = Field(ge=0)
    why: str = Field(min_length=1)


class SmokeRun(Frozen):
    """A task of the smoke set; ``data_sha256`` is of the data that the values were measured on."""

    task: str
    limit: int = Field(ge=1)
    seed: int = Field(default=0, ge=0)
    data_sha256: str = ""


class Expectations(Frozen):
    """The whole file."""

    runs: tuple[SmokeRun, ...] = Field(min_length=1)
    figures: dict[str, Expected] = Field(default_factory=dict)


class Held(Frozen):
    """A figure held against what is expected of it."""

    name: str
    expected: Expected | None
    measured: Figure | None

    @property
    def state(self) -> State:
        """Whether it holds."""
        if self.expected is None:
            return "not expected"
        if self.measured is None:
            return "not measured"
        # a millionth: what a value loses by being written with four places
        near = abs(self.measured.value - self.expected.value) <= self.expected.tolerance + 1e-6
        return "ok" if near else "left its tolerance"


def read_expectations(path: Path = FILE) -> Expectations:
    """The file; raises DataError when it is damaged."""
    try:
        return Expectations.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        raise DataError(f"{path.name} cannot be read: {' '.join(str(error).split())[:300]}", ADVICE) from None


def updated(before: Expectations, measured: Mapping[str, Figure], reports: Sequence[Report]) -> Expectations:
    """The expectations with the values of a run. A new figure may change by one sample, until a person says else."""
    figures = {}
    for name, figure in sorted(measured.items()):
        one = -(-1000 // max(figure.n, 1)) / 10  # a sample's worth of a share, rounded up to a tenth
        old = before.figures.get(name) or Expected(value=0, tolerance=one, why=ONE_SAMPLE)
        figures[name] = old.model_copy(update={"value": round(figure.value, 4)})
    hashes = {r.task: r.data_sha256 for r in reports}
    runs = tuple(run.model_copy(update={"data_sha256": hashes[run.task]}) for run in before.runs)
    return Expectations(runs=runs, figures=figures)


def write_expectations(expectations: Expectations, path: Path = FILE) -> None:
    """Write the file, a line a figure."""

    def line(value: Frozen) -> str:
        how: dict[str, Any] = {"default_flow_style": True, "sort_keys": False, "width": 10_000, "allow_unicode": True}
        text: str = yaml.safe_dump(value.model_dump(), **how)
        return text.strip()

    lines = [HEAD, "runs:", *(f"  - {line(run)}" for run in expectations.runs)]
    lines += ["figures:", *(f"  {name}: {line(e)}" for name, e in expectations.figures.items()), ""]
    write_atomic(path, "\n".join(lines).encode())


def smoke(
    update: Annotated[bool, typer.Option("--update", help="Write what is measured as what is expected.")] = False,
    json_file: JsonFile = None,
) -> None:
    """Run the smoke set (under three minutes) and hold its figures to what is expected."""
    raise typer.Exit(hold(update=update, json_file=json_file))


def hold(*, update: bool, json_file: Path | None, path: Path = FILE) -> int:
    """Run the smoke set; 0 where every figure is within its tolerance or was written as expected, else 1."""
    before = read_expectations(path)
    reports = [run_task(find_task(run.task), None, limit=run.limit, seed=run.seed) for run in before.runs]
    measured = {figure.name: figure for report in reports for figure in report.figures}
    write_json(json_file, [r.model_dump(mode="json") for r in reports])
    console = WideConsole()
    names = sorted({*before.figures, *measured})
    rows = [Held(name=name, expected=before.figures.get(name), measured=measured.get(name)) for name in names]
    wrong = [row for row in rows if row.state != "ok"]
    seconds = sum(report.seconds for report in reports)
    if update or wrong:
        title = f"anamnesis eval smoke: {len(rows)} figures, {seconds:.0f} s"
        console.print(table_of(rows if update else wrong, title))
    if update:
        write_expectations(updated(before, measured, reports), path)
        console.print(f"{path} is written.", markup=False, highlight=False)
        return 0
    for run, report in zip(before.runs, reports, strict=True):
        if run.data_sha256 != report.data_sha256:
            told = f"The data of {report.task} have changed since the expectations were written."
            console.print(f"[yellow]{told}[/]", highlight=False)
    for row in wrong:
        if row.expected is not None:
            console.print(f"{row.name}: its tolerance, because {row.expected.why}", markup=False, highlight=False)
    verdict = f"All {len(measured)} figures are within their tolerances."
    if wrong:
        verdict = (
            f"{len(wrong)} of {len(rows)} figures do not hold: {', '.join(row.name for row in wrong)}. Mend the cause; "
            "where the change is meant, `anamnesis eval smoke --update` writes what is expected anew."
        )
    console.print(f"{verdict} {seconds:.0f} s.", highlight=False)
    return FAILED if wrong else 0


def table_of(rows: Sequence[Held], title: str) -> Table:
    """Figures beside what is expected of them."""
    table = Table(title=title, title_justify="left")
    table.add_column("figure", no_wrap=True)
    for column in ("expected", "measured", "change", "tolerance"):
        table.add_column(column, justify="right")
    table.add_column("what", no_wrap=True)
    for row in rows:
        wanted, figure = row.expected, row.measured
        table.add_row(
            row.name,
            figure_number(wanted.value, row.name) if wanted else "",
            figure_number(figure.value, row.name) if figure else "",
            f"{figure.value - wanted.value:+.1f}" if wanted and figure else "",
            f"{wanted.tolerance:g}" if wanted else "",
            row.state if row.state == "ok" else f"[red]{row.state}[/]",
        )
    return table
