"""The server's log: one JSON object a line on standard error.

A line holds what an operator needs and nothing of a patient: time, level, request id, key id, route template, status
and milliseconds. Never a body, a query string, a title, a header or a key. An exception is told by its type and the
places in the code that it passed, without its message, which may hold what a user wrote. Other packages' lines keep
their level, the logger's name and the place; their words are left out for the same reason.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any, TextIO

OURS = "anamnesis.server"
TRUSTED = (OURS, "anamnesis.telemetry", "uvicorn")  # loggers whose messages are fixed sentences of a program
FRAMES = 8  # ours: the innermost places of an exception; they are enough to find it

log = logging.getLogger(OURS)


class JsonFormatter(logging.Formatter):
    """A record as a JSON object in a line."""

    def format(self, record: logging.LogRecord) -> str:
        """See the module."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        if record.name.startswith(TRUSTED):
            line["event"] = record.getMessage()
        else:
            line["place"] = f"{record.module}:{record.lineno}"
        line.update(getattr(record, "fields", {}))
        if record.exc_info and record.exc_info[1] is not None:
            line.update(exception(record.exc_info[1]))
        return json.dumps(line, ensure_ascii=False)


def exception(error: BaseException) -> dict[str, Any]:
    """An exception without its message: its type, and the places that it passed, innermost last."""
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    return {"error": type(error).__name__, "places": [f"{f.filename}:{f.lineno} {f.name}" for f in frames]}


def event(what: str, level: int = logging.INFO, **fields: Any) -> None:
    """Log a fixed sentence with fields."""
    log.log(level, what, extra={"fields": fields})


def failure(what: str, error: BaseException, **fields: Any) -> None:
    """Log a fault of ours, without its message."""
    log.error(what, exc_info=(type(error), error, error.__traceback__), extra={"fields": fields})


def set_up(stream: TextIO | None = None) -> None:
    """Send every log of this process through the formatter; others than ours from warnings up, whatever they set."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.addFilter(lambda record: record.levelno >= logging.WARNING or record.name.startswith(TRUSTED))
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.captureWarnings(capture=True)
    log.setLevel(logging.INFO)
    uvicorn = logging.getLogger("uvicorn.error")
    uvicorn.setLevel(logging.INFO)
    logging.getLogger("uvicorn.access").disabled = True
