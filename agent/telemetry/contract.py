"""Turns and requests as an operator follows them: its form while it is off, which the form that is on fills."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from tools.recorder import Recorder

Answered = Callable[[int, str], None]
"""Told of a request's status (0 where it was not answered) and the template of its route ("" for none)."""


class NoTelemetry:
    """Telemetry that is off. No method raises or waits for a collector but `close`."""

    @contextmanager
    def turn(self, session: str, turn: int) -> Iterator[Recorder | None]:
        """Follow a turn that runs inside. What it records is to be told to what this gives, None for nobody."""
        del session, turn
        yield None

    @contextmanager
    def request(self, method: str, scheme: str, traceparent: str, *, traced: bool = True) -> Iterator[Answered]:
        """Follow a request to the server that is answered inside.

        Args:
            traceparent: the caller's header of W3C. traced: make a span of it, beside its metrics.
        """
        del method, scheme, traceparent, traced
        yield lambda _status, _route: None

    def know(self, routes: Iterable[str]) -> None:
        """Learn the templates of the server's routes: no others are told."""

    def close(self) -> None:
        """Deliver what is left, for a few seconds at most. Nothing is followed afterwards."""


Telemetry = NoTelemetry
