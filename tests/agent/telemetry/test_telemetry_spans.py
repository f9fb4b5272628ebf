"""A turn as a trace: what stands in what, for how long, by which names; and what is counted of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agent.agent import Agent
from anamnesis import __version__
from graphs.answering.contract import AnswerView, Draft
from prompts.metering import Usage, meter
from support.collector import Collector, Span
from support.machine_parts import Scripted, SearchTool
from tools.contract import ToolArtifact
from tools.recorder import timed, watcher

Open = Callable[..., Agent]
SESSION = "a1b2c3d4e5f60718"


class Asking(Scripted):
    """Answers and reports with a call of a model, in a task of its own."""

    async def answer(self, view: AnswerView) -> Draft:
        await asyncio.create_task(self._call("answer", 100, 20))
        return await super().answer(view)

    async def report(self, view: AnswerView) -> Any:
        await asyncio.create_task(self._call("report", 7, 3))
        return await super().report(view)

    async def _call(self, role: Any, read: int, written: int) -> None:
        await asyncio.sleep(0.02)
        usage = Usage(calls=1, input_tokens=read, output_tokens=written, seconds=0.02)
        meter().charge(role, "model-of-nobody", usage, failed=False)


class Searching(SearchTool):
    """Searches in a thread; asks PubMed, which fails once, and its cache."""

    async def run(self, arguments: Any, context: Any) -> ToolArtifact:
        await asyncio.to_thread(self._search)
        return await super().run(arguments, context)

    def _search(self) -> None:
        with timed("retrieval", source="library") as told:
            told["hits"] = 3
        watcher().event("ncbi_wait", seconds=0.4)
        watcher().event("ncbi_request", utility="esearch", seconds=0.01, reason="server_error")
        watcher().event("ncbi_request", utility="esearch", seconds=0.01, reason="")
        watcher().event("cache", cache="record", hits=4, misses=1)


def by_id(spans: list[Span]) -> dict[str, Span]:
    return {span.id: span for span in spans}


def within(spans: list[Span], span: Span) -> list[str]:
    """Names of what a span stands in, the nearest first."""
    known, names = by_id(spans), []
    while span.parent:
        span = known[span.parent]
        names.append(span.name)
    return names


def test_a_case_is_one_trace_of_nodes_tools_models_and_searches(collector: Collector, opened: Open) -> None:
    agent = opened(Asking(pause={"filter": 0.05}), Searching())
    agent.ask("case of a cough", session=SESSION, report=True)
    agent.close()
    spans = collector.spans
    assert len({span.trace for span in spans}) == 1
    (turn,) = [span for span in spans if not span.parent]
    assert turn.attributes == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "anamnesis",
        "gen_ai.agent.version": __version__,
        "gen_ai.conversation.id": SESSION,
        "gen_ai.usage.input_tokens": 107,
        "gen_ai.usage.output_tokens": 23,
        "anamnesis.turn.number": 1,
        "anamnesis.turn.kind": "case",
        "anamnesis.turn.route": "research",
        "anamnesis.turn.outcome": "answered",
        "anamnesis.turn.statements": 2,
        "anamnesis.gate.decision": "retrieve",
    }
    nodes = [span for span in spans if span.name.startswith("node ")]
    assert [n.name for n in nodes if n.name not in ("node answer", "node report")] == [
        *("node triage", "node completeness_gate", "node research", "node collect", "node research", "node collect"),
        *("node research", "node kads_selector", "node differential_filter", "node verify"),
    ]
    assert all(within(spans, n) == ["invoke_agent anamnesis"] for n in nodes)
    tools = [span for span in spans if span.name == "execute_tool search_literature"]
    assert [(t.parent, t.kind) for t in tools] == [(turn.id, "internal")] * 2
    assert tools[0].attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search_literature",
        "anamnesis.tool.outcome": "ok",
        "anamnesis.retrieval.hits": 1,
    }
    searches = [span for span in spans if span.parent == tools[0].id]
    assert [(s.name, s.kind, s.error) for s in sorted(searches, key=lambda s: s.end)] == [
        ("retrieval library", "internal", False),
        ("ncbi esearch", "client", True),
        ("ncbi esearch", "client", False),
    ]
    (failed,) = [s for s in searches if s.error]
    assert failed.attributes == {
        "anamnesis.ncbi.utility": "esearch",
        "server.address": "eutils.ncbi.nlm.nih.gov",
        "error.type": "server_error",
    }


def test_calls_of_models_stand_in_their_nodes_even_side_by_side(collector: Collector, opened: Open) -> None:
    agent = opened(Asking())
    agent.ask("case of a cough", session=SESSION, report=True)
    agent.close()
    calls = {s.attributes["anamnesis.role"]: s for s in collector.spans if s.kind == "client"}
    told = {role: within(collector.spans, call) for role, call in calls.items()}
    turn = "invoke_agent anamnesis"
    assert told == {"answer": ["node answer", turn], "report": ["node report", turn]}
    assert calls["answer"].name == "chat _OTHER"  # the settings name no such model
    assert calls["answer"].attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "_OTHER",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "anamnesis.role": "answer",
    }


def test_spans_last_as_long_as_what_they_stand_for(collector: Collector, opened: Open) -> None:
    agent = opened(Asking(pause={"filter": 0.08}))
    agent.ask("case of a cough")
    agent.close()
    spans = {span.name: span for span in collector.spans}
    assert 0.08 <= spans["node differential_filter"].seconds < 0.5
    assert spans["chat _OTHER"].seconds == pytest.approx(0.02, abs=0.001)
    turn, known = spans["invoke_agent anamnesis"], by_id(collector.spans)
    for span in collector.spans:
        if span is not turn and span.kind != "client":  # a past span's beginning is reckoned from its seconds
            parent = known.get(span.parent, turn)
            assert parent.start <= span.start <= span.end <= parent.end


def test_metrics_are_the_sums_of_what_happened(collector: Collector, opened: Open) -> None:
    agent = opened(Asking(), Searching())
    agent.ask("case of a cough", report=True)
    agent.ask("enough of a question")
    agent.ask("hello")
    agent.close()
    metrics = collector.metrics()
    model = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "_OTHER",
    }
    tokens = {p.attributes["gen_ai.token.type"]: p for p in metrics["gen_ai.client.token.usage"]}
    assert {k: (p.sum, p.count) for k, p in tokens.items()} == {"input": (207, 3), "output": (43, 3)}
    assert tokens["input"].attributes == {**model, "gen_ai.token.type": "input"}
    assert tokens["input"].bounds[:3] == (1, 4, 16)
    (seconds,) = metrics["gen_ai.client.operation.duration"]
    assert (seconds.attributes, seconds.count, seconds.sum) == (model, 3, pytest.approx(0.06))
    turns = {tuple(p.attributes.values()): p.sum for p in metrics["anamnesis.turns"]}
    assert turns == {
        ("case", "research", "answered"): 1,
        ("evidence", "direct", "abstained"): 1,
        ("small_talk", "respond", "answered"): 1,
    }
    assert sum(p.count for p in metrics["anamnesis.turn.duration"]) == 3
    assert [p.sum for p in metrics["anamnesis.turns.active"]] == [0]
    (called,) = metrics["anamnesis.tool.calls"]
    outcome = {"gen_ai.tool.name": "search_literature", "anamnesis.tool.outcome": "ok"}
    assert (called.attributes, called.sum) == (outcome, 2)
    decided = {p.attributes["anamnesis.gate.decision"]: p.sum for p in metrics["anamnesis.gate.decisions"]}
    assert decided == {"retrieve": 1, "direct": 1}
    asked = {p.attributes["anamnesis.ncbi.outcome"]: p.count for p in metrics["anamnesis.ncbi.request.duration"]}
    assert asked == {"ok": 2, "server_error": 2}
    assert [(p.count, p.sum) for p in metrics["anamnesis.ncbi.wait.duration"]] == [(2, pytest.approx(0.8))]
    kept = {p.attributes["anamnesis.cache.hit"]: p.sum for p in metrics["anamnesis.cache.lookups"]}
    assert kept == {True: 8, False: 2}


def test_an_error_is_told_by_its_type_alone_and_ends_what_was_open(collector: Collector, opened: Open) -> None:
    class Failing(SearchTool):
        async def run(self, arguments: Any, context: Any) -> ToolArtifact:
            raise RuntimeError("Anna Novak, born 1948")

    agent = opened(None, Failing())
    with pytest.raises(RuntimeError, match="Novak"):
        agent.ask("case of a cough")
    agent.close()
    failed = [span for span in collector.spans if span.error]
    assert [span.name for span in failed] == ["invoke_agent anamnesis", "execute_tool search_literature"]
    assert {span.attributes["error.type"] for span in failed} == {"RuntimeError"}
    assert [(span.message, span.events) for span in failed] == [("", 0)] * 2
    assert failed[0].attributes["anamnesis.turn.outcome"] == "failed"
    assert b"Novak" not in collector.everything


def test_a_turn_that_is_stopped_is_told_as_stopped(collector: Collector, opened: Open) -> None:
    agent = opened(Scripted(pause={"answer": 30}))

    async def leave() -> None:
        async for step in agent.astream("case of a cough"):
            if getattr(step, "step", "") == "answer":
                break

    async def left() -> None:
        await asyncio.wait_for(leave(), 10)

    asyncio.run(left())
    agent.close()
    turn = collector.spans[0]
    assert (turn.attributes["anamnesis.turn.outcome"], turn.attributes["error.type"]) == ("stopped", "CancelledError")


def test_a_share_of_none_is_counted_and_not_traced(collector: Collector, opened: Open) -> None:
    agent = opened(share=0.0)
    agent.ask("hello")
    agent.close()
    assert collector.spans == []
    assert [p.sum for p in collector.metrics()["anamnesis.turns"]] == [1]
