"""The completeness gate's node: a first look-up in the graph, then direct, retrieve, or retrieve with a warning.

Where the client can reply, the next best question is asked before a retrieval, and what the reply tells is judged anew.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from langgraph.types import interrupt

from graphs.completeness.contract import CompletenessGate, Decision, GateDecision
from graphs.completeness.explained import sparse_warning
from graphs.context import TurnContext
from graphs.nodes.step import LIVE, SUMMARY, Body, live_gate
from graphs.nodes.triage import decided, session_view
from graphs.state import State
from graphs.triage.contract import Kind, Triage
from graphs.triage.emergency import with_open
from tools.contract import Differential, Finding, FollowUpQuestion
from tools.notices import noted


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
            notice = sparse_warning(decision, state["language"])
            update["notices"] = [*update.get("notices", []), notice.model_dump(mode="json")]
        return update

    return body


# The next best question, asked before a case is researched: the machine stops at it and goes on with the reply.
# It is LangGraph's `interrupt`: the question is on disk with the checkpoint, so whoever comes back, after a kill
# too, finds it there. Only where a client said with the message that it can reply (`asks`); else nothing waits.

GO_ON = frozenset({"", "skip", "stop", "/skip", "跳过"})  # ours: replies that leave the question open
ABOUT_THE_CASE = (Kind.CASE, Kind.FOLLOW_UP)


def question_for(state: State, decision: GateDecision, first_look: Differential | None) -> FollowUpQuestion | None:
    """The question that is worth asking before research; none where enough was told, or an emergency was."""
    waits = state.get("asks") and not state["red_flags"] and decision.decision is not Decision.DIRECT
    if not waits or first_look is None or state["kind"] != Kind.CASE:
        return None
    settled = {f["id"] for f in state.get("findings", [])}
    return next((q for q in first_look.questions if q.finding not in settled), None)


async def replied(state: State, context: TurnContext, triage: Triage, question: FollowUpQuestion) -> dict[str, Any]:
    """Stop until the client replies; then the channels that the reply changes, read as a reply in a session is.

    Empty where it leaves the question open, or tells of something else than this case.
    """
    said = interrupt(question.model_dump(mode="json"))
    reply = str(said.get("reply", "") if isinstance(said, dict) else said).strip()
    if reply.casefold() in GO_ON:
        return {}
    asked = {"finding": question.finding, "text": question.text}
    now: State = {**state, "asked": asked}
    view = session_view(now, context, within=True)
    decision = with_open(await triage.decide(reply, view), reply, view)
    if decision.kind not in ABOUT_THE_CASE or decision.new_case:
        return {}
    # The record of the turn holds its first message; the characters of a reply are nobody's to look up.
    facts = [f.model_copy(update={"span": None}) if f.turn == state["turn"] else f for f in decision.facts]
    update = decided(now, context, decision.model_copy(update={"facts": tuple(facts)}))
    told_of = noted("replied", decision.language, question=question.text, reply=reply)
    told = [*update.pop("notices", []), told_of.model_dump(mode="json")]
    told_as = (("assistant", question.text), ("user", reply))
    spoken = [{"role": r, "turn": state["turn"], "key": context.store.put(context.session, t)} for r, t in told_as]
    context.recorder.event("replied", finding=question.finding, kind_of_turn=decision.kind.value)
    update.pop(SUMMARY, None)
    return {**update, "notices": told, "messages": spoken}
