"""The completeness gate's node: a first look-up in the graph, then direct, retrieve, or retrieve with a warning.

Where the client can reply, the next best question is asked before a retrieval, and what the reply tells is judged anew.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from graphs.completeness.contract import CompletenessGate, Decision, GateDecision
from graphs.completeness.explained import sparse_warning
from graphs.context import TurnContext
from graphs.nodes.asking import question_for, replied
from graphs.nodes.live import LIVE, live_gate
from graphs.nodes.step import SUMMARY, Body
from graphs.state import State
from graphs.triage.contract import Kind, Triage
from tools.contract import Differential, Finding, Notice, Severity


def completeness_node(gate: CompletenessGate, look_up: Any, triage: Triage) -> Body:
    """The node's body around a gate and the graph's look-up; ``triage`` reads a reply."""

    async def judge(state: State, context: TurnContext) -> tuple[GateDecision, Differential | None]:
        question = context.text(state["question_key"])
        first_look: Differential | None = None
        if state["kind"] == Kind.CASE:
            known = [Finding.model_validate(f) for f in state.get("findings", [])]
            first_look = await asyncio.to_thread(look_up, question, state["language"], known)
        return await gate.assess(question, state["kind"], first_look), first_look

    async def body(state: State, context: TurnContext) -> dict[str, Any]:
        decision, first_look = await judge(state, context)
        told: dict[str, Any] = {}
        if (question := question_for(state, decision, first_look)) is not None:
            told = await replied(state, context, triage, question)
            if told:
                state = cast(State, {**state, **told})
                decision, first_look = await judge(state, context)
        context.recorder.event("gate", language=state["language"], **decision.model_dump(mode="json"))
        direct = decision.decision is Decision.DIRECT and not state.get(
            "given"
        )  # given texts are judged like found ones
        first_key = context.keep(first_look) if first_look is not None else ""
        update: dict[str, Any] = {
            **told,
            "gate_key": context.keep(decision),
            "first_look_key": first_key,
            "path": "direct" if direct else "researched",
            LIVE: lambda: live_gate(decision, first_look),
            SUMMARY: f"{decision.decision.value}: {decision.reason}",
        }
        if direct:
            update["differential_key"] = first_key
        if decision.decision is Decision.RETRIEVE_WITH_WARNING:
            text = sparse_warning(decision, state["language"])
            notice = Notice(code="sparse_information", text=text, severity=Severity.WARNING)
            update["notices"] = [*update.get("notices", []), notice.model_dump(mode="json")]
        return update

    return body
