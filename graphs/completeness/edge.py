"""Beyond the edge of the graph nothing is enough: a case that no known disease explains is never answered directly."""

from __future__ import annotations

from graphs.completeness.contract import Decision, GateDecision
from tools.contract import Differential

BEYOND = "no disease that the graph holds explains these findings well, so evidence is retrieved"
UNSURE = "it is not likely enough that a disease that the graph holds explains these findings, so evidence is retrieved"
UNREAD = "too much of the case was not understood, so evidence is retrieved"
MOST_UNREAD = 3  # ours: clauses that tell of something and were not understood, from which nothing is enough
ENOUGH = 0.35  # ours: below it the direct path is closed; beyond it closed no more of the outside cases fitted on
EXPLAINED = "explained"  # the part that tells how probably a disease of the graph explains the case


def held_at_the_edge(decision: GateDecision, first_look: Differential | None) -> GateDecision:
    """The decision, but retrieve in place of direct where the first look-up does not explain or understand the case."""
    if first_look is None:
        return decision
    if first_look.explained is not None:
        parts = {**decision.parts, EXPLAINED: first_look.explained}
        decision = decision.model_copy(update={"parts": parts})
    unread = len(first_look.unread) >= MOST_UNREAD
    unsure = first_look.explained is not None and first_look.explained < ENOUGH
    if decision.decision is not Decision.DIRECT or not (first_look.outside or unsure or unread):
        return decision
    reason = BEYOND if first_look.outside else UNSURE if unsure else UNREAD
    return decision.model_copy(update={"decision": Decision.RETRIEVE, "reason": reason, "turning": None})
