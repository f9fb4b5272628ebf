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
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

from agent.telemetry.settings import TelemetrySettings
from anamnesis import __version__

QUEUE = 2048  # spans that wait; the specification's default: some hundred turns
BATCH = 512  # spans of a delivery at most; the specification's default
DELAY = 2.0  # ours: seconds between deliveries of spans
REDIRECT = 3  # hundreds of a status
FLUSH = 3.0  # ours: seconds that closing may take for what is left

log = logging.getLogger("anamnesis.telemetry")


class Delivery:
    """The two providers of a process's telemetry. `tracer` and `meter` are OpenTelemetry's.

    Args:
        settings: with an endpoint.
    """

    def __init__(self, settings: TelemetrySettings) -> None:
        library = logging.getLogger("opentelemetry")  # it tells of every failed delivery; one notice of ours stands
        if library.level == logging.NOTSET:  # for all, unless the user set its level
            library.setLevel(logging.CRITICAL)
        self._outage = outage = _Outage(urlsplit(settings.endpoint).netloc)
        ours = TraceIdRatioBased(settings.share)
        with _without_variables():
            resource = Resource.create({"service.name": settings.service, "service.version": __version__})
            reader = PeriodicExportingMetricReader(
                outage.hearing(OTLPMetricExporter(**_exporting(settings, "metrics"))),
                export_interval_millis=settings.interval * 1000,
                export_timeout_millis=settings.timeout * 1000,
            )
            self._metrics = MeterProvider(metric_readers=[reader], resource=resource, shutdown_on_exit=False)
            self._spans = TracerProvider(
                sampler=ParentBased(ours, remote_parent_sampled=ours), resource=resource, shutdown_on_exit=False
            )
            self._spans.add_span_processor(outage)
            self._spans.add_span_processor(
                BatchSpanProcessor(
                    outage.hearing(OTLPSpanExporter(**_exporting(settings, "traces"))),
                    max_queue_size=QUEUE,
                    max_export_batch_size=BATCH,
                    schedule_delay_millis=DELAY * 1000,
                )
            )
            self.tracer = self._spans.get_tracer("anamnesis", __version__)
            self.meter = self._metrics.get_meter("anamnesis", __version__)

    def close(self) -> None:
        """Deliver what is left; give up after `FLUSH` seconds."""
        until = time.monotonic() + FLUSH
        shut = (self._spans.shutdown, lambda: self._metrics.shutdown(FLUSH * 1000))
        ends = [threading.Thread(target=end, daemon=True, name="anamnesis-telemetry") for end in shut]
        for end in ends:
            end.start()
        for end in ends:
            end.join(max(0.0, until - time.monotonic()))
        self._outage.close()


class _Outage(SpanProcessor):
    """Tells the log once that a collector takes nothing, and once that it takes again. Of traces and metrics alike.

    At the end it tells how many spans were lost where it told nothing before: more came than could be sent.
    """

    def __init__(self, place: str) -> None:
        self._place, self._out, self._lock = place, False, threading.Lock()
        self._told, self._waiting = False, 0

    def on_end(self, span: ReadableSpan) -> None:
        if span.context is not None and span.context.trace_flags.sampled:
            with self._lock:
                self._waiting += 1

    def hearing(self, exporter: Any) -> Any:
        """The exporter, each of whose deliveries is heard of."""
        deliver = exporter.export

        def export(data: Any, *given: Any, **named: Any) -> Any:
            result = deliver(data, *given, **named)
            self._heard(delivered=result.name == "SUCCESS", spans=len(data) if isinstance(data, list | tuple) else 0)
            return result

        exporter.export = export
        return exporter

    def close(self) -> None:
        """Tell what was lost."""
        with self._lock:
            lost = 0 if self._told else self._waiting
        if lost:
            log.warning("%d spans were dropped: more came than %s took in time.", lost, self._place)

    def _heard(self, *, delivered: bool, spans: int) -> None:
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


def _refuse_redirect(response: requests.Response, *_: Any, **__: Any) -> None:
    """A redirect is not followed, and counts as a delivery that failed; the library would take it for one."""
    if response.status_code // 100 == REDIRECT:
        raise requests.TooManyRedirects


@contextmanager
def _without_variables() -> Iterator[None]:
    """Without the library's variables in the environment, which it reads while its objects are made."""
    kept = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("OTEL_")}
    try:
        yield
    finally:
        os.environ.update(kept)
