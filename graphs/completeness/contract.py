"""The completeness gate: is what was told enough? (ICA-RAG, section on information completeness.)"""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from pydantic import Field

from tools.contract import Differential
from tools.evidence import Frozen


class Label(StrEnum):
    """Importance of a unit (paper): A critical, B helps retrieval, C unimportant."""

    A = "A"
    B = "B"
    C = "C"


class Unit(Frozen):
    """A unit of the input (a sentence), its characters in it, its label and why."""

    text: str
    start: int
    end: int
    label: Label
    reason: str


class Decision(StrEnum):
    """What to do next."""

    DIRECT = "direct"
    RETRIEVE = "retrieve"
    RETRIEVE_WITH_WARNING = "retrieve_with_warning"


class Turning(Frozen):
    """The unit without which the gate would decide otherwise.

    Attributes:
        unit: its position among the units, from 0. decision, score: the gate's without it.
    """

    unit: int
    decision: Decision
    score: float


class GateDecision(Frozen):
    """The decision and everything that it rests on.

    Attributes:
        score: completeness, 0..1. theta1, theta2: thresholds; above theta1 direct, below theta2 warn;
            equality retrieves.
        parts: named parts of the score (coverage of what a case should state, margin of the first look-up, ...).
        missing: kinds of information that the case does not state, most useful first.
        turning: the unit whose removal would flip the decision; None where no single one does.
        question: the question that would supply what is missing; empty where nothing is.
    """

    decision: Decision
    score: float
    theta1: float
    theta2: float
    units: tuple[Unit, ...] = ()
    parts: dict[str, float] = Field(default_factory=dict)
    missing: tuple[str, ...] = ()
    turning: Turning | None = None
    question: str = ""
    reason: str

    def _repr_html_(self) -> str:
        """The decision in words, as a notebook shows it."""
        from graphs.completeness.explained import explained, gate_html

        return gate_html(explained(self, "en"))


class CompletenessGate(Protocol):
    """Judges whether the input is enough to answer from."""

    async def assess(self, question: str, kind: str, first_look: Differential | None) -> GateDecision:
        """Assess a stand-alone question. ``first_look`` is the graph's first look-up, for a case."""
