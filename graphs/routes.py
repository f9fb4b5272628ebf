"""The routes between nodes: each reads the state and names the next node."""

from __future__ import annotations

from typing import Literal

from langchain_core.messages import AIMessage

from graphs.state import State
from graphs.triage.contract import Kind


def after_triage(state: State) -> Literal["respond", "completeness_gate", "answer"]:
    """Small talk and what is out of scope are answered at once; what was said is explained without a search, and a
    calculation needs none."""
    if state["kind"] in (Kind.EXPLAIN, Kind.CALCULATION):
        return "answer"
    return "respond" if state["kind"] in (Kind.SMALL_TALK, Kind.ASSISTANT, Kind.OUT_OF_SCOPE) else "completeness_gate"


def after_gate(state: State) -> list[str]:
    """Enough was told: answer directly. Not enough: research."""
    return writing(state) if state["path"] == "direct" else ["research"]


def writing(state: State) -> list[str]:
    """The answer, and beside it the report on a case where one was asked for."""
    return ["answer", "report"] if state.get("report") and state["kind"] == Kind.CASE else ["answer"]


def after_research(state: State) -> Literal["tools", "kads_selector"]:
    """Calls were planned: make them. None: select from what was gathered."""
    last = state["calls"][-1]
    return "tools" if isinstance(last, AIMessage) and last.tool_calls else "kads_selector"
