"""The trace of a run, read whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent.trace import events_of, no_trace, trace_path


def read_trace(folder: Path, run: str) -> list[dict[str, Any]]:
    """The events of a run; raises InputError when there is no such run."""
    path = trace_path(folder, run)
    if not path.exists():
        raise no_trace(run)
    return list(events_of(path.read_bytes()))
