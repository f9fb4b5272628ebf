"""How a room reports what it does: a small recorder that is passed in. `agent.trace` stores what it is told."""

from __future__ import annotations

from typing import Any, Protocol


class Recorder(Protocol):
    """Takes events of a run. Values must be JSON types; never a key or a password."""

    def event(self, kind: str, **data: Any) -> None:
        """Record that something happened."""


class NullRecorder:
    """Records nothing: for calls outside a run."""

    def event(self, kind: str, **data: Any) -> None:
        """Forget the event."""
