"""What calls of language models have cost, in words: the same in the terminal, in Markdown and in a notebook."""

from __future__ import annotations

from graphs.answering.contract import Answer
from prompts.metering import Usage
from tools.messages import messages


def cost_of(answer: Answer) -> str:
    """What the turn of an answer cost; "" when no model was called."""
    spent = answer.usage.models
    words = messages(answer.language)
    return f"{words['cost.models']}{words['list.colon']}{in_words(spent, answer.language)}" if spent.used else ""


def in_words(usage: Usage, language: str = "en") -> str:
    """Calls, tokens and money, what has no price, and replies that were kept from before."""
    words = messages(language)
    cost = words.say("cost.money", cost=f"{usage.cost:.4g}")
    if usage.unpriced:
        unpriced = words.say("cost.part_priced", cost=cost, calls=usage.unpriced)
        cost = words["cost.no_price"] if usage.unpriced == usage.calls else unpriced
    calls = words["cost.one_call"] if usage.calls == 1 else words.say("cost.calls", calls=usage.calls)
    read, written = usage.input_tokens, usage.output_tokens
    told = words.say("cost.spent", calls=calls, read=read, written=written, cost=cost)
    return words.say("cost.kept", spent=told, kept=usage.cached) if usage.cached else told
