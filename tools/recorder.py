"""How a room reports what it does: a small recorder that is passed in. `agent.trace` stores what it is told."""

from __future__ import annotations

from typing import Any, Protocol

SEARCHED = "searched_within"  # event: ``query`` was searched for within a tool's call, by ``strategy``


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
