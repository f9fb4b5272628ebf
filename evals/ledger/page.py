"""REPRODUCTION.md: a row a published figure, all of it from the list of these and the reports of our evaluations."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from agent.configurations.loading import configurations
from evals.contract import Figure, Report
from prompts.errors import DataError

REPORTS = Path(str(files("evals.ledger"))) / "reports"
OPENING = """# Published figures beside ours

`anamnesis eval ledger` writes this page from the list of published figures (`evals/ledger/published.yaml`) and from
the reports of our evaluations (`evals/ledger/reports`); nothing in it is filled in by hand, and a test compares it with
both. Shares, accuracies, hits and F1 are in percent. Ours has its number of rows and its 95 % interval. None of the
papers' rows is one of ours, unless it says so, and a difference is never the method's alone: the column at the right,
and the lines above each table, say what is not the same. A table's number stands where its source could be read; else
the table is named by what it holds. Where the paper's column says "not at hand", the paper has the measure and its
number is not known here; such rows are not counted below.
"""


class Listed(BaseModel):
    """A part of the list; a slip in it is a fault of ours and is noticed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Row(Listed):
    """A published figure.

    Attributes:
        what: the system and the setting, in words. value: in the unit of our figure; None where the measure is
            published and its number is not at hand. n: the paper's rows, None where its source does not say.
        ours: our figure, ``task:figure`` or a figure of the table's task; "" where none was measured.
        differs: what is not the same on our side, for this row alone. not_run: why there is none of ours.
    """

    what: str
    value: float | None
    n: int | None = None
    ours: str = ""
    differs: str = ""
    not_run: str = ""


class Table(Listed):
    """A published table; its texts hold for each row that has none of its own.

    Attributes:
        setting: the paper's. our_setting: ours. task: the evaluation that measures ours.
    """

    title: str
    setting: str
    rows: tuple[Row, ...]
    n: int | None = None
    task: str = ""
    our_setting: str = ""
    differs: str = ""
    not_run: str = ""

    @model_validator(mode="after")
    def _told(self) -> Table:
        """Each row has a figure of ours or a reason, and never both."""
        for row in self.rows:
            reason = row.not_run or ("" if row.ours else self.not_run)
            if bool(row.ours) == bool(reason):
                raise ValueError(f"{self.title}, {row.what}: either ours or not_run")
        return self


class Paper(Listed):
    """A method's figures. ``configuration`` names the file that says whose each parameter is."""

    id: str
    name: str
    source: str
    configuration: str
    tables: tuple[Table, ...]


class Published(Listed):
    """The whole list."""

    papers: tuple[Paper, ...]


@cache
def published() -> Published:
    """Every published figure that this project knows."""
    text = files("evals.ledger").joinpath("published.yaml").read_text(encoding="utf-8")
    return Published.model_validate(yaml.safe_load(text))


def named(table: Table, row: Row) -> tuple[str, str]:
    """Task and figure of a row that has one of ours."""
    task, colon, figure = row.ours.partition(":")
    return (task, figure) if colon else (table.task, row.ours)


class Reports:
    """The reports of a folder, ``TASK.json`` each, as `anamnesis eval run TASK --json` writes them."""

    def __init__(self, folder: Path = REPORTS) -> None:
        self._folder = folder
        self._read: dict[str, Report] = {}

    def of(self, task: str) -> Report:
        """The report of a task; raises DataError where it is missing, damaged or another task's."""
        if task not in self._read:
            path = self._folder / f"{task}.json"
            try:
                report = Report.model_validate_json(path.read_bytes())
            except (OSError, ValidationError) as error:
                raise DataError(f"The report {path} cannot be read.", f"Make it: {_command(task)}.") from error
            if report.task != task:
                raise DataError(f"{path} is a report of {report.task}.", f"Make it anew: {_command(task)}.")
            self._read[task] = report
        return self._read[task]

    def figure(self, table: Table, row: Row) -> Figure:
        """Our figure of a row; raises DataError where the report does not hold it."""
        task, name = named(table, row)
        found = next((f for f in self.of(task).figures if f.name == name), None)
        if found is None:
            raise DataError(f"The report of {task} has no figure {name}.", f"Make it anew: {_command(task)}.")
        return found


def _command(task: str) -> str:
    return f"anamnesis eval run {task} --data DATA --json REPORTS/{task}.json"


def reproduction(listed: Published, reports: Reports) -> str:
    """The page, in Markdown. Raises DataError where a report or a figure is missing."""
    parts = [OPENING, *_counts(listed)]
    for paper in listed.papers:
        parts += [f"\n## {paper.name}\n", f"Source: {paper.source}. {_origins(paper)}\n"]
        for table in paper.tables:
            parts += _table(table, reports)
    return "\n".join(parts).rstrip() + "\n"


def _counts(listed: Published) -> Iterator[str]:
    """How many figures have a row, and how many have one of ours."""
    yield "| method | published figures | with ours | not run |"
    yield "| --- | --- | --- | --- |"
    total = with_ours = 0
    for paper in listed.papers:
        rows = [row for table in paper.tables for row in table.rows if row.value is not None]
        ours = sum(bool(row.ours) for row in rows)
        total, with_ours = total + len(rows), with_ours + ours
        yield f"| {paper.name} | {len(rows)} | {ours} | {len(rows) - ours} |"
    yield f"| all | {total} | {with_ours} | {total - with_ours} |"


def _origins(paper: Paper) -> str:
    """Whose each parameter of the published configuration is."""
    by_origin: dict[str, list[str]] = {"paper": [], "code": [], "ours": []}
    configuration = configurations()[paper.configuration]
    for setting in configuration.settings:
        by_origin[setting.origin].append(f"`{setting.set}`")
    for constant in configuration.constants:
        by_origin[constant.origin].append(constant.what)
    told = [f"{origin}: {', '.join(names)}" for origin, names in by_origin.items() if names]
    return f"Parameters of `--config {paper.configuration}` by origin: {'; '.join(told)}."


def _table(table: Table, reports: Reports) -> Iterator[str]:
    yield f"### {table.title}\n"
    yield f"Paper: {table.setting}."
    if table.not_run:
        yield f"Not run: {table.not_run}."
    if any(row.ours for row in table.rows):
        report = reports.of(table.task)
        yield f"Ours: {table.our_setting}. Differs because: {table.differs}."
        yield f"By `{_command(table.task)}`, limit {report.settings['limit']}, seed {report.settings['seed']}, "
        yield f"encoder {report.settings['encoder']}, data sha256 `{report.data_sha256[:16]}`."
    yield "\n| figure | paper | n | ours | 95 % interval | n | differs or not run because |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for row in table.rows:
        n = row.n or table.n
        cells = [row.what, "not at hand" if row.value is None else f"{row.value:.2f}", str(n) if n else "not said"]
        if row.ours:
            figure = reports.figure(table, row)
            interval = " to ".join(f"{end:.2f}" for end in figure.ci95 or ())
            cells += [f"{figure.value:.2f}", interval, str(figure.n), row.differs or "see above"]
        else:
            cells += ["not run", "", "", row.not_run or "see above"]
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    yield ""
