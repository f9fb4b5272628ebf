"""Every metric, with the keys that go with it, and what records them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from agent.telemetry.allowed import Allowed

# Boundaries that the conventions advise: for seconds of models, for tokens, for seconds of requests to a server.
SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
TOKENS = tuple(float(4**n) for n in range(14))
REQUEST_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)


class Metric(NamedTuple):
    """A metric: its name, form, unit (UCUM), the keys that go with it, what it tells, bounds of a histogram."""

    name: str
    form: Literal["counter", "gauge", "histogram"]
    unit: str
    keys: tuple[str, ...]
    about: str
    bounds: Sequence[float] = ()


_MODEL = ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "server.address")
METRICS = (
    Metric(
        "gen_ai.client.token.usage",
        "histogram",
        "{token}",
        (*_MODEL, "gen_ai.token.type"),
        "tokens of a call of a model",
        TOKENS,
    ),
    Metric(
        "gen_ai.client.operation.duration",
        "histogram",
        "s",
        (*_MODEL, "error.type"),
        "seconds of a call of a model",
        SECONDS,
    ),
    Metric(
        "http.server.request.duration",
        "histogram",
        "s",
        ("http.request.method", "url.scheme", "http.response.status_code", "http.route", "error.type"),
        "seconds of a request to the server, the whole stream of a streamed answer",
        REQUEST_SECONDS,
    ),
    Metric(
        "anamnesis.turns",
        "counter",
        "{turn}",
        ("anamnesis.turn.kind", "anamnesis.turn.route", "anamnesis.turn.outcome"),
        "turns that ended",
    ),
    Metric(
        "anamnesis.turn.duration",
        "histogram",
        "s",
        ("anamnesis.turn.route", "anamnesis.turn.outcome"),
        "seconds of a turn",
        SECONDS,
    ),
    Metric("anamnesis.turns.active", "gauge", "{turn}", (), "turns that run now"),
    Metric(
        "anamnesis.tool.calls",
        "counter",
        "{call}",
        ("gen_ai.tool.name", "anamnesis.tool.outcome"),
        "calls of tools",
    ),
    Metric("anamnesis.gate.decisions", "counter", "{decision}", ("anamnesis.gate.decision",), "decisions of the gate"),
    Metric(
        "anamnesis.judged_locally",
        "counter",
        "{judgement}",
        ("anamnesis.role",),
        "judgements that a model failed at, and the local rules made",
    ),
    Metric(
        "anamnesis.ncbi.request.duration",
        "histogram",
        "s",
        ("anamnesis.ncbi.utility", "anamnesis.ncbi.outcome", "server.address"),
        "seconds of a request to the E-utilities; its count is the requests sent",
        REQUEST_SECONDS,
    ),
    Metric(
        "anamnesis.ncbi.wait.duration",
        "histogram",
        "s",
        ("server.address",),
        "seconds that a request waited for its place within NCBI's rate",
        REQUEST_SECONDS,
    ),
    Metric(
        "anamnesis.cache.lookups",
        "counter",
        "{lookup}",
        ("anamnesis.cache", "anamnesis.cache.hit"),
        "look-ups in the cache of NCBI's answers",
    ),
)


class Instruments:
    """Records metrics. A name or a key that is not in `METRICS` cannot be recorded.

    Args:
        meter: of OpenTelemetry. allowed: what may be told.
    """

    def __init__(self, meter: Any, allowed: Allowed) -> None:
        self._allowed = allowed
        self._keys = {metric.name: metric.keys for metric in METRICS}
        self._record = {metric.name: _recording(meter, metric) for metric in METRICS}

    def record(self, name: str, value: float, facts: Mapping[str, object], context: Any = None) -> None:
        """Add to a counter or a gauge, or put a value into a histogram. ``context`` links it with its span."""
        self._record[name](value, self._allowed.of(facts, self._keys[name]), context=context)


def _recording(meter: Any, metric: Metric) -> Any:
    named = {"name": metric.name, "unit": metric.unit, "description": metric.about}
    if metric.form == "counter":
        return meter.create_counter(**named).add
    if metric.form == "gauge":
        return meter.create_up_down_counter(**named).add
    return meter.create_histogram(**named, explicit_bucket_boundaries_advisory=list(metric.bounds)).record
