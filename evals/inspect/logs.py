"""Logs of a folder: which one an interrupted run left, what was replied in it, and what its figures are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from evals.asked import Reply
from evals.contract import Figure
from evals.inspect.adapter import REPLY
from prompts.errors import DataError

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

ADVICE = "Give another folder with --log, or leave --resume out."
FINISHED = "success"
ENDS = ("n", "low", "high")  # what stands beside a figure under its name


def last_log(folder: Path, wanted: Mapping[str, Any]) -> EvalLog | None:
    """The newest log of a folder whose metadata are those wanted, with its samples; None where there is none."""
    from inspect_ai.log import list_eval_logs, read_eval_log

    if not folder.is_dir():
        return None
    for info in list_eval_logs(str(folder.resolve()), recursive=False, descending=True):
        header = _read(read_eval_log, info.name, header_only=True)
        if (header.eval.metadata or {}) == dict(wanted):
            return _read(read_eval_log, info.name)
    return None


def replies_of(log: EvalLog) -> dict[str, Reply]:
    """The replies of a log by the sample's id; samples that failed have none."""
    samples = [sample for sample in log.samples or [] if sample.error is None]
    return {str(sample.id): reply_of(sample) for sample in samples}


def reply_of(sample: EvalSample) -> Reply:
    """The reply of a sample that did not fail; raises DataError where it holds none that can be read."""
    try:
        return Reply.model_validate_json(sample.metadata[REPLY][0])
    except (KeyError, IndexError, ValidationError):
        raise DataError(f"The log's sample {sample.id} holds no reply that can be read.", ADVICE) from None


def figures_of(log: EvalLog) -> list[Figure]:
    """The figures that a finished log holds, as its metrics; a paper's figures are not among them."""
    scores = log.results.scores if log.results is not None else []
    values = {name: float(m.value) for score in scores for name, m in score.metrics.items()}
    return [_figure(name, values) for name in values if f"{name}.n" in values]


def _figure(name: str, values: Mapping[str, float]) -> Figure:
    low, high = values.get(f"{name}.low"), values.get(f"{name}.high")
    ci95 = (low, high) if low is not None and high is not None else None
    return Figure(name=name, value=values[name], n=int(values[f"{name}.n"]), ci95=ci95)


def read_log(path: Path) -> EvalLog:
    """A log with its samples; raises DataError when it cannot be read."""
    from inspect_ai.log import read_eval_log

    return _read(read_eval_log, str(path.resolve()))


def right_by_sample(log: EvalLog) -> dict[str, bool]:
    """Whether each sample was right, by its id."""
    from inspect_ai.scorer import CORRECT

    return {
        str(sample.id): score.value == CORRECT
        for sample in log.samples or []
        for score in (sample.scores or {}).values()
    }


def _read(reader: Any, place: str, **how: Any) -> EvalLog:
    try:
        log: EvalLog = reader(place, **how)
    except Exception as error:  # noqa: BLE001  a damaged archive fails in many ways
        name = place.rpartition("/")[2]
        raise DataError(f"{name} is no log that can be read: {error}.", ADVICE) from None
    return log
