"""The next best question, asked before a case is researched: the machine stops at it and goes on with the reply.

It is LangGraph's ``interrupt``: the question is on disk with the checkpoint, so whoever comes back, after a kill too,
finds it there. Only where a client said with the message that it can reply (``asks``); else nothing waits.
"""

from __future__ import annotations

from typing import Any

from langgraph.types import interrupt

from graphs.completeness.contract import Decision, GateDecision
from graphs.context import TurnContext
from graphs.nodes.step import SUMMARY
from graphs.nodes.triage import decided, session_view
from graphs.state import State
from graphs.triage.contract import Kind, Triage
from tools.contract import Differential, FollowUpQuestion, Notice

REPLIED = {
    "en": "Asked before the research: {question} You said: {reply}",
    "zh": "检索前的提问：{question} 您的回答：{reply}",
}
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
    decision = await triage.decide(reply, session_view(now, context, within=True))
    if decision.kind not in ABOUT_THE_CASE or decision.new_case:
        return {}
    # The record of the turn holds its first message; the characters of a reply are nobody's to look up.
    facts = [f.model_copy(update={"span": None}) if f.turn == state["turn"] else f for f in decision.facts]
    update = decided(now, context, decision.model_copy(update={"facts": tuple(facts)}))
    told_of = REPLIED["zh" if decision.language == "zh" else "en"].format(question=question.text, reply=reply)
    told = [*update.pop("notices", []), Notice(code="replied", text=told_of).model_dump(mode="json")]
    told_as = (("assistant", question.text), ("user", reply))
    spoken = [{"role": r, "turn": state["turn"], "key": context.store.put(context.session, t)} for r, t in told_as]
    context.recorder.event("replied", finding=question.finding, kind_of_turn=decision.kind.value)
    update.pop(SUMMARY, None)
    return {**update, "notices": told, "messages": spoken}
