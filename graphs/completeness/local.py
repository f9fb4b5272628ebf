"""The completeness gate without a model: open rules over sentences, what a case should state, and the first look-up."""

from __future__ import annotations

from graphs.completeness.contract import Decision, GateDecision
from graphs.completeness.information import Coverage, coverage, missing
from graphs.completeness.labels import units
from graphs.completeness.score import (
    GateSettings,
    decide,
    entropy_part,
    information_score,
    margin_part,
    our_score,
)
from tools.contract import Differential
from tools.text.clauses import clauses

CASE = ("case", "follow_up")
VERDICTS = {
    Decision.DIRECT: "enough to answer directly",
    Decision.RETRIEVE: "more is needed, so evidence is retrieved",
    Decision.RETRIEVE_WITH_WARNING: "critical information is sparse, so evidence is retrieved with a warning",
}
FIXED = {
    "retrieve": (Decision.RETRIEVE, "the gate is switched off: every question is retrieved for"),
    "direct": (Decision.DIRECT, "the gate is switched off: nothing is retrieved"),
}


class CompletenessGateLocal:
    """Judges a case by the share of what it should state and by how clearly the graph's first look-up leads."""

    def __init__(self, settings: GateSettings | None = None) -> None:
        self._settings = settings or GateSettings()

    async def assess(self, question: str, kind: str, first_look: Differential | None) -> GateDecision:
        """Assess a stand-alone question. A question about no patient always retrieves."""
        return self.assess_now(question, kind, first_look)

    def assess_now(self, question: str, kind: str, first_look: Differential | None) -> GateDecision:
        """The same, for callers without an event loop."""
        theta1, theta2 = self._settings.thresholds
        labelled = units(question, first_look)
        published = information_score([u.label for u in labelled], self._settings)
        if self._settings.method in FIXED:
            fixed, reason = FIXED[self._settings.method]
            return GateDecision(
                decision=fixed, score=published, theta1=theta1, theta2=theta2, units=labelled,
                parts={"i_norm": published}, reason=reason,
            )  # fmt: skip
        if kind not in CASE:
            return GateDecision(
                decision=Decision.RETRIEVE, score=published, theta1=theta1, theta2=theta2, units=labelled,
                parts={"i_norm": published}, reason="a question about no particular patient is answered from evidence",
            )  # fmt: skip
        covered = _coverage(question, first_look)
        parts = {
            "i_norm": published,
            "coverage": covered.total,
            "margin": margin_part(first_look, self._settings),
            "entropy": entropy_part(first_look, self._settings),
            **{f"states_{name}": value for name, value in covered.stated.items()},
        }
        score = published if self._settings.method == "published" else our_score(parts, self._settings)
        decision = decide(score, theta1, theta2)
        return GateDecision(
            decision=decision, score=score, theta1=theta1, theta2=theta2, units=labelled, parts=parts,
            missing=missing(covered.stated, question), reason=_reason(decision, score, theta1, theta2, parts),
        )  # fmt: skip


def _coverage(question: str, first_look: Differential | None) -> Coverage:
    """Coverage of a case; findings of the look-up (answers to our questions among them) count beside the text's own."""
    findings = () if first_look is None else first_look.findings
    present = len({f.id for f in findings if f.id and f.present})
    denied = [c for c in clauses(question) if c.present is False]
    absent = {f.id for f in findings if f.id and f.present is False}
    return coverage(question, present, max(len(denied), len(absent)))


def _reason(decision: Decision, score: float, theta1: float, theta2: float, parts: dict[str, float]) -> str:
    return (
        f"score {score:.2f} against {theta1:.2f} and {theta2:.2f} (states {parts['coverage']:.0%} of what a case "
        f"should; lead of the first diagnosis {parts['margin']:.0%}): {VERDICTS[decision]}"
    )
