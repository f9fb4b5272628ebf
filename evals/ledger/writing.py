"""REPRODUCTION.md: a row a published figure, all of it from the list and the reports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from evals.ledger.contract import Paper, Published, Row, Table
from evals.ledger.reading import Reports, command

if TYPE_CHECKING:
    from evals.contract import Figure

OPENING = """# Published figures beside ours

`anamnesis eval ledger` writes this page from the list of published figures (`evals/ledger/published.yaml`) and from
the reports of our evaluations (`evals/ledger/reports`); nothing in it is filled in by hand, and a test compares it with
both. Shares, accuracies, hits and F1 are in percent. Ours has its number of rows and its 95 % interval. None of the
papers' rows is one of ours, unless it says so, and a difference is never the method's alone: the column at the right,
and the lines above each table, say what is not the same. A table's number stands where its source could be read; else
the table is named by what it holds. Where the paper's column says "not at hand", the paper has the measure and its
number is not known here; such rows are not counted below.
"""


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
    from agent.configurations.loading import configurations

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
        yield f"By `{command(table.task)}`, limit {report.settings['limit']}, seed {report.settings['seed']}, "
        yield f"encoder {report.settings['encoder']}, data sha256 `{report.data_sha256[:16]}`."
    yield "\n| figure | paper | n | ours | 95 % interval | n | differs or not run because |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for row in table.rows:
        yield _row(table, row, reports)
    yield ""


def _row(table: Table, row: Row, reports: Reports) -> str:
    n = row.n or table.n
    cells = [row.what, "not at hand" if row.value is None else _number(row.value), str(n) if n else "not said"]
    if not row.ours:
        return _line([*cells, "not run", "", "", row.not_run or "see above"])
    figure = reports.measured(table, row).figure
    return _line([*cells, _number(figure.value), _interval(figure), str(figure.n), row.differs or "see above"])


def _line(cells: list[str]) -> str:
    escaped = (cell.replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def _interval(figure: Figure) -> str:
    return "" if figure.ci95 is None else f"{_number(figure.ci95[0])} to {_number(figure.ci95[1])}"


def _number(value: float) -> str:
    """As the papers print: two decimals."""
    return f"{value:.2f}"
