"""The clinical machine, as a picture::

START -> triage -> respond -> END                          greeting, out of scope
            \\-> answer                                     a question about what was said
            \\-> completeness_gate -> answer                enough: answer directly
                                \\-> research <-> tools -> collect      not enough: plan, call, in rounds
                                       \\-> kads_selector -> differential_filter -> answer -> verify -> END

Where a report on a case is asked for, it is written beside the answer, and verified with it.
"""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from graphs.context import Parts, TurnContext
from graphs.nodes.answer import answer_node
from graphs.nodes.collect import collect_node
from graphs.nodes.completeness import completeness_node
from graphs.nodes.filter import filter_node
from graphs.nodes.report import report_node
from graphs.nodes.research import research_node
from graphs.nodes.respond import respond_node
from graphs.nodes.select import select_node
from graphs.nodes.step import Body, step
from graphs.nodes.tools import tool_node
from graphs.nodes.triage import triage_node
from graphs.nodes.verify import verify_node
from graphs.routes import after_gate, after_research, after_triage, writing
from graphs.state import State

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
    add("verify", verify_node(parts.verifier))

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
