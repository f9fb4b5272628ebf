"""Research planning: which tools to call next, in rounds, within a budget."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from pydantic import Field

from tools.contract import Differential, Gap, Outcome
from tools.evidence import Evidence, Frozen

By = Literal["model", "local"]


class PlannedCall(Frozen):
    """One tool call, why it is made, and who chose it. ``waits``: it is made in a round of its own, after the others of
    this one, because it reads what they bring."""

    tool: str
    arguments: dict[str, Any]
    reason: str
    by: By = "local"
    waits: bool = False


class MadeCall(Frozen):
    """A call of an earlier round of this turn. ``result`` is what the planner may read of what it brought."""

    round: int
    tool: str
    arguments: dict[str, Any]
    outcome: Outcome
    result: str
    by: By = "local"


class ResearchView(Frozen):
    """What the planner sees. ``round`` counts from 1; ``outcomes`` are this turn's (tool, outcome) so far.

    Attributes:
        rounds_left, calls_left: rounds after this one, and tool calls that the turn may still make.
        differential: the last look-up's, or the gate's first look.
        made: the calls of the earlier rounds, in order.
    """

    question: str
    kind: str
    language: str
    round: int
    rounds_left: int
    calls_left: int = 12
    options: dict[str, str] = Field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    differential: Differential | None = None
    outcomes: tuple[tuple[str, Outcome], ...] = ()
    gaps: tuple[Gap, ...] = ()
    made: tuple[MadeCall, ...] = ()


class Planner(Protocol):
    """Chooses the next calls."""

    async def plan(self, view: ResearchView) -> list[PlannedCall]:
        """The calls of this round, to be made at once; an empty list ends research.

        Raises:
            BudgetError: the turn's budget for models is spent; research ends with what was gathered.
        """
