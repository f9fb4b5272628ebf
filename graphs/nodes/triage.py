"""The triage node: kind of turn, emergency, stand-alone question."""

from __future__ import annotations

from typing import Any

from graphs.context import TurnContext
from graphs.nodes.step import SUMMARY, Body
from graphs.state import State
from graphs.triage.contract import AskedQuestion, Kind, SessionView, Triage, TriageDecision

REMEMBERED = 6  # earlier user messages that triage may read; ours
MEDICAL = (Kind.CASE, Kind.EVIDENCE, Kind.MULTIPLE_CHOICE, Kind.FOLLOW_UP)


def triage_node(triage: Triage) -> Body:
    """The node's body around a triage."""

    async def body(state: State, context: TurnContext) -> dict[str, Any]:
        view = session_view(state, context)
        decision = await triage.decide(context.text(state["message_key"]), view)
        details = decision.model_dump(mode="json", exclude={"question", "case", "kind"})
        context.recorder.event("triage", kind_of_turn=decision.kind.value, **details)
        return {**_turn(state, context, decision), **_session(state, context, decision)}

    return body


def session_view(state: State, context: TurnContext) -> SessionView:
    """What triage may know of the session."""
    earlier = [m for m in state.get("messages", []) if m["role"] == "user" and m["turn"] < state["turn"]]
    subject = state.get("subject") or {}
    asked = state.get("asked")
    return SessionView(
        messages=tuple(context.text(m["key"]) for m in earlier[-REMEMBERED:]),
        case=context.text(state.get("case_key", "")),
        kind=subject.get("kind", ""),
        question=context.text(subject.get("question_key", "")),
        asked=AskedQuestion(**asked) if asked else None,
        leading=state.get("leading", ""),
    )


def _turn(state: State, context: TurnContext, decision: TriageDecision) -> dict[str, Any]:
    kind = Kind.CASE if decision.kind is Kind.FOLLOW_UP else decision.kind
    options = state.get("options") or decision.options
    if options and kind in MEDICAL:
        kind = Kind.MULTIPLE_CHOICE
    return {
        "kind": kind.value,
        "language": decision.language,
        "question_key": context.store.put(context.session, decision.question),
        "closed": decision.closed,
        "options": options,
        "red_flags": [f.model_dump() for f in decision.red_flags],
        SUMMARY: f"{decision.kind.value}: {decision.reason}",
    }


def _session(state: State, context: TurnContext, decision: TriageDecision) -> dict[str, Any]:
    if decision.kind not in MEDICAL:
        return {}
    update: dict[str, Any] = {
        "asked": None,
        "subject": {
            "kind": Kind.CASE.value if decision.kind is Kind.FOLLOW_UP else decision.kind.value,
            "question_key": context.store.put(context.session, decision.question),
        },
    }
    if decision.case:
        update["case_key"] = context.store.put(context.session, decision.case)
    settled = state.get("findings", [])
    if decision.answered is not None:
        settled = [f for f in settled if f["id"] != decision.answered.id] + [decision.answered.model_dump()]
        update["findings"] = settled
    elif decision.new_case:
        update |= {"findings": [], "leading": ""}
    return update
