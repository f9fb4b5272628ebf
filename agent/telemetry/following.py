"""Telemetry that is on: turns and requests as spans and metrics, out of what the machine records for its own traces.

Names of spans come from the program, their attributes pass `Allowed`, and they hold no event and no message. The span
that runs now is a context variable of ours, not the library's: nobody else's spans become ours, and ours go to nobody
else's exporter.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

import requests
import yaml
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import INVALID_SPAN, Span, SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from agent.sessions import ids
from agent.telemetry.contract import Answered, Telemetry
from agent.telemetry.settings import TelemetrySettings
from anamnesis import __version__
from graphs.completeness.contract import Decision
from graphs.triage.contract import Kind
from prompts import errors, metering, model_failures
from prompts.errors import AnamnesisError
from prompts.model_settings import Role
from tools.contract import Outcome
from tools.literature import failures
from tools.literature.failures import Reason
from tools.recorder import Recorder, watched_by

FAILED = 500  # statuses from here on are the server's failures
NANO = 1_000_000_000
WITHOUT_SEARCH = {
    **dict.fromkeys(("small_talk", "assistant", "out_of_scope"), "respond"),
    "explain": "explain",
    "calculation": "calculate",
}
CREATED = {"counter": "create_counter", "gauge": "create_up_down_counter"}

Facts = Mapping[str, object]
_here: ContextVar[Context | None] = ContextVar("anamnesis_span", default=None)
_tool: ContextVar[Span | None] = ContextVar("anamnesis_tool", default=None)


class Teller:
    """Spans and metrics of OpenTelemetry, told nothing that is not allowed.

    Args:
        tracer, meter: of OpenTelemetry. allowed: what may be told.
    """

    def __init__(self, tracer: Any, meter: Any, allowed: Allowed) -> None:
        self._tracer, self.allowed = tracer, allowed
        self._keys = {name: metric["keys"] for name, metric in listed()["metrics"].items()}
        self._instruments = {name: _recording(meter, name, metric) for name, metric in listed()["metrics"].items()}

    def start(
        self, words: str, key: str, facts: Facts, within: Context, kind: SpanKind, began: int | None = None
    ) -> Span:
        """Start a span within another, at ``began`` (ns since the epoch) or now; its name: words, and a key's value."""
        told = self.allowed.of(facts)
        span: Span = self._tracer.start_span(
            f"{words} {told.get(key, '')}".strip(),
            context=within,
            kind=kind,
            attributes=told,
            start_time=began,
            record_exception=False,
            set_status_on_exception=False,
        )
        return span

    def end(self, span: Span, facts: Facts, error: str = "", at: int | None = None) -> None:
        """End a span, at ``at`` (ns since the epoch) or now; of an error its type's name, ``error``, is all that is
        told."""
        span.set_attributes(self.allowed.of({**facts, "error.type": error}))
        if error:
            span.set_status(Status(StatusCode.ERROR))
        span.end(at)

    def past(
        self, words: str, key: str, facts: Facts, seconds: float, error: str = "", kind: SpanKind = SpanKind.CLIENT
    ) -> Context:
        """A span that has ended just now after some seconds, within the one that runs here."""
        now = time.time_ns()
        span = self.start(words, key, facts, _here.get() or Context(), kind, now - int(seconds * NANO))
        self.end(span, {}, error, now)
        return _around(span)

    def record(self, name: str, value: float, facts: Facts, context: Context | None = None) -> None:
        """Add to a counter or a gauge, or put a value into a histogram. ``context`` links it with its span."""
        self._instruments[name](value, self.allowed.of(facts, self._keys[name]), context=context)


class Following(Telemetry):
    """Follows turns and requests, and delivers what it saw.

    Args:
        settings: with an endpoint. hosts: of the settings, by the role of a model, and "ncbi".
        known: names that attributes may hold besides those listed, by key.
    """

    def __init__(
        self, settings: TelemetrySettings, hosts: Mapping[str, str], known: Mapping[str, Iterable[str]]
    ) -> None:
        self._allowed = Allowed()
        for key, names in known.items():
            self._allowed.know(key, names)
        self._hosts, self._delivery, self._closed = hosts, Delivery(settings), False
        self._to = Teller(self._delivery.tracer, self._delivery.meter, self._allowed)
        atexit.register(self.close)

    @contextmanager
    def turn(self, session: str, turn: int) -> Iterator[Recorder | None]:
        """Follow a turn."""
        followed = FollowedTurn(
            self._to, self._hosts, {"gen_ai.conversation.id": session, "anamnesis.turn.number": turn}
        )
        token = _here.set(followed.context)
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
            _here.reset(token)

    @contextmanager
    def request(self, method: str, scheme: str, traceparent: str, *, traced: bool = True) -> Iterator[Answered]:
        """Follow a request; its turn, if it starts one, stands in it, even where it goes on afterwards.

        Of the caller's headers ``traceparent`` alone is read: the others of W3C may hold any text.
        """
        facts: dict[str, object] = {"http.request.method": method, "url.scheme": scheme}
        verb = str(self._allowed.of(facts).get("http.request.method", OTHER)).replace(OTHER, "HTTP")
        caller = TraceContextTextMapPropagator().extract({"traceparent": traceparent}, Context())
        span = self._to.start(verb, "", facts, caller, SpanKind.SERVER) if traced else INVALID_SPAN
        token, started = _here.set(_around(span)), time.monotonic()

        def answered(status: int, route: str) -> None:
            facts.update({"http.response.status_code": status or None, "http.route": route})
            if known := self._allowed.of(facts).get("http.route"):
                span.update_name(f"{verb} {known}")

        try:
            yield answered
        finally:
            _here.reset(token)
            status = facts.get("http.response.status_code")
            error = str(status) if isinstance(status, int) and status >= FAILED else ""
            self._to.end(span, facts, error)
            told = {**facts, "error.type": error}
            self._to.record("http.server.request.duration", time.monotonic() - started, told, _around(span))

    def know(self, routes: Iterable[str]) -> None:
        """Learn the templates of the server's routes."""
        self._allowed.know("http.route", routes)

    def close(self) -> None:
        """Deliver what is left, once."""
        if not self._closed:
            self._closed = True
            atexit.unregister(self.close)
            self._delivery.close()


class FollowedTurn:
    """One turn. It is a recorder: what it is told becomes spans and metrics, and never raises.

    Args:
        to: where to. hosts: of the settings. facts: what is known of the turn before it begins.
    """

    def __init__(self, to: Teller, hosts: Mapping[str, str], facts: Facts) -> None:
        self._to, self._hosts, self._lock = to, hosts, threading.Lock()
        about = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "anamnesis"}
        told = {**about, "gen_ai.agent.version": __version__, **facts}
        here = _here.get() or Context()
        self.span = to.start("invoke_agent", "gen_ai.agent.name", told, here, SpanKind.INTERNAL)
        self.context = _around(self.span)
        self._open: dict[object, Span] = {}
        self._started = time.monotonic()
        self._kind, self._route, self._abstained, self._tokens = "", "unknown", False, [0, 0]
        to.record("anamnesis.turns.active", 1, {})

    def event(self, kind: str, **data: Any) -> None:
        """Take an event of the run, in whatever thread it happens; one that no method below is for is let go."""
        handler = getattr(self, f"_on_{kind}", None)
        if handler is not None:
            handler(data)

    def end(self, error: str = "", *, stopped: bool = False) -> None:
        """End the turn, and whatever an error left open in it."""
        with self._lock:
            left, self._open = list(self._open.values()), {}
        for span in left:
            self._to.end(span, {}, error or OTHER)
        outcome = ("stopped" if stopped else "failed") if error else "abstained" if self._abstained else "answered"
        facts = {
            "anamnesis.turn.kind": self._kind,
            "anamnesis.turn.route": self._route,
            "anamnesis.turn.outcome": outcome,
        }
        read, written = self._tokens
        spent = {"gen_ai.usage.input_tokens": read, "gen_ai.usage.output_tokens": written} if read + written else {}
        self._to.end(self.span, {**facts, **spent}, error)
        self._to.record("anamnesis.turns.active", -1, {})
        self._to.record("anamnesis.turns", 1, facts)
        self._to.record("anamnesis.turn.duration", time.monotonic() - self._started, facts, self.context)

    def _on_triage(self, data: Facts) -> None:
        self._kind = str(data.get("kind_of_turn", ""))
        self._route = WITHOUT_SEARCH.get(self._kind, self._route)

    def _on_gate(self, data: Facts) -> None:
        decision = data.get("decision", "")
        self._route = "direct" if decision == "direct" else "research"
        facts = {"anamnesis.gate.decision": decision}
        self.span.set_attributes(self._to.allowed.of(facts))
        self._to.record("anamnesis.gate.decisions", 1, facts)

    def _on_step_started(self, data: Facts) -> None:
        self._go_in("node", "anamnesis.node", {"anamnesis.node": data.get("step")}, data.get("step"))

    def _on_step_finished(self, data: Facts) -> None:
        self._go_out(data.get("step"), {})

    def _on_tool_started(self, data: Facts) -> None:
        facts = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": data.get("tool")}
        _tool.set(self._go_in("execute_tool", "gen_ai.tool.name", facts, None))

    def _on_tool(self, data: Mapping[str, Any]) -> None:
        facts = {"gen_ai.tool.name": data.get("tool"), "anamnesis.tool.outcome": data.get("outcome")}
        self._to.record("anamnesis.tool.calls", 1, facts, _here.get())
        self._go_out(_tool.get(), {**facts, "anamnesis.retrieval.hits": len(data.get("evidence", ()))})
        _tool.set(None)

    def _go_in(self, words: str, key: str, facts: Facts, name: object) -> Span:
        """A span that stays open in this task, so that what it calls stands in it, and nothing beside it."""
        span = self._to.start(words, key, facts, self.context, SpanKind.INTERNAL)
        with self._lock:
            self._open[span if name is None else name] = span
        _here.set(_around(span))
        return span

    def _go_out(self, name: object, facts: Facts) -> None:
        with self._lock:
            span = self._open.pop(name, None)
        if span is not None:
            self._to.end(span, facts)
        _here.set(self.context)

    def _on_model(self, data: Mapping[str, Any]) -> None:
        if data.get("cached"):
            return  # nobody was asked
        role, seconds = str(data.get("role", "")), float(data.get("seconds", 0.0))
        tokens = {"input": int(data.get("input_tokens", 0)), "output": int(data.get("output_tokens", 0))}
        facts = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",  # the protocol, whoever's server it is
            "gen_ai.request.model": data.get("model"),
            "server.address": self._hosts.get(role, ""),
        }
        error = str(data.get("error") or OTHER) if data.get("failed") else ""
        read = {f"gen_ai.usage.{name}_tokens": count for name, count in tokens.items() if count}
        told = {**facts, "anamnesis.role": role, **read}
        within = self._to.past("chat", "gen_ai.request.model", told, seconds, error)
        self._to.record("gen_ai.client.operation.duration", seconds, {**facts, "error.type": error}, within)
        for kind, count in tokens.items():
            if count:
                self._to.record("gen_ai.client.token.usage", count, {**facts, "gen_ai.token.type": kind}, within)
        with self._lock:
            self._tokens = [self._tokens[0] + tokens["input"], self._tokens[1] + tokens["output"]]

    def _on_judged_locally(self, data: Facts) -> None:
        self._to.record("anamnesis.judged_locally", 1, {"anamnesis.role": data.get("role")})

    def _on_answered(self, data: Facts) -> None:
        self._abstained = bool(data.get("abstained"))
        self.span.set_attributes(self._to.allowed.of({"anamnesis.turn.statements": data.get("statements")}))

    def _on_retrieval(self, data: Mapping[str, Any]) -> None:
        facts = {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": data.get("source")}
        facts |= {"anamnesis.retrieval.hits": data.get("hits")}
        seconds, error = float(data.get("seconds", 0.0)), str(data.get("error", ""))
        self._to.past("retrieval", "gen_ai.data_source.id", facts, seconds, error, SpanKind.INTERNAL)

    def _on_ncbi_request(self, data: Mapping[str, Any]) -> None:
        error, seconds = str(data.get("reason") or data.get("error", "")), float(data.get("seconds", 0.0))
        facts = {"anamnesis.ncbi.utility": data.get("utility"), "server.address": self._hosts.get("ncbi")}
        within = self._to.past("ncbi", "anamnesis.ncbi.utility", facts, seconds, error)
        facts |= {"anamnesis.ncbi.outcome": error or "ok"}
        self._to.record("anamnesis.ncbi.request.duration", seconds, facts, within)

    def _on_ncbi_wait(self, data: Mapping[str, Any]) -> None:
        facts = {"server.address": self._hosts.get("ncbi")}
        self._to.record("anamnesis.ncbi.wait.duration", float(data.get("seconds", 0.0)), facts)

    def _on_cache(self, data: Mapping[str, Any]) -> None:
        for hit, count in ((True, data.get("hits", 0)), (False, data.get("misses", 0))):
            if count:
                facts = {"anamnesis.cache": data.get("cache"), "anamnesis.cache.hit": hit}
                self._to.record("anamnesis.cache.lookups", int(count), facts)


def _around(span: Span) -> Context:
    """A span as a parent of others."""
    return set_span_in_context(span, Context())


def _recording(meter: Any, name: str, metric: Mapping[str, Any]) -> Any:
    named = {"name": name, "unit": metric["unit"], "description": metric["about"]}
    if metric["form"] == "histogram":
        bounds = [float(bound) for bound in metric["bounds"]]
        return meter.create_histogram(**named, explicit_bucket_boundaries_advisory=bounds).record
    return getattr(meter, CREATED[metric["form"]])(**named).add


# The one way by which anything gets into a span or a metric: a list of keys, each with the values that it may hold.
# What a key may not hold is replaced by `_OTHER` where its values are a list, else left out; a key that is not on
# the list is left out. So a patient's words cannot get in, whatever a caller hands over. The list is
# `allowed.yaml`.

OTHER = "_OTHER"  # the conventions' value for whatever is not on a list
LARGEST = 2**53  # ours: integers beyond it are no counts, and not every reader takes them
MADE = re.compile(r"^(?=.*[a-f])[0-9a-f]{16}\Z")  # an id that a caller chose may be a name or a number of a patient
BUILT_IN = (
    "CancelledError TimeoutError OSError ConnectionError RuntimeError ValueError TypeError KeyError IndexError "
    "AttributeError MemoryError RecursionError GraphRecursionError KeyboardInterrupt SystemExit"
)

Value = str | int | float | bool


@lru_cache(maxsize=1)
def listed() -> dict[str, dict[str, dict[str, Any]]]:
    """``attributes`` and ``metrics`` by name."""
    read: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(Path(__file__).with_name("allowed.yaml").read_text())
    return read


def of_the_program() -> dict[str, set[str]]:
    """The lists that the program's own types make; errors are its types, common ones, reasons and failing statuses."""
    reasons = {reason.value for reason in Reason}
    ours = {
        name
        for module in (errors, metering, model_failures, failures, ids)
        for name, found in vars(module).items()
        if isinstance(found, type) and issubclass(found, AnamnesisError)
    }
    return {
        "version": {__version__},
        "kinds": {kind.value for kind in Kind},
        "roles": set(get_args(Role)),
        "decisions": {decision.value for decision in Decision},
        "outcomes": {outcome.value for outcome in Outcome},
        "ended": {"ok", *reasons},
        "errors": {*BUILT_IN.split(), *map(str, range(500, 600)), *ours, *reasons},
        "settings": set(),
    }


class Allowed:
    """The keys that may be told, with what is known of their values."""

    def __init__(self) -> None:
        program = of_the_program()
        self._holds = {key: about["holds"] for key, about in listed()["attributes"].items()}
        listings = {key: set(h if isinstance(h, list) else program.get(h, ())) for key, h in self._holds.items()}
        self.names: dict[str, set[str]] = listings

    def know(self, key: str, names: Iterable[str]) -> None:
        """Learn names that a key may hold: of the settings and of the program, never out of a message."""
        self.names[key].update(name for name in names if name)

    def of(self, facts: Mapping[str, object], keys: Iterable[str] | None = None) -> dict[str, Value]:
        """What may be told of the facts; ``keys`` restricts it further."""
        wanted = facts if keys is None else {key: facts[key] for key in keys if key in facts}
        admitted = {key: self._admitted(key, value) for key, value in wanted.items() if key in self._holds}
        return {key: value for key, value in admitted.items() if value is not None}

    def _admitted(self, key: str, value: object) -> Value | None:
        match self._holds[key]:
            case "count":
                if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST:
                    return value
                return None
            case "truth":
                return value if isinstance(value, bool) else None
            case "id":
                return value if isinstance(value, str) and MADE.match(value) else None
        if value is None or value == "":
            return None
        return value if isinstance(value, str) and value in self.names[key] else OTHER


# Delivery to a collector by OpenTelemetry's own exporters, over OTLP and HTTP.
# The providers are ours alone and never the process's: what other packages would trace goes nowhere through them.
# The library's environment variables are not read, so that none can add an address, a header or an attribute. Spans
# wait in a bounded queue; what does not fit is dropped. A collector that is absent costs no turn anything.

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
