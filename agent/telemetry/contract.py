"""What the agent and its server need of telemetry, and its form while it is off."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

from tools.recorder import Recorder

Answered = Callable[[int, str], None]
"""Told of a request's status (0 where it was not answered) and the template of its route ("" for none)."""


class Telemetry(Protocol):
    """Turns and requests as an operator follows them. No method raises or waits for a collector but `close`."""

    @contextmanager
    def turn(self, session: str, turn: int) -> Iterator[Recorder | None]:
        """Follow a turn that runs inside. What it records is to be told to what this gives, None for nobody."""

    @contextmanager
    def request(self, method: str, scheme: str, traceparent: str, *, traced: bool = True) -> Iterator[Answered]:
        """Follow a request to the server that is answered inside.

        Args:
            traceparent: the caller's header of W3C. traced: make a span of it, beside its metrics.
        """

    def know(self, routes: Iterable[str]) -> None:
        """Learn the templates of the server's routes: no others are told."""

    def close(self) -> None:
        """Deliver what is left, for a few seconds at most. Nothing is followed afterwards."""


class NoTelemetry:
    """Telemetry that is off."""

    @contextmanager
    def turn(self, session: str, turn: int) -> Iterator[Recorder | None]:
        """Nobody follows."""
        del session, turn
        yield None

    @contextmanager
    def request(self, method: str, scheme: str, traceparent: str, *, traced: bool = True) -> Iterator[Answered]:
        """Nobody follows."""
        del method, scheme, traceparent, traced
        yield _forget

    def know(self, routes: Iterable[str]) -> None:
        """Nothing is told."""

    def close(self) -> None:
        """There is nothing to deliver."""


def _forget(status: int, route: str) -> None:
    del status, route
