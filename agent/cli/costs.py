"""What language models have cost, in words."""

from __future__ import annotations

from collections.abc import Mapping

from graphs.answering.contract import Usage as TurnUsage
from prompts.metering import Usage


def cost_line(usage: TurnUsage) -> str:
    """What a turn and its session have cost, in a line; "" when no model was called."""
    if not usage.model_calls:
        return ""
    turn = Usage(
        calls=usage.model_calls,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost=usage.cost,
        unpriced=usage.unpriced,
    )
    return f"language models: {_words(turn)}; session: {_words(usage.session)}"


def cost_lines(by_role: Mapping[str, Usage]) -> list[str]:
    """What each role has cost, most expensive first, then all together; empty when no model was called."""
    if not by_role:
        return []
    ordered = sorted(by_role.items(), key=lambda item: (-item[1].cost, -item[1].tokens, item[0]))
    total = sum(by_role.values(), Usage())
    return [f"{role}: {_words(usage)}" for role, usage in ordered] + [f"language models: {_words(total)}"]


def _words(usage: Usage) -> str:
    calls = f"{usage.calls} call{'' if usage.calls == 1 else 's'}"
    tokens = f"{usage.input_tokens} + {usage.output_tokens} tokens"
    return f"{calls}, {tokens}, {_money(usage)}"


def _money(usage: Usage) -> str:
    if usage.unpriced == usage.calls:
        return "no price set"
    return f"cost {usage.cost:.4g}" + (f" ({usage.unpriced} calls without a price)" if usage.unpriced else "")
