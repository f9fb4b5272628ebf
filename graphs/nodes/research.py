"""The research node: the planner chooses calls, several at once, within the turn's budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage

from graphs.context import Limits, TurnContext
from graphs.nodes.step import SUMMARY, Body
from graphs.nodes.triage import from_given
from graphs.planning.contract import MadeCall, PlannedCall, Planner, ResearchView
from graphs.state import State
from prompts.metering import BudgetError
from tools.contract import Differential, Gap, Notice, Outcome, Severity, unique
from tools.notices import noted

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
