"""Logs of a folder: which one an interrupted run left, what was replied in it, and what its figures are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog, EvalSample, list_eval_logs, read_eval_log
from inspect_ai.scorer import CORRECT
from pydantic import ValidationError

from evals.contract import Figure, Reply
from evals.inspect import REPLY
from evals.sessions import Sample
from prompts.errors import DataError

ADVICE = "Give another folder with --log, or leave --resume out."


def read_log(path: Path | str, **how: Any) -> EvalLog:
    """A log with its samples; raises DataError when it cannot be read."""
    try:
        return read_eval_log(str(path.resolve()) if isinstance(path, Path) else path, **how)
    except Exception as error:  # noqa: BLE001  a damaged archive fails in many ways
        name = str(path).rpartition("/")[2]
        raise DataError(f"{name} is no log that can be read: {error}.", ADVICE) from None


def last_log(folder: Path, wanted: Mapping[str, Any]) -> EvalLog | None:
    """The newest log of a folder whose metadata are those wanted, with its samples; None where there is none."""
    if folder.is_dir():
        for info in list_eval_logs(str(folder.resolve()), recursive=False, descending=True):
            if (read_log(info.name, header_only=True).eval.metadata or {}) == dict(wanted):
                return read_log(info.name)
    return None


def replies_of(log: EvalLog) -> dict[str, Reply]:
    """The replies of a log by the sample's id; samples that failed have none."""
    return {str(sample.id): reply_of(sample) for sample in log.samples or [] if sample.error is None}


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
    return [
        Figure(
            name=name,
            value=value,
            n=int(values[f"{name}.n"]),
            ci95=(values[f"{name}.low"], values[f"{name}.high"]) if f"{name}.low" in values else None,
        )
        for name, value in values.items()
        if f"{name}.n" in values
    ]


def right_by_sample(log: EvalLog) -> dict[str, bool]:
    """Whether each sample was right, by its id."""
    samples = [(str(sample.id), score) for sample in log.samples or [] for score in (sample.scores or {}).values()]
    return {name: score.value == CORRECT for name, score in samples}


def samples_of(path: Path) -> tuple[str, Iterator[Sample]]:
    """The task of a log, and its samples as they are followed: reply, target, what nodes recorded in the last turn.

    Those that failed are left out. Raises DataError for a damaged log.
    """
    log = read_log(path)
    task = str((log.eval.metadata or {}).get("task", log.eval.task))
    return task, (_followed(s) for s in log.samples or [] if s.error is None)


def _followed(sample: EvalSample) -> Sample:
    target = sample.target if isinstance(sample.target, str) else sample.target[0]
    begun = [n for n, e in enumerate(sample.events) if e.event == "span_begin" and e.type == "turn"]
    last: list[Any] = sample.events[begun[-1] :] if begun else sample.events
    told = [e for e in last if e.event == "info" and e.source and isinstance(e.data, dict)]
    events = [{"kind": e.source, **e.data} for e in told]
    return str(sample.id), str(sample.metadata.get("group", "")), target, reply_of(sample), events
