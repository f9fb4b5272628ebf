"""Words planted in everything that a turn handles are in no byte that leaves for the collector."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from agent.agent import Agent
from agent.settings import Settings, load_settings
from evals.bench.faults import FAULTS
from support.collector import Collector, collecting
from support.homes import linked
from support.model_player import play, role_of
from support.scripted_model import Request, Scripted, serving_by
from support.served import served
from tools.recorder import watcher

CASE = (
    "A 61-year-old man named Zebulon Quagmire, record QX-774411, has had burning behind the breastbone after meals for "
    "three months, worse lying down; he has a chronic cough. Is it gastroesophageal reflux disease? He takes "
    "omeprazole."
)
GIVEN = "Letter of Dr Wolfenbarger: Zebulon Quagmire was seen for reflux; endoscopy in Hinterzarten was normal."
MODEL_KEY, HEADER, NCBI_KEY = "sk-planted-5550123", "planted-header-5550123", "planted-ncbi-5550123"
REPLIED = "kumquatisation"  # a word that the model's replies hold
PLANTED = ["Zebulon", "Quagmire", "774411", "Wolfenbarger", "Hinterzarten", MODEL_KEY, NCBI_KEY, REPLIED]
OF_THE_CASE = ["breastbone", "reflux", "omeprazole", "61-year", "burning"]  # in terms, evidence, requirements, findings
NOTHING = b"<eSearchResult><Count>0</Count><RetMax>0</RetMax><RetStart>0</RetStart><IdList/></eSearchResult>"


@contextmanager
def entrez() -> Iterator[tuple[str, list[str]]]:
    """A server that knows no record; the queries that it was sent."""
    queries: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(urlsplit(self.path).query)

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers["content-length"])).decode())

        def _answer(self, query: str) -> None:
            queries.extend(parse_qs(query).get("term", []))
            self.send_response(200)
            self.send_header("content-length", str(len(NOTHING)))
            self.end_headers()
            self.wfile.write(NOTHING)

        def log_message(self, format: str, *args: Any) -> None:
            """Silence."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/entrez/eutils", queries
    finally:
        server.shutdown()
        server.server_close()


def spoken(request: Request) -> Scripted:
    """What a sensible model says, and thinks beside it."""
    said = play(request)
    return replace(said, content=f"<think>{REPLIED}</think>{said.content}", reasoning=REPLIED)


def settings_of(home: Path, collector: Collector, entrez_url: str, model_url: str) -> Settings:
    return load_settings(
        home=home,
        model="planted-model",
        model_retries=0,
        literature={"live": "on", "base_url": entrez_url, "mirror": None},
        OPENAI_BASE_URL=model_url,
        OPENAI_API_KEY=MODEL_KEY,
        NCBI_API_KEY=NCBI_KEY,
        telemetry={"endpoint": collector.url, "headers": {"authorization": HEADER}},
    )


def test_no_word_of_a_patient_leaves_for_the_collector(
    built_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plain run, one over HTTP whose model fails in many ways, and one that breaks."""
    home = linked(built_home, tmp_path / "home")
    spoilt: dict[str, str] = {}

    def respond(request: Request) -> Scripted:
        fault = spoilt.get(role_of(request))
        return spoken(request) if fault is None else FAULTS[fault](request, play(request))

    with collecting() as collector, entrez() as (url, queries), serving_by(respond) as server:
        with Agent(settings_of(home, collector, url, server.url)) as agent:
            agent.ask(CASE, session="zebulon-quagmire", given=[GIVEN], report=True)
            spoilt |= {"research": "a page", "selection": "refused key", "answer": "malformed body"}
            over_http(agent)
            monkeypatch.setattr(agent.parts.answerer, "answer", broken)
            with pytest.raises(ZebulonError):
                agent.ask(CASE, options={"A": "reflux for Quagmire", "B": "asthma"})
        exported = collector.everything
        spans = collector.spans
    lowered = exported.replace(HEADER.encode(), b"").lower()
    assert [word for word in [*PLANTED, *OF_THE_CASE] if word.lower().encode() in lowered] == []
    assert queries, "PubMed was asked nothing"
    assert not [
        e for e in server.exchanges if {"traceparent", "tracestate", "baggage"} & {h.lower() for h in e.headers}
    ]
    asked = {word for query in queries for word in query.lower().replace('"', " ").split() if len(word) > 8}
    assert [word for word in asked if word.strip("()[]").encode() in lowered] == []
    names = {span.name.split()[0] for span in spans}
    assert names >= {"invoke_agent", "node", "execute_tool", "chat", "retrieval", "ncbi", "POST"}
    assert {span.attributes["gen_ai.request.model"] for span in spans if span.name.startswith("chat")} == {
        "planted-model"
    }
    assert {s.attributes["server.address"] for s in spans if s.kind == "client"} == {"127.0.0.1"}
    assert {"DeniedError", "_OTHER"} <= {span.attributes.get("error.type") for span in spans}
    assert [(s.message, s.events, s.state) for s in spans if s.message or s.events or s.state] == []


class ZebulonError(Exception):
    """A failure whose very name is a patient's."""


async def broken(*_: Any) -> None:
    watcher().event("retrieval", source="Zebulon", hits="Quagmire", seconds=0.1, error="QuagmireError")
    raise ZebulonError("Zebulon Quagmire")


def over_http(agent: Agent) -> None:
    with served(agent) as running, running.client() as client:
        headers = {"traceparent": "Zebulon", "tracestate": "q=Quagmire", "baggage": "q=Quagmire"}
        asked = {"text": CASE}
        assert client.post("/api/sessions/Zebulon/turns", json=asked, headers=headers).status_code in (200, 404)
        session = client.post("/api/sessions", json={"title": "Zebulon Quagmire"}).json()["id"]
        client.post(f"/api/sessions/{session}/turns", json=asked, headers=headers)
        client.get("/api/Quagmire?name=Zebulon")
