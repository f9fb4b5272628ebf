"""What every node shares: it is timed, recorded and streamed as a step."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from langgraph.runtime import Runtime

from graphs.completeness.contract import GateDecision
from graphs.context import TurnContext
from graphs.state import State
from prompts.metering import Meter
from tools.contract import Differential, Notice, Severity, ToolArtifact
from tools.messages import messages
from tools.notices import noted

Body = Callable[[State, TurnContext], Awaitable[dict[str, Any]]]
Node = Callable[[State, Runtime[TurnContext]], Awaitable[dict[str, Any]]]

SUMMARY = "summary"  # a body may return this beside its channels: one line for people, streamed and recorded


def step(name: str, body: Body) -> Node:
    """Make a node of a body: (state, context) to channel updates."""

    async def node(state: State, runtime: Runtime[TurnContext]) -> dict[str, Any]:
        context = runtime.context
        runtime.stream_writer({"step": name, "status": "started"})
        context.recorder.event("step_started", step=name)
        started = time.perf_counter()
        update = await body(state, context)
        update = with_fallbacks(state, context, update)
        seconds = time.perf_counter() - started
        summary = str(update.pop(SUMMARY, ""))
        live: Live | None = update.pop(LIVE, None)
        data = live() if live is not None and context.listened_to else {}
        others = update.pop("seconds", {})
        kept = kept_texts(update)
        context.recorder.event("step_finished", step=name, seconds=round(seconds, 4), summary=summary, kept=kept)
        told = {"step": name, "status": "finished", "summary": summary, "seconds": seconds, "data": data}
        runtime.stream_writer(told)
        spent = state.get("seconds", {}).get(name, 0.0)
        return {**update, "seconds": {**others, name: round(spent + seconds, 4)}}

    node.__name__ = name
    return node


def kept_texts(update: dict[str, Any]) -> dict[str, str]:
    """Channel to key of every text that a node kept: the trace names them and the content store holds them."""
    return {channel: key for channel, key in update.items() if channel.endswith("_key") and key}


def with_fallbacks(state: State, context: TurnContext, update: dict[str, Any]) -> dict[str, Any]:
    """The update with what models have cost so far, and a notice for every judgement that was made locally."""
    spent = {role: usage.model_dump() for role, usage in context.meter.by_role.items()}
    untold = [notice.model_dump(mode="json") for notice in fallback_notices(context.meter, state["language"])]
    notices = [*update.get("notices", []), *untold]
    return {**update, **({"spent": spent} if spent else {}), **({"notices": notices} if notices else {})}


def fallback_notices(meter: Meter, language: str) -> list[Notice]:
    """A notice for every fall-back that was not told yet: which judgement, and why."""
    roles = messages(language).group("role")
    return [
        noted("judged_locally", language, Severity.WARNING, role=roles.get(note.role, note.role), why=note.what)
        for note in meter.untold()
    ]


# Details of a step for whoever watches a turn: red flags, the gate's decision, the differential, what was found.
# They are small, say nothing that the answer does not say, and are made only when somebody listens.

LIVE = "live"  # a body may return this beside its channels: makes the details of its step
SHOWN = 10  # ours: diseases of a differential, as many as an answer shows
FIELDS = {"disease", "name", "name_zh", "icd10", "score", "findings_for", "findings_against"}

Live = Callable[[], dict[str, Any]]


def live_triage(turn: dict[str, Any]) -> dict[str, Any]:
    """``kind``, ``language``, and ``emergency``: red flags, so that they are shown before anything else is done."""
    return {"kind": turn["kind"], "language": turn["language"], "emergency": turn["red_flags"]}


def live_gate(decision: GateDecision, first_look: Differential | None) -> dict[str, Any]:
    """``gate``: the decision with its units; ``differential``: of the first look-up, for a case."""
    return {"gate": decision.model_dump(mode="json"), **_ranked(first_look)}


def live_tool(artifact: ToolArtifact) -> dict[str, Any]:
    """``evidence``: how many pieces of each origin a call found; ``differential``: where the call made one."""
    counted = Counter(item.origin.value for item in artifact.evidence)
    return {"evidence": dict(sorted(counted.items())), **_ranked(artifact.differential)}


def _ranked(differential: Differential | None) -> dict[str, Any]:
    if differential is None:
        return {}
    return {"differential": [d.model_dump(mode="json", include=FIELDS) for d in differential.ranking[:SHOWN]]}
