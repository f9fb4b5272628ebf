"""The completeness gate without a model: sentences, what a case should state, and the first look-up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

from graphs.completeness.calibrated import SHIPPED, CalibratedModel, load_model
from graphs.completeness.classifier import Labeller, RulesLabeller
from graphs.completeness.contract import Decision, GateDecision, Turning, Unit
from graphs.completeness.edge import held_at_the_edge
from graphs.completeness.features import CaseFeatures, case_features
from graphs.completeness.information import Coverage, coverage, missing
from graphs.completeness.labels import units
from graphs.completeness.score import GateSettings, decide, information_score
from graphs.completeness.turning import next_question, turning_by_labels, turning_by_probability
from tools.contract import Differential
from tools.text.clauses import clauses

CASE = ("case", "follow_up")
UNSURE = 4.0  # ours: entropy in bits at which the shown part "entropy" is 0
VERDICTS = {
    Decision.DIRECT: "enough to answer directly",
    Decision.RETRIEVE: "more is needed, so evidence is retrieved",
    Decision.RETRIEVE_WITH_WARNING: "critical information is sparse, so evidence is retrieved with a warning",
}
FIXED = {
    "retrieve": (Decision.RETRIEVE, "the gate is switched off: every question is retrieved for"),
    "direct": (Decision.DIRECT, "the gate is switched off: nothing is retrieved"),
}
WholeInput = Callable[[str], float]


class Scored(NamedTuple):
    """A score, what it is in words, and the unit on which the decision turns."""

    score: float
    told: str
    turning: Turning | None = None


class CompletenessGateLocal:
    """Judges a case by the calibrated probability that the first look-up is right, or by the settings' other method.

    Args:
        labeller: labels the sentences that are shown and that I_norm counts; None for the open rules, by which the
            calibrated probability reads them always.
        whole_input: the probability of a text, for the method ``whole_input``.

    Raises DataError for a calibration that cannot be read.
    """

    def __init__(
        self,
        settings: GateSettings | None = None,
        labeller: Labeller | None = None,
        whole_input: WholeInput | None = None,
    ) -> None:
        self._settings = settings or GateSettings()
        self._thresholds = self._settings.thresholds
        self._labeller, self._whole_input = labeller or RulesLabeller(), whole_input
        if self._settings.method == "whole_input" and whole_input is None:
            raise ValueError("the method whole_input needs its classifier")

    async def assess(self, question: str, kind: str, first_look: Differential | None) -> GateDecision:
        """Assess a stand-alone question, in a thread. A question about no patient always retrieves."""
        return await asyncio.to_thread(self.assess_now, question, kind, first_look)

    def assess_now(self, question: str, kind: str, first_look: Differential | None) -> GateDecision:
        """The same, for callers without an event loop."""
        labelled = self._labeller.label(question, first_look)
        published = information_score([u.label for u in labelled], self._settings)
        theta1, theta2 = self._thresholds
        common: dict[str, Any] = {"theta1": theta1, "theta2": theta2, "units": labelled}
        if self._settings.method in FIXED:
            fixed, reason = FIXED[self._settings.method]
            return GateDecision(decision=fixed, score=published, parts={"i_norm": published}, reason=reason, **common)
        if kind not in CASE:
            reason = "a question about no particular patient is answered from evidence"
            return GateDecision(
                decision=Decision.RETRIEVE, score=published, parts={"i_norm": published}, reason=reason, **common
            )
        covered = told_of(question, first_look)
        lacking = missing(covered.stated, question)
        scored = self._scored(question, labelled, covered, first_look)
        decision = decide(scored.score, theta1, theta2)
        judged = GateDecision(
            decision=decision,
            score=scored.score,
            parts={"i_norm": published, **_parts(covered, first_look)},
            missing=lacking,
            turning=scored.turning,
            question=next_question(question, lacking, first_look),
            reason=f"{scored.told} against {theta1:.2f} and {theta2:.2f}: {VERDICTS[decision]}",
            **common,
        )
        return held_at_the_edge(judged, first_look)

    def _scored(
        self, question: str, labelled: tuple[Unit, ...], covered: Coverage, first_look: Differential | None
    ) -> Scored:
        thresholds = self._thresholds
        if self._settings.method == "published":
            score = information_score([u.label for u in labelled], self._settings)
            turning = turning_by_labels(labelled, decide(score, *thresholds), self._settings)
            return Scored(score, f"I_norm {score:.2f}", turning)
        if self._whole_input is not None and self._settings.method == "whole_input":
            score = self._whole_input(question)
            return Scored(score, f"by the text as a whole the probability that the first look is right is {score:.2f}")
        model = load_model(self._settings.calibration or SHIPPED)
        look = first_look or Differential()
        read = labelled if isinstance(self._labeller, RulesLabeller) else units(question, first_look)
        case = case_features(read, covered.total, look)
        score = model.probability(case)
        turning = turning_by_probability(model, case, read, look, decide(score, *thresholds), thresholds)
        return Scored(score, _told(score, case, model, look), turning)


def told_of(question: str, first_look: Differential | None) -> Coverage:
    """Coverage of a case; findings of the look-up (answers to our questions among them) count beside the text's own."""
    findings = () if first_look is None else first_look.findings
    present = len({f.id for f in findings if f.id and f.present})
    denied = [c for c in clauses(question) if c.present is False]
    absent = {f.id for f in findings if f.id and f.present is False}
    return coverage(question, present, max(len(denied), len(absent)))


def _parts(covered: Coverage, look: Differential | None) -> dict[str, float]:
    ranked = look is not None and bool(look.ranking)
    return {
        "coverage": covered.total,
        "margin": max(0.0, look.margin) if look is not None and ranked else 0.0,
        "entropy": max(0.0, 1.0 - look.entropy / UNSURE) if look is not None and ranked else 0.0,
        **{f"states_{name}": value for name, value in covered.stated.items()},
    }


def _told(score: float, case: CaseFeatures, model: CalibratedModel, look: Differential) -> str:
    if not case.leader:
        return "no diagnosis leads, so the probability that the first look is right is 0.00"
    known = model.leaders.get(case.leader)
    seen = (
        f"it was in {known.right} of the {known.led} calibration cases that it led"
        if known
        else "it led no calibration case"
    )
    return f"probability {score:.2f} that {look.ranking[0].name} is right ({seen})"
