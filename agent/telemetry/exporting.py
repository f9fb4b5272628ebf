"""Delivery to a collector by OpenTelemetry's own exporters, over OTLP and HTTP.

The providers are ours alone and never the process's: what other packages would trace goes nowhere through them. The
library's environment variables are not read, so that none can add an address, a header or an attribute. Spans wait in
a bounded queue; what does not fit is dropped. A collector that is absent costs no turn anything.
"""

from __future__ import annotations

import logging
import os
import secrets
import threading
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
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

from agent.telemetry.settings import TelemetrySettings
from anamnesis import __version__

QUEUE = 2048  # spans that wait; the specification's default: some hundred turns
BATCH = 512  # spans of a delivery at most; the specification's default
DELAY = 2.0  # ours: seconds between deliveries of spans
FLUSH = 3.0  # ours: seconds that closing may take for what is left
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
        outage = _Outage(urlsplit(settings.endpoint).netloc)
        resource = Resource(_resource(settings.service))
        ours = TraceIdRatioBased(settings.share)
        with _without_variables():
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
                BatchSpanProcessor(
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
        for end in ends:
            end.start()
        for end in ends:
            end.join(FLUSH)


class _Outage:
    """Tells the log once that a collector takes nothing, and once that it takes again. Of traces and metrics alike."""

    def __init__(self, place: str) -> None:
        self._place, self._out, self._lock = place, False, threading.Lock()

    def heard(self, *, delivered: bool) -> None:
        with self._lock:
            changed, self._out = self._out == delivered, not delivered
        if changed and delivered:
            log.warning("Telemetry is delivered to %s again.", self._place)
        elif changed:
            log.warning(
                "Telemetry cannot be delivered to %s. Turns go on; what is not taken is dropped. "
                "Check ANAMNESIS_TELEMETRY__ENDPOINT and the collector.",
                self._place,
            )


class _Spans(OTLPSpanExporter):
    def __init__(self, outage: _Outage, **given: Any) -> None:
        super().__init__(**given)
        self._outage = outage

    def export(self, spans: Any) -> SpanExportResult:
        result = super().export(spans)
        self._outage.heard(delivered=result is SpanExportResult.SUCCESS)
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
    return {
        "endpoint": f"{settings.endpoint.rstrip('/')}/v1/{signal}",
        "headers": {name: value.get_secret_value() for name, value in settings.headers.items()},
        "certificate_file": None if settings.certificate is None else str(settings.certificate),
        "timeout": settings.timeout,
        "compression": Compression.Gzip,
        "session": session,
    }


def _resource(service: str) -> dict[str, str]:
    """Who sends: a name, a version, and a number of this process that tells nothing else."""
    return {"service.name": service, "service.version": __version__, "service.instance.id": secrets.token_hex(8)}


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
