"""A collector of this machine: takes OTLP over HTTP on a real socket, decodes it, and keeps every byte."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

KINDS = {1: "internal", 2: "server", 3: "client"}


@dataclass(frozen=True)
class Span:
    """A span as it came. ``seconds``: its length. ``error``: whether its status is one."""

    name: str
    trace: str
    id: str
    parent: str
    kind: str
    attributes: dict[str, Any]
    start: int
    end: int
    error: bool
    message: str
    events: int
    state: str

    @property
    def seconds(self) -> float:
        return (self.end - self.start) / 1e9


@dataclass(frozen=True)
class Point:
    """A point of a metric: its attributes, the sum of all values, how many there were, and its bounds."""

    attributes: dict[str, Any]
    sum: float
    count: int
    bounds: tuple[float, ...] = ()


@dataclass(frozen=True)
class Delivery:
    """A request as it came, its body unpacked."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Collector:
    """What was sent. ``status``: of its answers. ``delay``: seconds before each."""

    url: str = ""
    taken: list[Delivery] = field(default_factory=list)
    status: int = 200
    delay: float = 0.0

    @property
    def traces(self) -> list[ExportTraceServiceRequest]:
        return [ExportTraceServiceRequest.FromString(d.body) for d in self.taken if d.path == "/v1/traces"]

    @property
    def spans(self) -> list[Span]:
        """All spans, in the order in which they began."""
        found = [
            Span(
                name=s.name,
                trace=s.trace_id.hex(),
                id=s.span_id.hex(),
                parent=s.parent_span_id.hex(),
                kind=KINDS[s.kind],
                attributes=values(s.attributes),
                start=s.start_time_unix_nano,
                end=s.end_time_unix_nano,
                error=s.status.code == 2,
                message=s.status.message,
                events=len(s.events),
                state=s.trace_state,
            )
            for request in self.traces
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for s in scope.spans
        ]
        return sorted(found, key=lambda s: s.start)

    def metrics(self) -> dict[str, list[Point]]:
        """The points of every metric, as last sent: they are cumulative."""
        found: dict[str, list[Point]] = {}
        for delivery in self.taken:
            if delivery.path == "/v1/metrics":
                for resource in ExportMetricsServiceRequest.FromString(delivery.body).resource_metrics:
                    for scope in resource.scope_metrics:
                        found |= {m.name: points(m) for m in scope.metrics}
        return found

    @property
    def everything(self) -> bytes:
        """Every byte that came: paths, headers and decompressed bodies."""
        return b"\n".join(d.path.encode() + repr(d.headers).encode() + d.body for d in self.taken)


def values(attributes: Any) -> dict[str, Any]:
    return {a.key: getattr(a.value, a.value.WhichOneof("value")) for a in attributes}


def points(metric: Any) -> list[Point]:
    if metric.HasField("histogram"):
        return [
            Point(values(p.attributes), p.sum, p.count, tuple(p.explicit_bounds)) for p in metric.histogram.data_points
        ]
    return [Point(values(p.attributes), p.as_int or p.as_double, 1) for p in metric.sum.data_points]


@contextmanager
def collecting() -> Iterator[Collector]:
    """A running collector."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            time.sleep(collector.delay)
            packed = self.headers.get("content-encoding") == "gzip"
            headers = {k.lower(): v for k, v in self.headers.items()}
            collector.taken.append(Delivery(self.path, headers, gzip.decompress(body) if packed else body))
            self.send_response(collector.status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Silence."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    collector.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
