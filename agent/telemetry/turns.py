"""A turn as a trace: spans out of what the machine records for its own traces, and its watcher hears."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple

from opentelemetry.trace import Span

from agent.telemetry.metrics import Instruments
from agent.telemetry.names import AGENT
from agent.telemetry.spans import CLIENT, INTERNAL, Spans, around, go_in, here
from anamnesis import __version__

PROVIDER = "openai"  # the protocol, whoever's server it is
WITHOUT_SEARCH = {"small_talk": "respond", "assistant": "respond", "out_of_scope": "respond", "explain": "explain"}

_tool: ContextVar[Span | None] = ContextVar("anamnesis_tool", default=None)


class Places(NamedTuple):
    """Hosts of the settings: of each role's model, and of the E-utilities."""

    models: Mapping[str, str]
    ncbi: str


class FollowedTurn:
    """One turn. It is a recorder: what it is told becomes spans and metrics, and never raises.

    Args:
        spans, instruments: where to. places: hosts of the settings.
        facts: what is known of the turn before it begins.
    """

    def __init__(self, spans: Spans, instruments: Instruments, places: Places, facts: Mapping[str, object]) -> None:
        self._spans, self._instruments, self._places = spans, instruments, places
        known = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": AGENT, **facts}
        known |= {"gen_ai.agent.version": __version__}
        self.span = spans.start(f"invoke_agent {AGENT}", INTERNAL, known, here())
        self.context = around(self.span)
        self._lock = threading.Lock()
        self._open: dict[str, Span] = {}
        self._tools: set[Span] = set()
        self._started = time.monotonic()
        self._kind, self._route, self._abstained = "", "unknown", False
        self._tokens = [0, 0]
        self._on = {
            "triage": self._triage,
            "gate": self._gate,
            "step_started": self._step_started,
            "step_finished": self._step_finished,
            "tool_started": self._tool_started,
            "tool": self._tool_finished,
            "model": self._model,
            "judged_locally": self._judged_locally,
            "answered": self._answered,
            "retrieval": self._retrieval,
            "ncbi_request": self._ncbi_request,
            "ncbi_wait": self._ncbi_wait,
            "cache": self._cache,
        }
        instruments.record("anamnesis.turns.active", 1, {})

    def event(self, kind: str, **data: Any) -> None:
        """Take an event of the run, in whatever thread it happens; others than those named above are let go."""
        handler = self._on.get(kind)
        if handler is not None:
            handler(data)

    def end(self, error: str = "", *, stopped: bool = False) -> None:
        """End the turn, and whatever an error left open in it."""
        with self._lock:
            left = [*self._open.values(), *self._tools]
            self._open, self._tools = {}, set()
        for span in left:
            self._spans.end(span, error or "_OTHER")
        outcome = ("stopped" if stopped else "failed") if error else "abstained" if self._abstained else "answered"
        facts = {
            "anamnesis.turn.kind": self._kind,
            "anamnesis.turn.route": self._route,
            "anamnesis.turn.outcome": outcome,
        }
        spent = {"gen_ai.usage.input_tokens": self._tokens[0], "gen_ai.usage.output_tokens": self._tokens[1]}
        self._spans.tell(self.span, {**facts, **(spent if any(self._tokens) else {})})
        self._spans.end(self.span, error)
        self._instruments.record("anamnesis.turns.active", -1, {})
        self._instruments.record("anamnesis.turns", 1, facts)
        self._instruments.record("anamnesis.turn.duration", time.monotonic() - self._started, facts, self.context)

    def _triage(self, data: Mapping[str, Any]) -> None:
        self._kind = str(data.get("kind_of_turn", ""))
        self._route = WITHOUT_SEARCH.get(self._kind, self._route)

    def _gate(self, data: Mapping[str, Any]) -> None:
        decision = data.get("decision", "")
        self._route = "direct" if decision == "direct" else "research"
        self._spans.tell(self.span, {"anamnesis.gate.decision": decision})
        self._instruments.record("anamnesis.gate.decisions", 1, {"anamnesis.gate.decision": decision})

    def _step_started(self, data: Mapping[str, Any]) -> None:
        facts = self._spans.allowed.of({"anamnesis.node": data.get("step")})
        span = self._spans.start(f"node {facts.get('anamnesis.node', '')}".strip(), INTERNAL, facts, self.context)
        with self._lock:
            self._open[str(data.get("step"))] = span
        go_in(around(span))  # in the node's own task: what it calls stands in it, and nothing beside it

    def _step_finished(self, data: Mapping[str, Any]) -> None:
        with self._lock:
            span = self._open.pop(str(data.get("step")), None)
        if span is not None:
            self._spans.end(span)
        go_in(self.context)

    def _tool_started(self, data: Mapping[str, Any]) -> None:
        facts = self._spans.allowed.of({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": data.get("tool")})
        name = f"execute_tool {facts.get('gen_ai.tool.name', '')}".strip()
        span = self._spans.start(name, INTERNAL, facts, self.context)
        with self._lock:
            self._tools.add(span)
        _tool.set(span)
        go_in(around(span))

    def _tool_finished(self, data: Mapping[str, Any]) -> None:
        facts = {"gen_ai.tool.name": data.get("tool"), "anamnesis.tool.outcome": data.get("outcome")}
        self._instruments.record("anamnesis.tool.calls", 1, facts, here())
        span = _tool.get()
        if span is not None:
            with self._lock:
                self._tools.discard(span)
            self._spans.tell(span, {**facts, "anamnesis.retrieval.hits": len(data.get("evidence", ()))})
            self._spans.end(span)
        _tool.set(None)
        go_in(self.context)

    def _model(self, data: Mapping[str, Any]) -> None:
        role, seconds = str(data.get("role", "")), float(data.get("seconds", 0.0))
        tokens = {"input": int(data.get("input_tokens", 0)), "output": int(data.get("output_tokens", 0))}
        facts = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": PROVIDER,
            "gen_ai.request.model": data.get("model"),
            "server.address": self._places.models.get(role, ""),
        }
        error = str(data.get("error") or "_OTHER") if data.get("failed") else ""
        told = {**facts, "anamnesis.role": role}
        told |= {f"gen_ai.usage.{name}_tokens": count for name, count in tokens.items() if count}
        name = f"chat {self._spans.allowed.of(facts).get('gen_ai.request.model', '')}".strip()
        within = self._spans.past(name, CLIENT, told, seconds, error)
        failed = {"error.type": error} if error else {}
        self._instruments.record("gen_ai.client.operation.duration", seconds, {**facts, **failed}, within)
        for kind, count in tokens.items():
            if count:
                counted = {**facts, "gen_ai.token.type": kind}
                self._instruments.record("gen_ai.client.token.usage", count, counted, within)
        with self._lock:
            self._tokens = [self._tokens[0] + tokens["input"], self._tokens[1] + tokens["output"]]

    def _judged_locally(self, data: Mapping[str, Any]) -> None:
        self._instruments.record("anamnesis.judged_locally", 1, {"anamnesis.role": data.get("role")})

    def _answered(self, data: Mapping[str, Any]) -> None:
        self._abstained = bool(data.get("abstained"))
        self._spans.tell(self.span, {"anamnesis.turn.statements": data.get("statements")})

    def _retrieval(self, data: Mapping[str, Any]) -> None:
        facts = {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": data.get("source")}
        name = f"retrieval {self._spans.allowed.of(facts).get('gen_ai.data_source.id', '')}".strip()
        facts |= {"anamnesis.retrieval.hits": data.get("hits")}
        self._spans.past(name, INTERNAL, facts, float(data.get("seconds", 0.0)), str(data.get("error", "")))

    def _ncbi_request(self, data: Mapping[str, Any]) -> None:
        error, seconds = str(data.get("reason") or data.get("error", "")), float(data.get("seconds", 0.0))
        facts = {"anamnesis.ncbi.utility": data.get("utility"), "server.address": self._places.ncbi}
        name = f"ncbi {self._spans.allowed.of(facts).get('anamnesis.ncbi.utility', '')}".strip()
        within = self._spans.past(name, CLIENT, facts, seconds, error)
        facts |= {"anamnesis.ncbi.outcome": error or "ok"}
        self._instruments.record("anamnesis.ncbi.request.duration", seconds, facts, within)

    def _ncbi_wait(self, data: Mapping[str, Any]) -> None:
        facts = {"server.address": self._places.ncbi}
        self._instruments.record("anamnesis.ncbi.wait.duration", float(data.get("seconds", 0.0)), facts)

    def _cache(self, data: Mapping[str, Any]) -> None:
        for hit, count in ((True, data.get("hits", 0)), (False, data.get("misses", 0))):
            if count:
                facts = {"anamnesis.cache": data.get("cache"), "anamnesis.cache.hit": hit}
                self._instruments.record("anamnesis.cache.lookups", int(count), facts)
