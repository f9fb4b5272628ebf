"""The same conversation of three turns by every client, against `Agent.aask`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.agent import Agent
from evals.bench.figures import Figure
from evals.bench.server import clients, page
from evals.bench.server.essence import TURNS, differences, essence
from evals.bench.server.part import Bench, Part
from evals.bench.server.process import environment, keys, serving
from graphs.answering.contract import Answer

Client = Callable[[str, str, tuple[str, ...]], list[Answer]]
OVER_HTTP: dict[str, Client] = {
    "native": clients.native,
    "native_events": clients.native_events,
    "openai": clients.openai_client,
    "openai_streamed": clients.openai_streamed,
    "mcp_http": clients.mcp_http,
}


def same_case(bench: Bench) -> Part:
    """Hold it by each client."""
    with Agent(bench.settings()) as agent:
        session = agent.session()
        answers = [session.ask(text) for text in TURNS]
    ours = [essence(answer) for answer in answers]
    part = Part(details={"turns": [list(turn) for turn in ours]})
    key = keys(bench.home, 1)[0]
    with serving(bench.home, bench.home / "same.log") as server:
        for name, client in OVER_HTTP.items():
            _held(part, name, [essence(answer) for answer in client(server.url, key, TURNS)], ours)
        stdio = clients.mcp_stdio(environment(bench.home), TURNS)
        _held(part, "mcp_stdio", [essence(answer) for answer in stdio], ours)
        if why := page.reason():
            part.left_out.append(f"the page: {why}")
        else:
            shown = page.conversation(server.url, key, TURNS)
            _held(part, "page", shown.turns, [page.as_shown(answer) for answer in answers])
            part.figures.append(_figure("page_outside_requests", shown.outside, shown.requests))
            part.faults += [f"the page says: {error}" for error in shown.errors]
        part.faults += server.faults()
    return part


def _held(part: Part, name: str, theirs: list[Any], ours: list[Any]) -> None:
    wrong = differences(theirs, ours)
    part.faults += [f"{name}: {what}" for what in wrong]
    part.figures.append(_figure(f"{name}_differences", len(wrong), len(theirs)))


def _figure(name: str, value: int, n: int) -> Figure:
    return Figure(name=f"same_case.{name}", value=value, unit="", n=n, asked="0")
