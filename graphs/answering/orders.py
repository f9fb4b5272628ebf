"""Sentences that give orders to whoever reads them by machine are never quoted (`graphs.judging.orders`)."""

from __future__ import annotations

from graphs.judging.orders import speaks_to_machines


def is_order(sentence: str) -> bool:
    """Whether a sentence gives such an order."""
    return speaks_to_machines(sentence)
