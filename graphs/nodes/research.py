"""The research node: the planner chooses calls, several at once, within the turn's budget."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, ToolCall

from graphs.context import Limits, TurnContext
from graphs.nodes.given import from_given
from graphs.nodes.step import SUMMARY, Body
from graphs.planning.contract import PlannedCall, Planner, ResearchView
from graphs.state import State
from tools.contract import Differential, Gap, Notice, Outcome, Severity


def research_node(planner: Planner, limits: Limits) -> Body:
    """The node's body around a planner."""

    async def body(state: State, context: TurnContext) -> dict[str, Any]:
        made = _calls_made(state)
        left = limits.tool_calls - len(made)
        calls = []
        if state["rounds"] < limits.rounds and left > 0 and not from_given(state):
            planned = await planner.plan(_view(state, context, limits))
            calls = [c for c in planned if (c.tool, _frozen(c.arguments)) not in made]
        update: dict[str, Any] = {"rounds": state["rounds"] + bool(calls)}
        if len(calls) > left:
            update["notices"] = [_budget_notice(calls[left:])]
            calls = calls[:left]
        for call in calls:
            context.recorder.event("planned", **call.model_dump(mode="json"))
        message = AIMessage(content="; ".join(c.reason for c in calls), tool_calls=_tool_calls(state, calls))
        summary = "; ".join(f"{c.tool}: {c.reason}" for c in calls) or (
            "the given texts are read" if from_given(state) else "enough was gathered"
        )
        return {**update, "calls": [message], SUMMARY: summary}

    return body


def _view(state: State, context: TurnContext, limits: Limits) -> ResearchView:
    return ResearchView(
        question=context.text(state["question_key"]),
        kind=state["kind"],
        language=state["language"],
        round=state["rounds"] + 1,
        rounds_left=limits.rounds - state["rounds"] - 1,
        options=state["options"],
        evidence=tuple(context.load_evidence(state, state["found"])),
        differential=context.load(Differential, state["differential_key"] or state["first_look_key"]),
        outcomes=tuple((tool, Outcome(outcome)) for tool, outcome in state["outcomes"]),
        gaps=tuple(context.load_list(Gap, state["gaps_key"])),
    )


def _calls_made(state: State) -> set[tuple[str, str]]:
    messages = (m for m in state["calls"] if isinstance(m, AIMessage))
    return {(call["name"], _frozen(call["args"])) for message in messages for call in message.tool_calls}


def _frozen(arguments: dict[str, Any]) -> str:
    return repr(sorted(arguments.items()))


def _tool_calls(state: State, calls: list[PlannedCall]) -> list[ToolCall]:
    prefix = f"{state['turn']}.{state['rounds'] + 1}"
    return [
        ToolCall(name=call.tool, args=call.arguments, id=f"{prefix}.{i}", type="tool_call")
        for i, call in enumerate(calls, start=1)
    ]


def _budget_notice(left_out: list[PlannedCall]) -> dict[str, str]:
    names = ", ".join(call.tool for call in left_out)
    notice = Notice(
        code="budget_reached",
        text=f"The turn's budget of tool calls was reached; not called: {names}.",
        severity=Severity.WARNING,
    )
    return notice.model_dump(mode="json")
