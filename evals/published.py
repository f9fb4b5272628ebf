"""Figures of papers that stand beside ours, by the name of ours: those of the ledger's list, and one more.

None of them was measured on the very rows that ours are.
"""

from __future__ import annotations

from functools import cache

from evals.contract import Figure, Published
from evals.ledger.contract import named
from evals.ledger.reading import published

ZERO_SHOT = "a zero-shot knowledge-graph method on DDXPlus, other patients (its paper is not identified here)"
UNIDENTIFIED = {"starter.text.l3_top1": 62.0, "starter.text.l3_top3": 82.3, "starter.text.mrr": 0.739}


@cache
def by_figure() -> dict[str, Published]:
    """Each paper's figure by the name of ours."""
    out = {
        named(table, row)[1]: Published(value=row.value, source=f"{paper.name}, {table.title}: {table.setting}")
        for paper in published().papers
        for table in paper.tables
        for row in table.rows
        if row.ours and row.value is not None
    }
    return out | {name: Published(value=value, source=ZERO_SHOT) for name, value in UNIDENTIFIED.items()}


def with_published(figures: list[Figure]) -> tuple[Figure, ...]:
    """The figures, each with the paper's where there is one."""
    return tuple(f.model_copy(update={"published": by_figure().get(f.name)}) for f in figures)
