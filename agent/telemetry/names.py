"""Every key that is told, with what it may hold, in the semantic conventions' names where there is one.

The names are written here and not taken from the library, so that the list can be read without it; a test compares.
"""

from __future__ import annotations

from typing import get_args

from agent.sessions import ids
from agent.telemetry.allowed import Attribute, Count, MadeId, OneOf, Truth
from anamnesis import __version__
from graphs.completeness.contract import Decision
from graphs.triage.contract import Kind
from prompts import errors, metering, model_failures
from prompts.errors import AnamnesisError
from prompts.model_settings import Role
from tools.contract import Outcome
from tools.literature import failures
from tools.literature.failures import Reason

AGENT = "anamnesis"
NODES = frozenset(
    "triage respond completeness_gate research collect kads_selector differential_filter answer report verify".split()
)
UTILITIES = frozenset("einfo esearch esummary efetch elink espell".split())
METHODS = frozenset("GET HEAD POST PUT PATCH DELETE OPTIONS TRACE CONNECT QUERY".split())
SOURCES = frozenset({"library", "questions", "collection"})
CACHES = UTILITIES | {"record", "pmc"}
ROUTES = frozenset({"respond", "explain", "direct", "research", "unknown"})
OUTCOMES = frozenset({"answered", "abstained", "failed", "stopped"})
ENDED = frozenset({"ok"}) | {reason.value for reason in Reason}

_BUILT_IN = frozenset(
    "CancelledError TimeoutError OSError ConnectionError RuntimeError ValueError TypeError KeyError IndexError".split()
) | frozenset("AttributeError MemoryError RecursionError GraphRecursionError KeyboardInterrupt SystemExit".split())
_STATUSES = frozenset(str(status) for status in range(500, 600))


def error_names() -> frozenset[str]:
    """Names of errors: of the program's types, of common ones, reasons of the E-utilities, failing statuses."""
    ours = {
        name
        for module in (errors, metering, model_failures, failures, ids)
        for name, found in vars(module).items()
        if isinstance(found, type) and issubclass(found, AnamnesisError)
    }
    return _BUILT_IN | _STATUSES | ours | {reason.value for reason in Reason}


def attributes() -> list[Attribute]:
    """All keys that are told."""
    return [*_standard(), *_own()]


def _standard() -> list[Attribute]:
    operations = frozenset({"invoke_agent", "chat", "execute_tool", "retrieval"})
    return [
        Attribute("gen_ai.operation.name", OneOf(operations), "what is done"),
        Attribute("gen_ai.provider.name", OneOf(frozenset({"openai"})), "the protocol that the model's server speaks"),
        Attribute("gen_ai.agent.name", OneOf(frozenset({AGENT})), "this program"),
        Attribute("gen_ai.agent.version", OneOf(frozenset({__version__})), "its version"),
        Attribute("gen_ai.conversation.id", MadeId(), "the session, where this program made its id"),
        Attribute("gen_ai.request.model", OneOf(), "the model, as the settings name it"),
        Attribute("gen_ai.token.type", OneOf(frozenset({"input", "output"})), "tokens read or written"),
        Attribute("gen_ai.usage.input_tokens", Count(), "tokens read by models"),
        Attribute("gen_ai.usage.output_tokens", Count(), "tokens written by models"),
        Attribute("gen_ai.tool.name", OneOf(), "the tool, by its registered name"),
        Attribute("gen_ai.data_source.id", OneOf(SOURCES), "what is searched"),
        Attribute("error.type", OneOf(error_names()), "the error's type, without its message"),
        Attribute("server.address", OneOf(), "the host of the settings: of a model, of the E-utilities"),
        Attribute("url.scheme", OneOf(frozenset({"http", "https"})), "how a request came"),
        Attribute("http.request.method", OneOf(METHODS), "the method of a request to the server"),
        Attribute("http.response.status_code", Count(), "the status of its answer"),
        Attribute("http.route", OneOf(), "the template of its route, never the path"),
    ]


def _own() -> list[Attribute]:
    kinds = frozenset(kind.value for kind in Kind)
    decisions = frozenset(decision.value for decision in Decision)
    return [
        Attribute("anamnesis.turn.number", Count(), "which turn of its session"),
        Attribute("anamnesis.turn.kind", OneOf(kinds), "the kind of turn, as triage sees it"),
        Attribute("anamnesis.turn.route", OneOf(ROUTES), "the way that it took through the machine"),
        Attribute("anamnesis.turn.outcome", OneOf(OUTCOMES), "how it ended"),
        Attribute("anamnesis.turn.statements", Count(), "statements of its answer"),
        Attribute("anamnesis.node", OneOf(NODES), "a node of the machine"),
        Attribute("anamnesis.role", OneOf(frozenset(get_args(Role))), "the role in which a model is asked"),
        Attribute("anamnesis.gate.decision", OneOf(decisions), "what the gate decided"),
        Attribute("anamnesis.tool.outcome", OneOf(frozenset(o.value for o in Outcome)), "how a tool's call ended"),
        Attribute("anamnesis.retrieval.hits", Count(), "how much was found"),
        Attribute("anamnesis.ncbi.utility", OneOf(UTILITIES), "the E-utility that is asked"),
        Attribute("anamnesis.ncbi.outcome", OneOf(ENDED), "`ok`, or the reason of the failure"),
        Attribute("anamnesis.cache", OneOf(CACHES), "what is looked up in the cache of answers"),
        Attribute("anamnesis.cache.hit", Truth(), "whether it was there"),
    ]
