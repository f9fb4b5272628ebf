"""One side of a comparison: the report of a run, and whether each sample was right where there is a log."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evals.contract import Figure, Report
from evals.logged import check_installed, log_beside, report_beside
from prompts.errors import DataError, InputError

ADVICE = "Give a report that `anamnesis eval run` wrote, a log, or a folder with logs."


@dataclass(frozen=True)
class Side:
    """A run.

    Attributes:
        name: the file. task, settings, data_sha256, figures: as in a report.
        right: sample to whether it was right; empty without a log.
    """

    name: str
    task: str
    settings: dict[str, Any]
    data_sha256: str
    figures: tuple[Figure, ...]
    right: dict[str, bool] = field(default_factory=dict)


def read_side(path: Path) -> Side:
    """A report (``.json``), a log (``.eval``), or the newest log of a folder, else its newest report.

    Raises:
        InputError: there is no such file, or the log is not finished. DataError: it cannot be read.
    """
    if path.is_dir():
        path = _newest(path)
    if not path.is_file():
        raise InputError(f"There is no {path}.", ADVICE)
    if path.suffix == ".eval":
        return _of_log(path)
    log = log_beside(path)
    report = read_report(path)
    right = _of_log(log).right if log.is_file() else {}
    return Side(path.name, report.task, report.settings, report.data_sha256, report.figures, right)


def read_report(path: Path) -> Report:
    """A report; raises DataError when it cannot be read."""
    try:
        return Report.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, ValueError, ValidationError) as error:
        said = str(error).splitlines()[0]
        raise DataError(f"{path.name} is no report that can be read: {said}.", ADVICE) from None


def _newest(folder: Path) -> Path:
    for pattern in ("*.eval", "*.json"):
        found = sorted(folder.glob(pattern), key=lambda p: p.stat().st_mtime)
        if found:
            return found[-1]
    raise InputError(f"{folder} holds no log and no report.", ADVICE)


def _of_log(path: Path) -> Side:
    check_installed()
    from evals.inspect.adapter import RIGHT
    from evals.inspect.logs import FINISHED, figures_of, read_log, right_by_sample

    log = read_log(path)
    about = log.eval.metadata or {}
    if log.status != FINISHED:
        raise InputError(f"{path.name} is of a run that did not finish.", "Finish it with `eval run ... --resume`.")
    if "task" not in about:
        raise DataError(f"{path.name} is no log of this program.", ADVICE)
    figures = tuple(f for f in figures_of(log) if f.name != RIGHT)  # no report has it; samples are paired instead
    beside = report_beside(path)  # which also has what was not run: that is known at the end alone
    settings = read_report(beside).settings if beside.is_file() else about["settings"]
    return Side(path.name, about["task"], settings, about["data_sha256"], figures, right_by_sample(log))
