"""The list of published figures, and the reports that ours come from."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

import yaml
from pydantic import ValidationError

from evals.contract import Report
from evals.ledger.contract import Measured, Published, Row, Table, named
from prompts.errors import DataError

REPORTS = Path(str(files("evals.ledger"))) / "reports"


@cache
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
            self._read[task] = self._open(task)
        return self._read[task]

    def measured(self, table: Table, row: Row) -> Measured:
        """Our figure of a row; raises DataError where the report does not hold it."""
        task, name = named(table, row)
        report = self.of(task)
        for figure in report.figures:
            if figure.name == name:
                return Measured(figure, report)
        raise DataError(f"The report of {task} has no figure {name}.", f"Make it anew: {command(task)}.")

    def _open(self, task: str) -> Report:
        path = self._folder / f"{task}.json"
        try:
            report = Report.model_validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            raise DataError(f"The report {path} cannot be read.", f"Make it: {command(task)}.") from error
        if report.task != task:
            raise DataError(f"{path} is a report of {report.task}.", f"Make it anew: {command(task)}.")
        return report


def command(task: str) -> str:
    """What makes a task's report."""
    return f"anamnesis eval run {task} --data DATA --json REPORTS/{task}.json"
