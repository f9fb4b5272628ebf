"""REPRODUCTION.md: a row for every figure that the five sources print, out of the list of these and our reports."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import typer
import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator, model_validator

from agent.configurations.loading import configurations
from evals.contract import Figure, Report
from evals.ledger.code import code_sha256
from prompts.errors import DataError
from tools.files import named_file, write_atomic

REPORTS = Path(str(files("evals.ledger"))) / "reports"
OPENING = """# Published figures beside ours

`anamnesis eval ledger` writes this page from the list of published figures (`evals/ledger/published.yaml`) and from
the reports of our evaluations (`evals/ledger/reports`); nothing in it is filled in by hand, and a test compares it with
both. Shares, accuracies, hits and F1 are in percent. Ours has its number of rows and its 95 % interval. "Line" is the
line of the source's plain text that prints the figure. No row is one of the papers' own runs, and a difference is never
the method's alone: the lines above each table say what is not the same.

The column "ours is" tells what was measured: **method**, the published method itself, on other data; **proxy**, a
stand-in of ours for a part that needs a language model, weights or people (it counts as ours alone, and never as a
reproduction); **variant**, another way of ours that no source prints, beside the published one. A row without a figure
says what it needs, and the line above the table which command fills it. A table "not in the sources" holds figures that
only the authors' own papers or releases have; it is not counted. "Stale" stands where the evaluation's code changed
after its report was made.
"""
State = Literal["model", "weights", "data", "run"]
STATES: dict[State, str] = {"model": "a language model", "weights": "weights", "data": "data", "run": "a run"}
_NUMBER = re.compile(r"\{([a-z0-9_:.@]+)\}")  # a figure of ours in a text, so that no text can say another number


class Listed(BaseModel):
    """A part of the list; a slip in it is a fault of ours and is noticed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Column(Listed):
    """A column of a published table.

    Attributes:
        what: in words. figure: what a row's ``ours`` is followed by to name our figure. needs: as of a row.
    """

    what: str
    figure: str = ""
    needs: tuple[State, ...] = ()


class Row(Listed):
    """A line of a published table.

    Attributes:
        what: the system and the setting, in words. line: of the source's text; 0 where the table is in none.
        values: as printed, one a column, None for one that is not; () for a variant of ours that no source prints.
        n: the paper's rows, where they are not the table's.
        ours: the beginning of our figures' names, to which a column's ``figure`` is added, or for which it stands where
            there is a ``*``: ``task:name``, or a name of the table's task; "" where none was measured.
        proxy: whether ours is a stand-in; None for what the table says.
        needs: what a missing figure needs. differs: what is not the same here alone.
    """

    what: str
    line: int = 0
    values: tuple[float | None, ...] = ()
    n: int | None = None
    ours: str = ""
    proxy: bool | None = None
    needs: tuple[State, ...] = ()
    differs: str = ""

    @field_validator("values", mode="before")
    @classmethod
    def _printed(cls, values: object) -> object:
        """One value stands without brackets, and a share of rows as ``22/60``."""
        row = values if isinstance(values, list | tuple) else [values]
        return [_percent(v) if isinstance(v, str) else v for v in row]


def _percent(share: str) -> float:
    part, _, whole = share.partition("/")
    return 100 * int(part) / int(whole)


class Table(Listed):
    """A published table.

    Attributes:
        setting: the paper's. scale: from what is printed to the unit of ours.
        sources: whether the sources print it; only then is it counted and has line numbers.
        task, our_setting, differs: of our figures. proxy: whether they are a stand-in, unless a row says otherwise.
        needs: of rows without a figure. command: fills them.
    """

    title: str
    setting: str
    rows: tuple[Row, ...]
    columns: tuple[Column, ...] = (Column(what=""),)
    scale: float = 1
    n: int | None = None
    sources: bool = True
    task: str = ""
    our_setting: str = ""
    differs: str = ""
    proxy: bool = False
    needs: tuple[State, ...] = ()
    command: str = ""

    @model_validator(mode="after")
    def _told(self) -> Table:
        """Rows fit the columns, each figure is ours or says what it needs, and what the sources print has a line."""
        for row in self.rows:
            place = f"{self.title}, {row.what}"
            if row.values and len(row.values) != len(self.columns):
                raise ValueError(f"{place}: {len(row.values)} values for {len(self.columns)} columns")
            if bool(row.values) is not bool(row.line) and self.sources:
                raise ValueError(f"{place}: a printed figure has its line, a variant of ours has none")
            if not row.values and not row.ours:
                raise ValueError(f"{place}: neither a printed figure nor one of ours")
        for cell in self.cells():
            if bool(cell.ours) is bool(cell.needs):
                raise ValueError(f"{self.title}, {cell.what}: either ours or what it needs")
            if cell.needs and not self.command:
                raise ValueError(f"{self.title}: no command fills {cell.what}")
        return self

    def cells(self) -> Iterator[Cell]:
        """One for each figure, row by row."""
        for row in self.rows:
            for column, value in zip(self.columns, row.values or [None] * len(self.columns), strict=True):
                if row.values and value is None:
                    continue  # the paper leaves it out
                named = not column.needs and (column.figure or len(self.columns) == 1) and row.ours
                if not row.values and not named:
                    continue
                name = _joined(row.ours, column.figure) if named else ""
                needs = () if name else column.needs or row.needs or self.needs
                proxy = self.proxy if row.proxy is None else row.proxy
                kind: Kind = "variant" if not row.values else "proxy" if proxy else "method"
                what = f"{row.what}, {column.what}" if column.what else row.what
                scaled = None if value is None else round(value * self.scale, 6)
                yield Cell(what, row.line, scaled, row.n or self.n, self._named(name), kind, needs, row.differs)

    def _named(self, name: str) -> str:
        return name if not name or ":" in name else f"{self.task}:{name}"


def _joined(ours: str, figure: str) -> str:
    if "*" in ours:
        return ours.replace("*", figure)
    return f"{ours}{'' if ours.endswith(':') else '.'}{figure}" if figure else ours


Kind = Literal["method", "proxy", "variant"]


class Cell(NamedTuple):
    """One figure: the paper's in the unit of ours, and the name of ours, ``task:figure``, or what it needs."""

    what: str
    line: int
    value: float | None
    n: int | None
    ours: str
    kind: Kind
    needs: tuple[State, ...]
    differs: str

    @property
    def named(self) -> tuple[str, str]:
        """Task and figure of ours."""
        task, _, figure = self.ours.partition(":")
        return task, figure


class Paper(Listed):
    """A source's figures.

    Attributes:
        configuration: the file that says whose each parameter is.
        repeated: what its prose says again of its tables, not counted; with what does not agree.
    """

    id: str
    name: str
    source: str
    configuration: str
    tables: tuple[Table, ...]
    repeated: tuple[str, ...] = ()

    def printed(self) -> list[Cell]:
        """Every figure that the source prints."""
        return [cell for table in self.tables if table.sources for cell in table.cells() if cell.value is not None]


class Published(Listed):
    """The whole list. ``counted``: how it was counted, and where another count differs."""

    counted: str = ""
    papers: tuple[Paper, ...]


@cache
def ledger(
    reports: Annotated[Path | None, typer.Option(help="The folder of the reports; without it those shipped.")] = None,
    out: Annotated[Path, typer.Option(help="The page to write.", callback=named_file)] = Path("REPRODUCTION.md"),
) -> None:
    """Write every published figure beside ours, from the reports of our evaluations."""
    write_atomic(out, reproduction(published(), Reports(reports or REPORTS)).encode())
    typer.echo(f"{out} is written.")


def published() -> Published:
    """Every published figure that this project knows."""
    text = files("evals.ledger").joinpath("published.yaml").read_text(encoding="utf-8")
    return Published.model_validate(yaml.safe_load(text))


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
                raise DataError(f"The report {path} cannot be read.", f"Make it: {command_of(task)}.") from error
            if report.task != task:
                raise DataError(f"{path} is a report of {report.task}.", f"Make it anew: {command_of(task)}.")
            self._read[task] = report
        return self._read[task]

    def figure(self, name: str) -> Figure:
        """The figure ``task:figure``; raises DataError where the report does not hold it."""
        task, _, figure = name.partition(":")
        found = next((f for f in self.of(task).figures if f.name == figure), None)
        if found is None:
            raise DataError(f"The report of {task} has no figure {figure}.", f"Make it anew: {command_of(task)}.")
        return found

    def stale(self, task: str) -> bool:
        """Whether the task's code changed after its report was made."""
        return self.of(task).code != code_sha256(task)


def command_of(task: str) -> str:
    """What makes a task's report."""
    what = "judges" if task == "judges" else f"run {task}"
    return f"anamnesis eval {what} --data DATA --json REPORTS/{task}.json"


def reproduction(listed: Published, reports: Reports) -> str:
    """The page, in Markdown. Raises DataError where a report or a figure is missing."""
    parts = [OPENING, *_counts(listed)]
    if listed.counted:
        parts.append(f"\n{listed.counted}")
    for paper in listed.papers:
        parts += [f"\n## {paper.name}\n", f"Source: {paper.source}. {_origins(paper)}\n"]
        for table in paper.tables:
            parts += _table(table, reports)
        if paper.repeated:
            parts += ["Said again in the text, not counted:\n", *(f"- {said}" for said in paper.repeated), ""]
    return "\n".join(parts).rstrip() + "\n"


def _counts(listed: Published) -> Iterator[str]:
    """How many figures the sources print, how many have one of ours, and what the others need."""
    yield "| source | printed | by the method | by a proxy | need a language model | need weights | data | a run |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    sums: Counter[str] = Counter()
    for paper in listed.papers:
        own = Counter(
            key for cell in paper.printed() for key in ("printed", cell.kind if cell.ours else "", *cell.needs)
        )
        sums += own
        yield _count_row(paper.name, own)
    yield _count_row("all", sums)


def _count_row(name: str, counts: Counter[str]) -> str:
    return f"| {name} | {' | '.join(str(counts[key]) for key in ('printed', 'method', 'proxy', *STATES))} |"


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
    cells = list(table.cells())
    yield f"### {table.title}\n"
    yield f"{'Paper' if table.sources else 'Not in the sources'}: {table.setting}."
    if table.our_setting:
        yield f"Ours: {_filled(table.our_setting, table, reports)}."
    if table.differs:
        yield f"Differs because: {_filled(table.differs, table, reports)}."
    if table.command:
        yield f"What is not run is filled by `{table.command}`."
    for task in dict.fromkeys(cell.named[0] for cell in cells if cell.ours):
        yield _made(task, reports)
    yield "\n| line | figure | paper | n | ours | 95 % interval | n | ours is | differs, or needs |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for cell in cells:
        row = [str(cell.line or ""), cell.what]
        row.append("" if cell.value is None else f"{cell.value:.2f}")
        row.append("" if cell.value is None else str(cell.n or "not said"))
        if cell.ours:
            figure = reports.figure(cell.ours)
            interval = " to ".join(f"{end:.2f}" for end in figure.ci95 or ())
            row += [f"{figure.value:.2f}", interval, str(figure.n), cell.kind, cell.differs]
        else:
            told = f"needs {' and '.join(STATES[state] for state in cell.needs)}"
            row += ["not run", "", "", "", f"{told}: {cell.differs}" if cell.differs else told]
        yield f"| {' | '.join(text.replace('|', chr(92) + '|') for text in row)} |"
    yield ""


def _made(task: str, reports: Reports) -> str:
    """Which run made the figures of a task, and whether it is stale."""
    report = reports.of(task)
    settings = {key: report.settings[key] for key in ("limit", "seed", "encoder", "judge") if key in report.settings}
    told = ", ".join(f"{key} {value}" for key, value in settings.items())
    stale = " **Stale: the evaluation's code changed since.**" if reports.stale(task) else ""
    return f"By `{command_of(task)}`, {told}, data sha256 `{report.data_sha256[:16]}`.{stale}"


def _filled(text: str, table: Table, reports: Reports) -> str:
    """The text with our figures for their names: ``{figure}`` of the table's task, or ``{task:figure}``."""

    def number(match: re.Match[str]) -> str:
        name = match[1] if ":" in match[1] else f"{table.task}:{match[1]}"
        value = reports.figure(name).value
        return f"{value:,.0f}" if value == int(value) else f"{value:.1f}"

    return _NUMBER.sub(number, text)
