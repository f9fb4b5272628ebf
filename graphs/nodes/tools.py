"""The tools node: LangGraph's ToolNode over the five tools.

A tool knows no state keys: the wrapper here fills its context from the state, keeps its artefact in the content store
and hands on the key. Bad arguments go back to the planner; any failure that is not typed is raised, loudly.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from langchain_core.tools import BaseTool, StructuredTool
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolRuntime

from graphs.completeness.contract import GateDecision
from graphs.context import TurnContext, findings_of
from graphs.nodes.step import live_tool
from graphs.state import State
from graphs.triage.contract import Kind
from prompts.errors import ServiceError
from prompts.errors import ToolError as BadCall
from tools.contract import (
    Differential,
    Outcome,
    Severity,
    Tool,
    ToolArtifact,
    ToolContext,
)
from tools.notices import noted
from tools.recorder import watcher
from tools.summaries import Said, first_words, summarise

SEARCH = "search_literature"
RETRIEVAL = frozenset({SEARCH, "retrieve_passages", "find_answered_question"})


def tool_node(tools: Sequence[Tool], said: Said = first_words) -> ToolNode:
    """The node that carries out the calls of the last message, all at once.

    ``said`` tells the planner what the documents of a result say.
    """
    return ToolNode([bind(tool, said) for tool in tools], messages_key="calls")


def bind(tool: Tool, said: Said) -> BaseTool:
    """A LangChain tool around one of ours: its schema for a model, its context from the state."""

    async def call(runtime: ToolRuntime, **arguments: Any) -> tuple[str, dict[str, Any]]:
        context = cast(TurnContext, runtime.context)
        runtime.stream_writer({"step": "tools", "status": "started", "tool": tool.name})
        watcher().event("tool_started", tool=tool.name)
        started = time.perf_counter()

        def doing(line: str) -> None:
            runtime.stream_writer({"step": "tools", "status": "progress", "tool": tool.name, "summary": line})

        lent = replace(tool_context(cast(State, runtime.state), context), progress=doing)
        artifact = await _run(tool, arguments, lent)
        seconds = time.perf_counter() - started
        key = context.keep(artifact)
        _record(context, tool.name, arguments, artifact, seconds, key)
        summary = f"{artifact.outcome.value}, {len(artifact.evidence)} pieces of evidence"
        told = {"step": "tools", "status": "finished", "tool": tool.name, "summary": summary, "seconds": seconds}
        runtime.stream_writer({**told, "data": live_tool(artifact) if context.listened_to else {}})
        kept = {
            "tool": tool.name,
            "outcome": artifact.outcome.value,
            "seconds": round(seconds, 4),
            "key": key,
        }
        about = _about(tool.name, arguments, cast(State, runtime.state), context)
        return await asyncio.to_thread(summarise, artifact, about, said), kept

    return StructuredTool.from_function(
        coroutine=call,
        name=tool.name,
        description=tool.description,
        args_schema=tool.arguments.model_json_schema(),  # validated in `_run`: a schema of ours refuses unknown fields
        response_format="content_and_artifact",
    )


def _about(tool: str, arguments: dict[str, Any], state: State, context: TurnContext) -> str:
    """What a call is about: a question of evidence that is searched for, else the query as the planner put it."""
    question = context.asked(state)
    whole = tool == SEARCH and state["kind"] == Kind.EVIDENCE
    return question if whole else str(arguments.get("query") or question)


async def _run(tool: Tool, arguments: dict[str, Any], lent: ToolContext) -> ToolArtifact:
    try:
        return await tool.run(tool.arguments.model_validate(arguments), lent)
    except BadCall as error:
        return ToolArtifact(tool=tool.name, outcome=Outcome.REFUSED, remarks=[str(error)])
    except ServiceError as error:
        notice = noted("source_unavailable", lent.language, Severity.WARNING, tool=tool.name, detail=error)
        return ToolArtifact(tool=tool.name, outcome=Outcome.UNAVAILABLE, notices=[notice])


def tool_context(state: State, context: TurnContext) -> ToolContext:
    """What the state lends to a tool."""
    differential = context.load(Differential, state["differential_key"] or state["first_look_key"])
    gate = context.load(GateDecision, state["gate_key"])
    return ToolContext(
        question=context.asked(state),
        case=context.text(state.get("case_key", "")),
        kind=state["kind"],
        language=state["language"],
        evidence=context.load_evidence(state, state["found"]),
        findings=findings_of(state, differential),
        added=list(differential.added) if differential is not None else [],
        options=state["options"],
        retrieved=any(tool in RETRIEVAL for tool, _ in state["outcomes"]),
        units=[] if gate is None else [(unit.text, unit.label.value) for unit in gate.units],
        released=tuple(state.get("released", ())),
        recorder=context.recorder,
    )


def _record(
    context: TurnContext, tool: str, arguments: dict[str, Any], artifact: ToolArtifact, seconds: float, key: str
) -> None:
    context.recorder.event(
        "tool",
        tool=tool,
        arguments=arguments,
        outcome=artifact.outcome.value,
        seconds=round(seconds, 4),
        evidence=[e.model_dump(mode="json", include={"id", "title", "found"}) for e in artifact.evidence],
        strategy=artifact.strategy,
        notices=[n.model_dump(mode="json") for n in artifact.notices],
        remarks=artifact.remarks,
        key=key,
    )
