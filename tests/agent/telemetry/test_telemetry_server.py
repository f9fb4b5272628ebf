"""The server's requests: joined to the caller's trace, told by route and status, probes counted and not traced."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.agent import Agent
from support.collector import Collector
from support.machine_parts import Scripted, parts
from support.served import served

Open = Callable[..., Agent]
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SAMPLED, UNSAMPLED = f"00-{TRACE}-{PARENT}-01", f"00-{TRACE}-{PARENT}-00"
ASK = "/api/sessions/{session}/turns"


def asked(agent: Agent, text: str, **headers: str) -> list[int]:
    """Statuses of a conversation over HTTP: a new session, and a message."""
    with served(agent) as running, running.client() as client:
        opened = client.post("/api/sessions", json={}, headers=headers)
        path = f"/api/sessions/{opened.json()['id']}/turns"
        answered = client.post(path, json={"text": text}, headers={"accept": "text/event-stream", **headers})
        return [opened.status_code, answered.status_code]


def test_a_turn_joins_the_callers_trace(collector: Collector, opened: Open) -> None:
    agent = opened()
    given = {"traceparent": SAMPLED, "tracestate": "vendor=anna-novak", "baggage": "patient=anna-novak"}
    assert asked(agent, "hello", **given) == [201, 200]
    agent.close()
    spans = {span.name: span for span in collector.spans}
    assert list(spans) == ["POST /api/sessions", f"POST {ASK}", "invoke_agent anamnesis", "node triage", "node respond"]
    assert {span.trace for span in spans.values()} == {TRACE}
    request, turn = spans[f"POST {ASK}"], spans["invoke_agent anamnesis"]
    assert (request.parent, request.kind, turn.parent) == (PARENT, "server", request.id)
    assert request.attributes == {
        "http.request.method": "POST",
        "url.scheme": "http",
        "http.route": ASK,
        "http.response.status_code": 200,
    }
    assert b"novak" not in collector.everything
    assert {span.state for span in spans.values()} == {""}


@pytest.mark.parametrize(("header", "spans"), [(UNSAMPLED, 0), ("00-anna-novak-01", 5), ("", 5)])
def test_a_caller_may_be_left_out_and_what_is_no_header_is_a_new_trace(
    header: str, spans: int, collector: Collector, opened: Open
) -> None:
    agent = opened()
    asked(agent, "hello", traceparent=header)
    agent.close()
    assert len(collector.spans) == spans
    assert TRACE not in {span.trace for span in collector.spans}
    routes = {p.attributes["http.route"]: p.count for p in collector.metrics()["http.server.request.duration"]}
    assert routes == {"/api/sessions": 1, ASK: 1}


def test_a_caller_cannot_have_more_traced_than_the_share(collector: Collector, opened: Open) -> None:
    agent = opened(share=0.0)
    asked(agent, "hello", traceparent=SAMPLED)
    agent.close()
    assert collector.spans == []


def test_probes_are_counted_and_paths_never_told(collector: Collector, opened: Open) -> None:
    agent = opened()
    with served(agent) as running, running.client() as client:
        client.get("/health")
        client.get("/api/anna-novak")
        client.get("/api/sessions/anna-novak")
        client.request("PROPFIND", "/api/sessions")
        client.post("/mcp", json={})
        client.get("/")
    agent.close()
    told = [(s.name, s.attributes["http.response.status_code"]) for s in collector.spans]
    assert sorted(told) == [
        ("GET", 404),
        ("GET /api/sessions/{session}", 404),
        ("HTTP", 405),
        ("POST /mcp", told[-1][1]),
    ]
    counted = collector.metrics()["http.server.request.duration"]
    assert {p.attributes.get("http.route", "") for p in counted} == {
        "",
        "/health",
        "/api/sessions/{session}",
        "/mcp",
        "/",
    }
    assert b"novak" not in collector.everything.lower()


def test_a_failure_of_ours_is_told_by_its_status(collector: Collector, tmp_path: Path) -> None:
    class Broken(Scripted):
        async def answer(self, view: Any) -> Any:
            raise RuntimeError("Anna Novak")

    given = {"endpoint": collector.url}
    with (
        Agent(home=tmp_path / "home", parts=parts(Broken()), telemetry=given) as agent,
        served(agent) as running,
        running.client() as client,
    ):
        session = client.post("/api/sessions", json={}).json()["id"]
        assert client.post(f"/api/sessions/{session}/turns", json={"text": "case"}).status_code == 500
    failed = {span.name: span.attributes["error.type"] for span in collector.spans if span.error}
    names = {"invoke_agent anamnesis": "RuntimeError", "node answer": "RuntimeError", f"POST {ASK}": "500"}
    assert failed == names
    (slow,) = [p for p in collector.metrics()["http.server.request.duration"] if "error.type" in p.attributes]
    assert slow.attributes["error.type"] == "500"
    assert b"Novak" not in collector.everything


def test_a_request_that_was_not_answered_has_no_status(collector: Collector, opened: Open) -> None:
    agent = opened()
    with agent.telemetry.request("GET", "http", "") as answered:
        answered(0, "")
    agent.close()
    (span,) = collector.spans
    assert span.attributes == {"http.request.method": "GET", "url.scheme": "http"}
