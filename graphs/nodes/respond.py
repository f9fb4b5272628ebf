"""The respond node: small talk and what is out of scope end here, without any medical statement."""

from __future__ import annotations

from typing import Any

from graphs.answering.contract import Draft
from graphs.context import TurnContext
from graphs.nodes.finish import finish
from graphs.nodes.step import Body
from graphs.state import State
from graphs.triage.contract import Kind
from tools.contract import Notice

AGAIN = "again"  # courtesy after something was said
TEXTS = {
    (
        Kind.SMALL_TALK,
        "en",
    ): "Hello. Describe a patient's case or ask a medical question; I will look for evidence.",
    (Kind.SMALL_TALK, "zh"): "您好。请描述病例或提出医学问题，我会查找证据。",
    (AGAIN, "en"): "You can add to the case, ask why, ask what else it could be, or describe another patient.",
    (AGAIN, "zh"): "您可以补充病例、询问理由或其他可能，或描述另一位患者。",
    (Kind.OUT_OF_SCOPE, "en"): "This is outside what I can help with: I answer medical questions from evidence.",
    (Kind.OUT_OF_SCOPE, "zh"): "这超出了我的服务范围：我只根据证据回答医学问题。",
}


def respond_node() -> Body:
    """The node's body."""

    async def body(state: State, context: TurnContext) -> dict[str, Any]:
        kind = Kind(state["kind"])
        notice = Notice(code=kind.value, text=TEXTS[_said(state, kind), state["language"]])
        draft = Draft(notices=(notice,), abstained=kind is Kind.OUT_OF_SCOPE)
        return {"path": "responded", **finish(state, context, draft, [])}

    return body


def _said(state: State, kind: Kind) -> str:
    """Which text: courtesy is answered otherwise once there is something to go on from."""
    return AGAIN if kind is Kind.SMALL_TALK and state.get("last_answer_key") else kind
