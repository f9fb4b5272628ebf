"""What the calibrated gate looks at: features of a case and its first look-up, known before retrieval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from graphs.completeness.contract import Label, Unit
from tools.contract import Differential, Finding

# The parts that features come in; each was measured by leaving it out (docs/completeness.md).
PARTS: dict[str, tuple[str, ...]] = {
    "look": ("odds", "lead", "lead_third", "margin", "entropy"),
    "votes": ("vote_share", "winner"),
    "reading": ("recognised", "unread", "present"),
    "labels": ("critical",),
    "coverage": ("coverage",),
    "length": ("units",),
    "denials": ("denied", "against"),
    "question": ("gain",),
    "masking": ("lead_without_one", "lead_without_two"),
}
# the parts that earn their place; the others are only measured
KEPT = ("look", "votes", "reading", "labels", "coverage")
LEAST = 1e-4  # ours: shares below this are one and the same, as they are told with few digits
MANY = 40.0  # ours: counts beyond this are one and the same


class CaseFeatures(NamedTuple):
    """Features of a case.

    Attributes:
        values: by name, as `PARTS` lists them.
        leader: id of the disease that stands first, after its graph's name where that is not the starter graph; ""
            without a ranking.
        stated: ids of the findings that were recognised, with ``-`` before those denied.
    """

    values: dict[str, float]
    leader: str
    stated: frozenset[str]


def case_features(units: Sequence[Unit], coverage: float, first_look: Differential | None) -> CaseFeatures:
    """The features of a case.

    Args:
        units: its sentences with their labels. coverage: weighted share of what a case should state, 0..1.
        first_look: the graph's first look-up, nothing retrieved; None where there was none.
    """
    look = first_look or Differential()
    leader = _leader(look)
    stated = frozenset(("-" if f.present is False else "") + f.id for f in look.findings if f.id)
    values = {
        **_of_the_look(look),
        **_of_the_votes(look),
        **_of_the_units(units, look.findings),
        "denied": float(min(MANY, sum(f.present is False for f in look.findings))),
        "against": float(len(look.ranking[0].findings_against)) if look.ranking else 0.0,
        "gain": look.questions[0].gain if look.questions else 0.0,
        "coverage": coverage,
        **_masked(units, look),
    }
    return CaseFeatures(values, leader, stated)


def _leader(look: Differential) -> str:
    """The leader's id; in another graph, or ranked another way, a disease is not the starter graph's."""
    if not look.ranking:
        return ""
    own = (look.graph, look.mode) == ("starter", "ours")
    return look.ranking[0].disease if own else f"{look.graph} {look.mode} {look.ranking[0].disease}"


def _log(share: float) -> float:
    return math.log(max(share, LEAST))


def lead_over(look: Differential, place: int = 1) -> float:
    """How far the first disease leads one further down: the logarithm of the ratio of their shares; 0 without any."""
    if not look.ranking:
        return 0.0
    behind = look.ranking[place].score if len(look.ranking) > place else 0.0
    return _log(look.ranking[0].score) - _log(behind)


def _of_the_look(look: Differential) -> dict[str, float]:
    top = look.ranking[0].score if look.ranking else 0.0
    return {
        "odds": _log(top) - _log(1.0 - top),
        "lead": lead_over(look),
        "lead_third": lead_over(look, 2),
        "margin": look.margin,
        "entropy": look.entropy,
    }


def _of_the_votes(look: Differential) -> dict[str, float]:
    votes = dict(look.categories)
    total = sum(votes.values())
    leading = look.ranking[0].l2 if look.ranking else ""
    return {
        "vote_share": votes.get(leading, 0.0) / total if total else 0.0,
        "winner": float(leading in look.winners),
    }


def _of_the_units(units: Sequence[Unit], findings: Sequence[Finding]) -> dict[str, float]:
    read = [any(u.start <= f.start < u.end for f in findings) for u in units]
    count = max(len(units), 1)
    return {
        "units": min(MANY, len(units)),
        "recognised": sum(read) / count,
        "unread": min(MANY, sum(not r and u.label is not Label.C for r, u in zip(read, units, strict=True))),
        "present": float(min(MANY, sum(bool(f.present) for f in findings))),
        "critical": sum(u.label is Label.A for u in units) / count,
    }


def support(units: Sequence[Unit], look: Differential) -> list[float]:
    """For each unit its share, by confidence, of what speaks for the leader and not for the runner-up."""
    if not look.ranking:
        return [0.0] * len(units)
    behind = look.ranking[1].findings_for if len(look.ranking) > 1 else ()
    telling = [f for f in look.findings if f.name in look.ranking[0].findings_for and f.name not in behind]
    total = sum(f.score for f in telling)
    return [sum(f.score for f in telling if u.start <= f.start < u.end) / total if total else 0.0 for u in units]


def _masked(units: Sequence[Unit], look: Differential) -> dict[str, float]:
    """The lead that is left without the unit, and the two units, on which it rests most.

    It stands for looking the case up again without them: the lead is taken to be shared by the findings that speak for
    the leader alone, as their confidences are.
    """
    lead = max(0.0, lead_over(look))
    most = sorted(support(units, look), reverse=True)
    return {"lead_without_one": lead * (1 - sum(most[:1])), "lead_without_two": lead * (1 - sum(most[:2]))}
