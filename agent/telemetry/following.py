"""Telemetry that is on: turns and requests as spans and metrics."""

from __future__ import annotations

import asyncio
import atexit
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from opentelemetry.trace import INVALID_SPAN

from agent.telemetry.allowed import Allowed
from agent.telemetry.contract import Answered
from agent.telemetry.exporting import Delivery
from agent.telemetry.metrics import Instruments
from agent.telemetry.names import attributes
from agent.telemetry.settings import TelemetrySettings
from agent.telemetry.spans import SERVER, Spans, around, go_in, go_out, of_caller
from agent.telemetry.turns import FollowedTurn, Places
from tools.recorder import Recorder, watched_by

FAILED = 500  # statuses from here on are the server's failures


class Following:
    """Follows turns and requests, and delivers what it saw.

    Args:
        settings: with an endpoint.
        places: hosts of the settings. known: names that attributes may hold besides those listed, by key.
    """

    def __init__(self, settings: TelemetrySettings, places: Places, known: Mapping[str, Iterable[str]]) -> None:
        self._allowed = Allowed(attributes())
        for key, names in known.items():
            self._allowed.know(key, names)
        self._places = places
        self._delivery = Delivery(settings)
        self._spans = Spans(self._delivery.tracer, self._allowed)
        self._instruments = Instruments(self._delivery.meter, self._allowed)
        self._closed = False
        atexit.register(self.close)

    @contextmanager
    def turn(self, session: str, turn: int) -> Iterator[Recorder | None]:
        """Follow a turn."""
        facts = {"gen_ai.conversation.id": session, "anamnesis.turn.number": turn}
        followed = FollowedTurn(self._spans, self._instruments, self._places, facts)
        token = go_in(followed.context)
        try:
            with watched_by(followed):
                yield followed
        except BaseException as error:
            stopped = isinstance(error, asyncio.CancelledError | KeyboardInterrupt | GeneratorExit)
            followed.end(type(error).__name__, stopped=stopped)
            raise
        else:
            followed.end()
        finally:
            go_out(token)

    @contextmanager
    def request(self, method: str, scheme: str, traceparent: str, *, traced: bool = True) -> Iterator[Answered]:
        """Follow a request; its turn, if it starts one, stands in it, even where it goes on afterwards."""
        facts: dict[str, object] = {"http.request.method": method, "url.scheme": scheme}
        verb = str(self._allowed.of(facts).get("http.request.method", "HTTP")).replace("_OTHER", "HTTP")
        span = self._spans.start(verb, SERVER, facts, of_caller(traceparent)) if traced else INVALID_SPAN
        token, started = go_in(around(span)), time.monotonic()

        def answered(status: int, route: str) -> None:
            facts.update({"http.response.status_code": status or None, "http.route": route})
            told = self._allowed.of(facts)
            if "http.route" in told:
                span.update_name(f"{verb} {told['http.route']}")

        try:
            yield answered
        finally:
            go_out(token)
            status = facts.get("http.response.status_code", 0)
            error = str(status) if isinstance(status, int) and status >= FAILED else ""
            self._spans.tell(span, facts)
            self._spans.end(span, error)
            told = {**facts, **({"error.type": error} if error else {})}
            seconds = time.monotonic() - started
            self._instruments.record("http.server.request.duration", seconds, told, around(span))

    def know(self, routes: Iterable[str]) -> None:
        """Learn the templates of the server's routes."""
        self._allowed.know("http.route", routes)

    def close(self) -> None:
        """Deliver what is left, once."""
        if not self._closed:
            self._closed = True
            atexit.unregister(self.close)
            self._delivery.close()
