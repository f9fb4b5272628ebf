"""How a room reports what it does: a small recorder that is passed in. `agent.trace` stores what it is told.

What belongs into no trace, and is of use to whoever operates a server (requests, waits, look-ups), is told to the
watcher of the run, a context variable: it reaches clients and indexes without standing in any signature.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

SEARCHED = "searched_within"  # event: ``query`` was searched for within a tool's call, by ``strategy``


T = TypeVar("T")


@contextmanager
def lent(variable: ContextVar[T], value: T) -> Iterator[None]:
    """A context variable has this value inside."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


class Recorder(Protocol):
    """Takes events of a run. Values must be JSON types; never a key or a password."""

    def event(self, kind: str, **data: Any) -> None:
        """Record that something happened."""


class NullRecorder:
    """Records nothing: for calls outside a run."""

    def event(self, kind: str, **data: Any) -> None:
        """Forget the event."""


class StrategyRecorder:
    """Passes every event on, and keeps the strategies of searches that are made within another tool's call."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._kept: dict[str, list[dict[str, Any]]] = {}

    def event(self, kind: str, **data: Any) -> None:
        """Record that something happened."""
        if kind == SEARCHED:
            self._kept[data["query"]] = data["strategy"]
        self._recorder.event(kind, **data)

    def steps(self, query: str) -> list[dict[str, Any]]:
        """How a query was searched for."""
        return self._kept.get(query, [])


_watcher: ContextVar[Recorder | None] = ContextVar("anamnesis_watcher", default=None)
_NOBODY = NullRecorder()


def watcher() -> Recorder:
    """Who watches the run that runs now; outside a run, and where nobody watches, whatever is told is forgotten."""
    return _watcher.get() or _NOBODY


@contextmanager
def watched_by(recorder: Recorder | None) -> Iterator[None]:
    """Let a recorder watch everything that is started inside."""
    with lent(_watcher, recorder):
        yield


@contextmanager
def timed(kind: str, **data: Any) -> Iterator[dict[str, Any]]:
    """Tell the watcher of what is done inside, once it has ended: its seconds, and the error's type where it failed.

    Gives a dictionary for what is known only then. No value may hold a word of a message, a query or a document.
    """
    more: dict[str, Any] = {}
    failed: BaseException | None = None
    started = time.monotonic()
    try:
        yield more
    except BaseException as error:
        failed = error
        raise
    finally:
        kind_of_error = "" if failed is None else type(failed).__name__
        watcher().event(kind, seconds=time.monotonic() - started, error=kind_of_error, **data, **more)
