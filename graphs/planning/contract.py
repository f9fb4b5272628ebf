"""Research planning: which tools to call next, in rounds, within a budget."""

from __future__ import annotations

from typing import Any, Protocol

from pydantic import Field

from tools.contract import Differential, Gap, Outcome
from tools.evidence import Evidence, Frozen


class PlannedCall(Frozen):
    """One tool call and why it is made."""

    tool: str
    arguments: dict[str, Any]
    reason: str


class ResearchView(Frozen):
    """What the planner sees. ``round`` counts from 1; ``outcomes`` are this turn's (tool, outcome) so far."""

    question: str
    kind: str
    language: str
    round: int
    rounds_left: int
    options: dict[str, str] = Field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    differential: Differential | None = None
    outcomes: tuple[tuple[str, Outcome], ...] = ()
    gaps: tuple[Gap, ...] = ()


class Planner(Protocol):
    """Chooses the next calls."""

    async def plan(self, view: ResearchView) -> list[PlannedCall]:
        """The calls of this round, to be made at once; an empty list ends research."""
