"""Spans: their names come from the program, their attributes pass `Allowed`, and they hold no event and no message.

The span that runs now is a context variable of ours, not the library's: nobody else's spans become ours, and ours go to
nobody else's exporter.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextvars import ContextVar, Token
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from agent.telemetry.allowed import Allowed

INTERNAL, CLIENT, SERVER = SpanKind.INTERNAL, SpanKind.CLIENT, SpanKind.SERVER
NANO = 1_000_000_000

_here: ContextVar[Context | None] = ContextVar("anamnesis_span", default=None)


class Spans:
    """Starts and ends spans.

    Args:
        tracer: of OpenTelemetry. allowed: what may be told.
    """

    def __init__(self, tracer: trace.Tracer, allowed: Allowed) -> None:
        self._tracer, self.allowed = tracer, allowed

    def start(
        self, name: str, kind: SpanKind, facts: Mapping[str, object], within: Context, began: int | None = None
    ) -> Span:
        """Start a span within another, at ``began`` (nanoseconds since the epoch) or now.

        ``name``: fixed words, followed by a value that was admitted.
        """
        return self._tracer.start_span(
            name,
            context=within,
            kind=kind,
            attributes=self.allowed.of(facts),
            start_time=began,
            record_exception=False,
            set_status_on_exception=False,
        )

    def tell(self, span: Span, facts: Mapping[str, object]) -> None:
        """Add attributes."""
        span.set_attributes(self.allowed.of(facts))

    def end(self, span: Span, error: str = "") -> None:
        """End a span; ``error`` is the name of the error's type, and all that is told of it."""
        if error:
            self.tell(span, {"error.type": error})
            span.set_status(Status(StatusCode.ERROR))
        span.end()

    def past(self, name: str, kind: SpanKind, facts: Mapping[str, object], seconds: float, error: str = "") -> Context:
        """A span that has ended just now after some seconds, within the one that runs here."""
        span = self.start(name, kind, facts, here(), time.time_ns() - int(seconds * NANO))
        self.end(span, error)
        return around(span)


def here() -> Context:
    """The span that runs now, as a parent of others; an empty context outside any."""
    return _here.get() or Context()


def around(span: Span) -> Context:
    """A span as a parent of others."""
    return trace.set_span_in_context(span, Context())


def go_in(context: Context | None) -> Token[Any]:
    """Let a span be the one that runs from now on, in this task and what it starts."""
    return _here.set(context)


def go_out(token: Token[Any]) -> None:
    """Let the span be what it was before."""
    _here.reset(token)


def of_caller(traceparent: str) -> Context:
    """The caller's span. Its header ``traceparent`` alone is read: the others of W3C may hold any text."""
    return TraceContextTextMapPropagator().extract({"traceparent": traceparent}, Context())
