"""Filters as Milvus's expressions. Every value is written as a literal that can only be data."""

from __future__ import annotations

from collections.abc import Iterable

from tools.indexes.contract import Filter

ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def expression(where: Filter | None) -> str:
    """The rows that a filter admits; "" for all."""
    if where is None:
        return ""
    named = (("collection", where.collections), ("kind", where.kinds), ("language", where.languages), ("id", where.ids))
    conditions = [one_of(field, values) for field, values in named if values]
    if where.since:
        conditions.append(f"date >= {literal(where.since)}")
    if where.until:
        conditions.append(f'date != "" and date <= {literal(where.until)}')
    return " and ".join(conditions)


def one_of(field: str, values: Iterable[str]) -> str:
    """The rows whose field is one of these."""
    return f"{field} in [{', '.join(literal(value) for value in values)}]"


def literal(value: str) -> str:
    """A text in double quotes."""
    return f'"{value.translate(ESCAPES)}"'
