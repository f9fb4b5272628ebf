"""The samples of a log as they are followed: reply, target, and the events of the last turn's trace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evals.inspect.logs import read_log, reply_of

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample

    from evals.losses import Sample


def samples_of(path: Path) -> tuple[str, Iterator[Sample]]:
    """The task of a log, and its samples; those that failed are left out. Raises DataError for a damaged log."""
    log = read_log(path)
    task = str((log.eval.metadata or {}).get("task", log.eval.task))
    return task, (_sample(s) for s in log.samples or [] if s.error is None)


def _sample(sample: EvalSample) -> Sample:
    reply = reply_of(sample)
    target = sample.target if isinstance(sample.target, str) else sample.target[0]
    return str(sample.id), str(sample.metadata.get("group", "")), target, reply, _events(sample.events)


def _events(events: list[Any]) -> list[dict[str, Any]]:
    """What nodes recorded in the last turn."""
    begun = [n for n, e in enumerate(events) if e.event == "span_begin" and e.type == "turn"]
    last = events[begun[-1] :] if begun else events
    return [{"kind": e.source, **e.data} for e in last if e.event == "info" and e.source and isinstance(e.data, dict)]
