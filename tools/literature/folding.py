"""Warnings of a search, folded for display: one line a kind, with the count and the first few."""

from __future__ import annotations

from collections.abc import Iterable

SHOWN = 3  # ours: warnings of one kind that are written out; the saved strategy has all


def folded(warnings: Iterable[str]) -> list[str]:
    """One line a kind of warning (what stands before the first colon), in the order of first appearance."""
    kinds: dict[str, list[str]] = {}
    for warning in warnings:
        kind, colon, what = warning.partition(": ")
        kinds.setdefault(kind if colon else warning, []).extend([what] if colon else [])
    return [_line(kind, what) for kind, what in kinds.items()]


def _line(kind: str, what: list[str]) -> str:
    if not what:
        return kind
    more = len(what) - SHOWN
    if more <= 0:
        return f"{kind}: {'; '.join(what)}"
    return f"{kind}, {len(what)} in all: {'; '.join(what[:SHOWN])} and {more} more"
