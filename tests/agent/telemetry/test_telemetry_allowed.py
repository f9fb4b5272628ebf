"""Nothing but what is listed gets into a span or a metric, whatever is handed over."""

from __future__ import annotations

import importlib
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent.telemetry.following import OTHER, Allowed, FollowedTurn, listed
from graphs.clinical import clinical_graph
from support.machine_parts import parts

CONVENTIONS = [
    "_incubating.attributes.gen_ai_attributes",
    "_incubating.metrics.gen_ai_metrics",
    "attributes.error_attributes",
    "attributes.http_attributes",
    "attributes.server_attributes",
    "attributes.url_attributes",
    "metrics.http_metrics",
]
KEYS = {key: about["holds"] for key, about in listed()["attributes"].items()}
METRICS = listed()["metrics"]
ANYTHING = st.one_of(
    st.text(), st.integers(), st.floats(), st.booleans(), st.none(), st.binary(), st.lists(st.text(), max_size=2)
)
KINDS = st.sampled_from(
    "triage gate step_started step_finished tool_started tool model answered retrieval ncbi_request cache".split()
)
FIELDS = st.sampled_from("kind_of_turn decision step tool outcome role model error reason utility source cache".split())


def allowed_now() -> Allowed:
    found = Allowed()
    found.know("gen_ai.tool.name", ["search_literature"])
    return found


LISTS = allowed_now().names


def may_be_told(key: str, value: Any) -> bool:
    match KEYS[key]:
        case "count":
            return type(value) is int and value >= 0
        case "truth":
            return isinstance(value, bool)
        case "id":
            return re.fullmatch("[0-9a-f]{16}", value) is not None
    return value == OTHER or value in LISTS[key]


@given(st.dictionaries(st.one_of(st.sampled_from(sorted(KEYS)), st.text()), ANYTHING))
def test_every_value_is_of_its_list_or_a_number(facts: dict[str, Any]) -> None:
    told = allowed_now().of(facts)
    assert set(told) <= set(facts) & set(KEYS)
    assert all(may_be_told(key, value) for key, value in told.items())


class Kept:
    """Stands where OpenTelemetry does, and keeps all that it is told."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.told: list[dict[str, Any]] = []

    allowed = allowed_now()

    def start(self, words: str, key: str, facts: Any, within: Any, kind: Any) -> Kept:
        told = self.allowed.of(facts)
        self.names.append(f"{words} {told.get(key, '')}")
        self.told.append(told)
        return self

    def past(self, words: str, key: str, facts: Any, seconds: float, error: str = "", kind: Any = None) -> None:
        self.start(words, key, {**facts, "error.type": error}, None, kind)

    def set_attributes(self, told: Any) -> None:
        self.told.append(told)

    def end(self, span: Any, facts: Any, error: str = "") -> None:
        self.told.append(self.allowed.of({**facts, "error.type": error}))

    def record(self, name: str, value: float, facts: Any, context: Any = None) -> None:
        self.names.append(name)
        self.told.append(self.allowed.of(facts))

    def get_span_context(self) -> None:
        return None


@given(st.lists(st.tuples(KINDS, st.dictionaries(FIELDS, st.text(min_size=1))), max_size=8))
def test_no_event_brings_its_words_into_a_name_or_a_value(events: list[tuple[str, dict[str, str]]]) -> None:
    kept: Any = Kept()
    turn = FollowedTurn(kept, {}, {"gen_ai.conversation.id": "Anna Novak"})
    for kind, data in events:
        turn.event(kind, **data)
    turn.end("Anna Novak")
    words = {w for names in LISTS.values() for w in names}
    fixed = words | {OTHER, "node", "ncbi"} | set(METRICS)
    assert {word for name in kept.names for word in name.split()} <= fixed
    assert all(may_be_told(key, value) for told in kept.told for key, value in told.items())


def test_an_id_that_a_caller_chose_is_left_out() -> None:
    ids = {"a1b2c3d4e5f60718": True, "novak-1948": False, "4801231234567890": False, "deadbeef": False}
    told = {i: "gen_ai.conversation.id" in allowed_now().of({"gen_ai.conversation.id": i}) for i in ids}
    assert told == ids


def test_the_nodes_are_the_machines() -> None:
    assert {n for n in clinical_graph(parts()).nodes if not n.startswith("__")} - {"tools"} == LISTS["anamnesis.node"]


def test_names_that_are_not_ours_are_the_conventions() -> None:
    conventions = {
        value
        for name in CONVENTIONS
        for value in vars(importlib.import_module(f"opentelemetry.semconv.{name}")).values()
        if isinstance(value, str)
    }
    named = {*KEYS, *METRICS}
    assert {name for name in named if not name.startswith("anamnesis.")} <= conventions
    assert {key for metric in METRICS.values() for key in metric["keys"]} <= set(KEYS)
    assert "gen_ai.conversation.id" not in {key for metric in METRICS.values() for key in metric["keys"]}
