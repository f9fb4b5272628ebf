"""The clinical machine, as a picture::

START -> triage -> respond -> END                          greeting, out of scope
            \\-> answer                                     a question about what was said
            \\-> completeness_gate -> answer                enough: answer directly
                                \\-> research <-> tools -> collect      not enough: plan, call, in rounds
                                       \\-> kads_selector -> differential_filter -> answer -> verify -> END

Where a report on a case is asked for, it is written beside the answer, and verified with it.
"""

from __future__ import annotations

from typing import Any, Literal

from langchain_core.messages import AIMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from graphs.context import Parts, TurnContext
from graphs.nodes.answer import answer_node, report_node
from graphs.nodes.filter import filter_node, select_node
from graphs.nodes.finish import respond_node, verify_node
from graphs.nodes.research import collect_node, research_node, tool_node
from graphs.nodes.step import Body, step
from graphs.nodes.triage import completeness_node, triage_node
from graphs.state import State
from graphs.triage.contract import Kind

Machine = CompiledStateGraph[State, TurnContext, State, State]


def clinical_graph(parts: Parts, checkpointer: BaseCheckpointSaver[Any] | bool | None = None) -> Machine:
    """The machine out of its parts. With a checkpointer, every finished step survives a kill; True takes the one of the
    graph that it stands in."""
    graph = StateGraph(State, context_schema=TurnContext)

    def add(name: str, body: Body) -> None:
        graph.add_node(name, step(name, body))  # type: ignore[call-overload]

    add("triage", triage_node(parts.triage))
    add("respond", respond_node())
    add("completeness_gate", completeness_node(parts.gate, parts.look_up, parts.triage))
    add("research", research_node(parts.planner, parts.limits))
    graph.add_node("tools", tool_node(parts.tools, parts.said))
    add("collect", collect_node())
    add("kads_selector", select_node(parts.selector, parts.requirements, parts.limits))
    add("differential_filter", filter_node(parts.filter, weighs=parts.weighs))
    add("answer", answer_node(parts.answerer))
    add("report", report_node(parts.reporter))
    add("verify", verify_node(parts.verifier, parts.questions))

    graph.add_edge(START, "triage")
    graph.add_conditional_edges("triage", after_triage)
    graph.add_edge("respond", END)
    graph.add_conditional_edges("completeness_gate", after_gate, ["answer", "report", "research"])
    graph.add_conditional_edges("research", after_research)
    graph.add_edge("tools", "collect")
    graph.add_edge("collect", "research")
    graph.add_edge("kads_selector", "differential_filter")
    graph.add_conditional_edges("differential_filter", writing, ["answer", "report"])
    graph.add_edge("answer", "verify")
    graph.add_edge("report", "verify")
    graph.add_edge("verify", END)
    return graph.compile(checkpointer=checkpointer)


# The routes between nodes: each reads the state and names the next node.


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
