"""A round of research: the planner chooses calls, several at once, within the turn's budget; the tools run; what they
brought becomes state."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolRuntime

from graphs.completeness.contract import GateDecision
from graphs.context import Limits, TurnContext, findings_of
from graphs.nodes.step import SUMMARY, Body, live_tool
from graphs.nodes.triage import from_given
from graphs.planning.contract import MadeCall, PlannedCall, Planner, ResearchView
from graphs.state import State
from graphs.triage.contract import Kind
from prompts.errors import ServiceError
from prompts.errors import ToolError as BadCall
from prompts.metering import BudgetError
from tools.contract import (
    AnsweredQuestion,
    Differential,
    DocumentReading,
    Gap,
    Notice,
    Outcome,
    Severity,
    Tool,
    ToolArtifact,
    ToolContext,
    unique,
)
from tools.evidence import Evidence, merge_evidence
from tools.notices import noted
from tools.recorder import watcher
from tools.summaries import Said, first_words, summarise

BY = "by"  # under this name a message keeps who chose each of its calls
WAITING = "waiting"  # under this name it keeps the calls of the next round, which wait for its own


def research_node(planner: Planner, limits: Limits) -> Body:
    """The node's body around a planner."""

    async def body(state: State, context: TurnContext) -> dict[str, Any]:
        made = _made(state["calls"])
        left = limits.tool_calls - len(made)
        calls: list[PlannedCall] = []
        notices: list[Notice] = []
        if state["rounds"] < limits.rounds and left > 0 and not from_given(state):
            try:
                calls = _waiting(state["calls"]) or await planner.plan(_view(state, context, limits, made))
                calls = _fresh(calls, made)
            except BudgetError as error:
                spent = {"said": "notice.budget_spent", "detail": error.what}
                notices.append(noted("budget_reached", state["language"], Severity.WARNING, **spent))
        if len(calls) > left:
            notices.append(_budget_notice(calls[left:], state["language"]))
            calls = calls[:left]
        later = [call.model_copy(update={"waits": False}) for call in calls if call.waits]
        calls = [call for call in calls if not call.waits]
        for call in calls:
            context.recorder.event("planned", **call.model_dump(mode="json"))
        message = AIMessage(
            content="; ".join(unique(c.reason for c in calls)),
            tool_calls=_tool_calls(state, calls),
            additional_kwargs={BY: [c.by for c in calls], WAITING: [c.model_dump(mode="json") for c in later]},
        )
        update: dict[str, Any] = {"notices": [n.model_dump(mode="json") for n in notices]} if notices else {}
        rounds = state["rounds"] + bool(calls)
        return {**update, "rounds": rounds, "calls": [message], SUMMARY: _summary(calls, given=from_given(state))}

    return body


def _view(state: State, context: TurnContext, limits: Limits, made: tuple[MadeCall, ...]) -> ResearchView:
    return ResearchView(
        question=context.asked(state),
        kind=state["kind"],
        language=state["language"],
        round=state["rounds"] + 1,
        rounds_left=limits.rounds - state["rounds"] - 1,
        calls_left=limits.tool_calls - len(made),
        options=state["options"],
        evidence=tuple(context.load_evidence(state, state["found"])),
        differential=context.load(Differential, state["differential_key"] or state["first_look_key"]),
        outcomes=tuple((tool, Outcome(outcome)) for tool, outcome in state["outcomes"]),
        gaps=tuple(context.load_list(Gap, state["gaps_key"])),
        made=made,
    )


def _made(messages: Sequence[AnyMessage]) -> tuple[MadeCall, ...]:
    """The calls of the turn so far with what they brought; a result without an artefact is a refusal."""
    results = {m.tool_call_id: m for m in messages if isinstance(m, ToolMessage)}
    rounds = [m for m in messages if isinstance(m, AIMessage) and m.tool_calls]
    made = []
    for number, message in enumerate(rounds, start=1):
        chosen = message.additional_kwargs.get(BY, [])
        for place, call in enumerate(message.tool_calls):
            result = results.get(call["id"] or "")
            kept = result.artifact if result is not None else None
            made.append(
                MadeCall(
                    round=number,
                    tool=call["name"],
                    arguments=call["args"],
                    outcome=Outcome(kept["outcome"]) if kept else Outcome.REFUSED,
                    result=str(result.content) if result is not None else "",
                    by=chosen[place] if place < len(chosen) else "local",
                )
            )
    return tuple(made)


def _waiting(messages: Sequence[AnyMessage]) -> list[PlannedCall]:
    """The calls that waited for those of the last round."""
    last = next((m for m in reversed(messages) if isinstance(m, AIMessage)), None)
    return [PlannedCall.model_validate(call) for call in last.additional_kwargs.get(WAITING, [])] if last else []


def _fresh(planned: Sequence[PlannedCall], made: Sequence[MadeCall]) -> list[PlannedCall]:
    """The calls that were not made yet, each once; what was refused may be asked for again, once what it lacked is
    there."""
    seen = {(m.tool, _frozen(m.arguments)) for m in made if m.outcome is not Outcome.REFUSED}
    calls: list[PlannedCall] = []
    for call in planned:
        key = (call.tool, _frozen(call.arguments))
        if key not in seen:
            calls.append(call)
        seen.add(key)
    return calls


def _frozen(arguments: dict[str, Any]) -> str:
    return repr(sorted(arguments.items()))


def _tool_calls(state: State, calls: list[PlannedCall]) -> list[ToolCall]:
    prefix = f"{state['turn']}.{state['rounds'] + 1}"
    return [
        ToolCall(name=call.tool, args=call.arguments, id=f"{prefix}.{i}", type="tool_call")
        for i, call in enumerate(calls, start=1)
    ]


def _summary(calls: Sequence[PlannedCall], *, given: bool) -> str:
    """One line: the tools with why they are called; tools that are called for one reason together."""
    if not calls:
        return "the given texts are read" if given else "enough was gathered"
    by_reason: dict[str, list[str]] = {}
    for call in calls:
        by_reason.setdefault(call.reason, []).append(call.tool)
    return "; ".join(f"{', '.join(unique(tools))}: {reason}" for reason, tools in by_reason.items())


def _budget_notice(left_out: list[PlannedCall], language: str) -> Notice:
    names = ", ".join(unique(call.tool for call in left_out))
    return noted("budget_reached", language, Severity.WARNING, detail=names)


# The tools node: LangGraph's ToolNode over the five tools; then what they brought becomes state.
#
# A tool knows no state keys: the wrapper here fills its context from the state, keeps its artefact in the content store
# and hands on the key. Bad arguments go back to the planner; any failure that is not typed is raised, loudly.

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


# The collect node: artefacts of this round's tool calls become state.


def collect_node() -> Body:
    """The node's body."""

    async def body(state: State, context: TurnContext) -> dict[str, Any]:
        fresh = state["calls"][state["merged"] :]
        artifacts = [_artifact(m, context) for m in fresh if isinstance(m, ToolMessage)]
        earlier = context.load_evidence(state, state["found"])
        evidence = [e for e in merge_evidence([*earlier, *_evidence(artifacts)]) if e.status.usable]
        found = [e.id for e in evidence]
        update: dict[str, Any] = {
            "merged": len(state["calls"]),
            "evidence": context.keep_evidence(evidence),
            "found": found,
            "outcomes": [*state["outcomes"], *([a.tool, a.outcome.value] for a in artifacts)],
            "notices": _notices(state, artifacts),
            "seconds": {"tools": state["seconds"].get("tools", 0.0) + _longest(fresh)},
            SUMMARY: f"{len(found)} pieces of evidence, {len(found) - len(earlier)} of them new",
        }
        update |= _kept(state, context, artifacts)
        return update

    return body


def _longest(messages: list[Any]) -> float:
    """Seconds of the round's longest call: they run at once."""
    return max((m.artifact["seconds"] for m in messages if isinstance(m, ToolMessage) and m.artifact), default=0.0)


def _artifact(message: ToolMessage, context: TurnContext) -> ToolArtifact:
    if message.artifact is not None:
        artifact = context.load(ToolArtifact, message.artifact["key"])
        if artifact is not None:
            return artifact
    return ToolArtifact(tool=message.name or "", outcome=Outcome.REFUSED, remarks=[str(message.content)[:300]])


def _evidence(artifacts: list[ToolArtifact]) -> list[Evidence]:
    items: list[Evidence] = []
    for artifact in artifacts:
        items += artifact.evidence
        items += [a.evidence for a in artifact.answered]
    return items


def _kept(state: State, context: TurnContext, artifacts: list[ToolArtifact]) -> dict[str, Any]:
    update: dict[str, Any] = {}
    differentials = [a.differential for a in artifacts if a.differential is not None]
    if differentials:
        update["differential_key"] = context.keep(differentials[-1])
    answered = [q for a in artifacts for q in a.answered]
    if answered:
        known = context.load_list(AnsweredQuestion, state["answered_key"])
        update["answered_key"] = context.keep_list(AnsweredQuestion, [*known, *answered])
    gaps = [g for a in artifacts for g in a.gaps]
    if gaps:
        update["gaps_key"] = context.keep_list(Gap, gaps)
    readings = [r for a in artifacts for r in a.readings]
    if readings:
        known_readings = context.load_list(DocumentReading, state.get("readings_key", ""))
        update["readings_key"] = context.keep_list(DocumentReading, [*known_readings, *readings])
    return update


def _notices(state: State, artifacts: list[ToolArtifact]) -> list[dict[str, str]]:
    """What the reader must know. A refusal is for whoever made the call; the reader is told that one was left out."""
    known = {(n["code"], n["text"]) for n in state["notices"]}
    left_out = noted("tool_refused", state["language"])
    told = [n for a in artifacts for n in ([left_out] if a.outcome is Outcome.REFUSED else a.notices)]
    fresh = [n for n in told if (n.code, n.text) not in known]
    return [n.model_dump(mode="json") for n in unique(fresh)]
