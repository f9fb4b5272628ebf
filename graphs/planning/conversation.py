"""What the planning model is shown: the question with what is known of it, and the calls of this turn with results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage

from graphs.planning.contract import MadeCall, ResearchView
from graphs.planning.tool_calls import WHOLE, Read, safe_name
from prompts.templates import fence_of
from prompts.tool_arguments import MAX_QUERY
from tools.contract import Differential

LEADING = 5  # ours: diseases of the first look that are shown
RESULT = 6000  # ours: characters of a result that are shown, some 1,500 tokens
FAULTY = 1000  # ours: characters of faulty arguments that are shown again
AS_TOLD = "(as told)"  # stands for an argument that is the whole question
LEFT = "Left: rounds {rounds}, calls {calls}."
PENDING = "this call will be made; do not repeat it"
KINDS = {
    "case": "a patient's case",
    "follow_up": "a patient's case",
    "evidence": "a question of evidence",
    "multiple_choice": "a multiple-choice question",
}


def asked(view: ResearchView) -> dict[str, str]:
    """The values of the prompt ``research``. Once calls are made they stay the same, so that a server can keep what it
    has read of the conversation."""
    options = "".join(f"\n{letter}. {text}" for letter, text in view.options.items())
    rounds, calls = _bounds(view)
    return {
        "kind": KINDS.get(view.kind, view.kind),
        "rounds": str(rounds),
        "calls": str(calls),
        "question": view.question[:MAX_QUERY],
        "options": f"\n\nOptions:{options}" if options else "",
        "look": _look(view.differential) if view.kind in ("case", "follow_up") and not view.made else "",
    }


def _bounds(view: ResearchView) -> tuple[int, int]:
    """The model's rounds and calls in all: the last round of a turn only fills the gaps."""
    return max(view.round + view.rounds_left - 1, 1), view.calls_left + len(view.made)


def _look(differential: Differential | None) -> str:
    """The leading diseases of the knowledge graph's first look at the case."""
    if differential is None or not differential.ranking:
        return ""
    lines = [f"\n- {d.name} ({d.icd10}) {d.score:.2f}" for d in differential.ranking[:LEADING]]
    return "\n\nFirst look at the knowledge graph, diseases with their share of belief:" + "".join(lines)


def earlier(view: ResearchView) -> list[AnyMessage]:
    """The earlier rounds as messages: the calls, then what each brought, between fences, and how much was left."""
    messages: list[AnyMessage] = []
    numbered = list(enumerate(view.made, start=1))
    rounds, calls = _bounds(view)
    for number in sorted({m.round for m in view.made}):
        of_round = [(place, m) for place, m in numbered if m.round == number]
        messages.append(
            AIMessage(content="", tool_calls=[_tool_call(place, m.tool, _shortened(m)) for place, m in of_round])
        )
        last = of_round[-1][0]
        left = "\n" + LEFT.format(rounds=max(rounds - number, 1), calls=calls - last)
        messages += [
            ToolMessage(content=f"{_fenced(m.result)}{left if place == last else ''}", tool_call_id=_id(place))
            for place, m in of_round
        ]
    return messages


def to_mend(results: Sequence[Read], before: int) -> list[AnyMessage]:
    """The faulty reply as messages: its calls, and of each that it will be made or what is wrong.

    Args:
        before: calls that the conversation holds already; ids go on from there.
    """
    numbered = list(enumerate(results, start=before + 1))
    calls = [_tool_call(place, r.call.name, _kept(r.call.arguments)) for place, r in numbered]
    return [
        AIMessage(content="", tool_calls=calls),
        *(
            ToolMessage(content=PENDING if r.planned else f"Error: {r.wrong}. Mend this call.", tool_call_id=_id(place))
            for place, r in numbered
        ),
    ]


def _tool_call(place: int, tool: str, arguments: dict[str, Any]) -> ToolCall:
    return ToolCall(name=safe_name(tool), args=arguments, id=_id(place), type="tool_call")


def _id(place: int) -> str:
    """Nine letters and digits: every server takes that, and some take nothing else."""
    return f"call{place:05}"


def _fenced(result: str) -> str:
    fence = fence_of([result])
    return f"{fence}\n{result[:RESULT]}\n{fence}"


def _shortened(call: MadeCall) -> dict[str, Any]:
    whole = WHOLE.get(call.tool, "")
    return {name: AS_TOLD if name == whole else value for name, value in call.arguments.items()}


def _kept(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return dict(arguments) if len(json.dumps(arguments, default=str)) <= FAULTY else {}
