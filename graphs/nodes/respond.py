"""The respond node: small talk, the assistant itself and what is out of scope end here, without a medical statement."""

from __future__ import annotations

from typing import Any

from graphs.answering.contract import Draft
from graphs.context import TurnContext
from graphs.nodes.finish import finish
from graphs.nodes.step import Body
from graphs.state import State
from graphs.triage.contract import Kind
from tools.notices import noted

AGAIN = "again"  # courtesy after something was said


def respond_node() -> Body:
    """The node's body."""

    async def body(state: State, context: TurnContext) -> dict[str, Any]:
        kind = Kind(state["kind"])
        notice = noted(kind.value, state["language"], said=f"notice.{_said(state, kind)}")
        draft = Draft(notices=(notice,), abstained=kind is Kind.OUT_OF_SCOPE)
        return {"path": "responded", **finish(state, context, draft, [])}

    return body


def _said(state: State, kind: Kind) -> str:
    """Which message: courtesy is answered otherwise once there is something to go on from."""
    return AGAIN if kind is Kind.SMALL_TALK and state.get("last_answer_key") else kind.value
