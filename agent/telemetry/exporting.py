"""Delivery to a collector by OpenTelemetry's own exporters, over OTLP and HTTP.

The providers are ours alone and never the process's: what other packages would trace goes nowhere through them. The
library's environment variables are not read, so that none can add an address, a header or an attribute. Spans wait in
a bounded queue; what does not fit is dropped. A collector that is absent costs no turn anything.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import requests
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricExportResult, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

from agent.telemetry.settings import TelemetrySettings
from anamnesis import __version__

QUEUE = 2048  # spans that wait; the specification's default: some hundred turns
BATCH = 512  # spans of a delivery at most; the specification's default
DELAY = 2.0  # ours: seconds between deliveries of spans
FLUSH = 3.0  # ours: seconds that closing may take for what is left
REDIRECTS, FAILURES = 300, 400  # statuses from here on
VARIABLES = "OTEL_"
LIBRARY = "opentelemetry"

log = logging.getLogger("anamnesis.telemetry")


class Delivery:
    """The two providers of a process's telemetry. `tracer` and `meter` are OpenTelemetry's.

    Args:
        settings: with an endpoint.
    """

    def __init__(self, settings: TelemetrySettings) -> None:
        _quieten()
        self._outage = outage = _Outage(urlsplit(settings.endpoint).netloc)
        named = {"service.name": settings.service, "service.version": __version__}
        ours = TraceIdRatioBased(settings.share)
        with _without_variables():
            resource = Resource.create(named)  # the library adds its own name, and a number drawn for this process
            self._metrics = MeterProvider(
                metric_readers=[
                    PeriodicExportingMetricReader(
                        _Metrics(outage, **_exporting(settings, "metrics")),
                        export_interval_millis=settings.interval * 1000,
                        export_timeout_millis=settings.timeout * 1000,
                    )
                ],
                resource=resource,
                shutdown_on_exit=False,
            )
            self._spans = TracerProvider(
                sampler=ParentBased(ours, remote_parent_sampled=ours), resource=resource, shutdown_on_exit=False
            )
            self._spans.add_span_processor(
                _Queue(
                    outage,
                    _Spans(outage, **_exporting(settings, "traces")),
                    max_queue_size=QUEUE,
                    max_export_batch_size=BATCH,
                    schedule_delay_millis=DELAY * 1000,
                )
            )
            self.tracer = self._spans.get_tracer("anamnesis", __version__)
            self.meter = self._metrics.get_meter("anamnesis", __version__)

    def close(self) -> None:
        """Deliver what is left; give up after `FLUSH` seconds."""
        ends = [
            threading.Thread(target=end, daemon=True, name="anamnesis-telemetry")
            for end in (self._spans.shutdown, lambda: self._metrics.shutdown(FLUSH * 1000))
        ]
        until = time.monotonic() + FLUSH
        for end in ends:
            end.start()
        for end in ends:
            end.join(max(0.0, until - time.monotonic()))
        self._outage.close()


class _Outage:
    """Tells the log once that a collector takes nothing, and once that it takes again. Of traces and metrics alike.

    At the end it tells how many spans were lost where it told nothing before: more came than could be sent.
    """

    def __init__(self, place: str) -> None:
        self._place, self._out, self._lock = place, False, threading.Lock()
        self._told, self._waiting = False, 0

    def waits(self) -> None:
        """A span was put into the queue."""
        with self._lock:
            self._waiting += 1

    def close(self) -> None:
        with self._lock:
            lost = 0 if self._told else self._waiting
        if lost:
            log.warning("%d spans were dropped: more came than %s took in time.", lost, self._place)

    def heard(self, *, delivered: bool, spans: int = 0) -> None:
        """A delivery succeeded or failed."""
        with self._lock:
            self._waiting -= spans if delivered else 0
            self._told = self._told or not delivered
            changed, self._out = self._out == delivered, not delivered
        if changed and delivered:
            log.warning("Telemetry is delivered to %s again.", self._place)
        elif changed:
            log.warning(
                "Telemetry cannot be delivered to %s. Turns go on; what is not taken is dropped. "
                "Check ANAMNESIS_TELEMETRY__ENDPOINT and the collector.",
                self._place,
            )


class _Queue(BatchSpanProcessor):
    def __init__(self, outage: _Outage, exporter: SpanExporter, **given: Any) -> None:
        super().__init__(exporter, **given)
        self._outage = outage

    def on_end(self, span: ReadableSpan) -> None:
        if span.context is not None and span.context.trace_flags.sampled:
            self._outage.waits()
        super().on_end(span)


class _Spans(OTLPSpanExporter):
    def __init__(self, outage: _Outage, **given: Any) -> None:
        super().__init__(**given)
        self._outage = outage

    def export(self, spans: Any) -> SpanExportResult:
        result = super().export(spans)
        self._outage.heard(delivered=result is SpanExportResult.SUCCESS, spans=len(spans))
        return result


class _Metrics(OTLPMetricExporter):
    def __init__(self, outage: _Outage, **given: Any) -> None:
        super().__init__(**given)
        self._outage = outage

    def export(self, metrics_data: Any, timeout_millis: float | None = None, **kwargs: Any) -> MetricExportResult:
        result = super().export(metrics_data, timeout_millis, **kwargs)
        self._outage.heard(delivered=result is MetricExportResult.SUCCESS)
        return result


def _exporting(settings: TelemetrySettings, signal: str) -> dict[str, Any]:
    session = requests.Session()
    session.trust_env = False  # no proxy and no key of the environment: it goes to the collector, or nowhere
    session.hooks["response"] = [_refuse_redirect]
    return {
        "endpoint": f"{settings.endpoint.rstrip('/')}/v1/{signal}",
        "headers": {name: value.get_secret_value() for name, value in settings.headers.items()},
        "certificate_file": None if settings.certificate is None else str(settings.certificate),
        "timeout": settings.timeout,
        "compression": Compression.Gzip,
        "session": session,
    }


def _refuse_redirect(response: Any, *_: Any, **__: Any) -> None:
    """A redirect is not followed; the library would take it for a delivery."""
    if REDIRECTS <= response.status_code < FAILURES:
        raise requests.TooManyRedirects


def _quieten() -> None:
    """The library tells of every failed delivery; one notice of ours stands for all, unless the user set its level."""
    library = logging.getLogger(LIBRARY)
    if library.level == logging.NOTSET:
        library.setLevel(logging.CRITICAL)


@contextmanager
def _without_variables() -> Iterator[None]:
    """Without the library's variables in the environment, which it reads while its objects are made."""
    kept = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(VARIABLES)}
    try:
        yield
    finally:
        os.environ.update(kept)
