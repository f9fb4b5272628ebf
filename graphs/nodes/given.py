"""Texts that came with a message: whether they make it medical, and whether it is answered from them alone."""

from __future__ import annotations

from graphs.context import TurnContext
from graphs.state import State
from graphs.triage.contract import Kind, SessionView, Triage, TriageDecision
from tools.text.language import language_of
from tools.text.questions import is_closed

READ = 1000  # characters of a given text that tell whether it is medical; ours


def from_given(state: State) -> bool:
    """Whether the turn is answered from the texts that came with it: nothing is searched for. A case is looked up."""
    return bool(state.get("given")) and state["kind"] not in (Kind.CASE, Kind.FOLLOW_UP)


async def on_given(triage: Triage, state: State, context: TurnContext, decision: TriageDecision) -> TriageDecision:
    """The decision; a question without a medical word is one of evidence when a text that came with it is medical, and
    one to a Chinese text stays Chinese."""
    if not state.get("given"):
        return decision
    texts = context.load_evidence(state, state["given"])
    if any(language_of(item.text[:READ]) == "zh" for item in texts):
        decision = decision.model_copy(update={"english": ""})
    if decision.kind is not Kind.OUT_OF_SCOPE:
        return decision
    read = [await triage.decide(item.text[:READ], SessionView()) for item in texts]
    if all(r.kind in (Kind.OUT_OF_SCOPE, Kind.SMALL_TALK, Kind.ASSISTANT) for r in read):
        return decision
    reason = "asks about the texts that came with it"
    closed = is_closed(decision.question)
    return decision.model_copy(update={"kind": Kind.EVIDENCE, "closed": closed, "reason": reason})
