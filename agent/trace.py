"""Traces: what a run did, one JSON line an event, under the data folder."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prompts.errors import InputError
from tools.files import append_private, told_when_full
from tools.recorder import Recorder

TRACE_SCHEMA = 1  # raised with every change of an event's meaning
TURN = re.compile(r"^[0-9]{1,9}\Z")
SESSION_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}\Z")


class TraceRecorder:
    """Appends a run's events to its file. Each line is written whole; a kill loses at most the line in hand.

    Args:
        folder: the traces' folder.
        run: ``session/turn``.
        listener: is told every event too.
    """

    def __init__(self, folder: Path, run: str, listener: Recorder | None = None) -> None:
        self._listener = listener
        self.path = trace_path(folder, run)
        self._lock = threading.Lock()
        with told_when_full("The trace"):
            self._file = append_private(self.path)
        before = self.path.read_bytes()
        self._cut_off = bool(before) and not before.endswith(b"\n")  # by a kill, or a disk that was full
        self.event("run", run=run, schema=TRACE_SCHEMA)

    def event(self, kind: str, **data: Any) -> None:
        """Append an event with its time (seconds since the epoch)."""
        line = json.dumps({"kind": kind, "at": round(time.time(), 4), **data}, ensure_ascii=False).encode() + b"\n"
        with self._lock, told_when_full("The trace"):
            self._write(b"\n" + line if self._cut_off else line)  # what follows a cut line must not join it
        if self._listener is not None:
            self._listener.event(kind, **data)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write(self, data: bytes) -> None:
        self._cut_off = True
        while data:  # a disk may have room for a part
            data = data[self._file.write(data) :]
        self._cut_off = False


def trace_path(folder: Path, run: str) -> Path:
    """The file of a run ``session/turn``; raises InputError for anything else."""
    session, turn = run_names(run)
    return folder / session / f"{turn}.jsonl"


def run_names(run: str) -> tuple[str, int]:
    """Session and turn of a run ``session/turn``; raises InputError for anything else."""
    session, _, turn = run.partition("/")
    if not SESSION_NAME.match(session) or not TURN.match(turn):
        raise InputError(f"{run!r} is no run.", "A run is written session/turn, for example 3f2a.../1.")
    return session, int(turn)


def no_trace(run: str) -> InputError:
    """There is no trace of a run."""
    return InputError(f"There is no trace of run {run}.", "`anamnesis trace` without a run lists what there is.")


def list_runs(folder: Path) -> list[str]:
    """All runs with a trace, newest first."""
    files = sorted(folder.glob("*/*.jsonl"), key=lambda p: p.stat().st_mtime, reverse=True)
    return [f"{f.parent.name}/{f.stem}" for f in files]


def events_of(body: bytes) -> Iterator[dict[str, Any]]:
    """Every event; a line that a kill cut or something damaged is marked, and costs no other line."""
    for number, line in enumerate(body.split(b"\n"), start=1):
        if line:
            event = _event(line)
            yield event if event is not None else {"kind": "damaged_line", "at": 0.0, "line": number}


def _event(line: bytes) -> dict[str, Any] | None:
    """The event of a line; None for one that is no JSON, or no event."""
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and isinstance(event.get("kind"), str) else None
