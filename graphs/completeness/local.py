"""The completeness gate without a model: sentences, what a case should state, and the first look-up."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from graphs.completeness.calibrated import (
    LEAST,
    SHIPPED,
    CalibratedModel,
    CaseFeatures,
    WholeInputGate,
    case_features,
    load_model,
    support,
)
from graphs.completeness.contract import Decision, GateDecision, Label, Turning, Unit
from graphs.completeness.labellers import Labeller, RulesLabeller, open_labeller
from graphs.completeness.labels import KINDS, Coverage, coverage, missing, units
from graphs.completeness.score import GateSettings, decide, information_score
from tools.contract import Differential, Finding
from tools.encoders import Encoder
from tools.text.clauses import clauses
from tools.text.language import language_of

# Beyond the edge of the graph nothing is enough: a case that no known disease explains is never answered directly.
BEYOND = "no disease that the graph holds explains these findings well, so evidence is retrieved"
UNSURE = "it is not likely enough that a disease that the graph holds explains these findings, so evidence is retrieved"
UNREAD = "too much of the case was not understood, so evidence is retrieved"
MOST_UNREAD = 3  # ours: clauses that tell something and were not understood, from which nothing is enough
# ours: below it the direct path is closed; beyond it closed no more of the outside cases fitted on
LIKELY_ENOUGH = 0.35
EXPLAINED = "explained"  # the part that tells how probably a disease of the graph explains the case


def held_at_the_edge(decision: GateDecision, first_look: Differential | None) -> GateDecision:
    """The decision, but retrieve in place of direct where the first look-up does not explain or understand the case."""
    if first_look is None:
        return decision
    if first_look.explained is not None:
        parts = {**decision.parts, EXPLAINED: first_look.explained}
        decision = decision.model_copy(update={"parts": parts})
    unread = len(first_look.unread) >= MOST_UNREAD
    unsure = first_look.explained is not None and first_look.explained < LIKELY_ENOUGH
    if decision.decision is not Decision.DIRECT or not (first_look.outside or unsure or unread):
        return decision
    reason = BEYOND if first_look.outside else UNSURE if unsure else UNREAD
    return decision.model_copy(update={"decision": Decision.RETRIEVE, "reason": reason, "turning": None})


# The unit on which the decision turns, and the question that would supply what is missing.
def next_question(text: str, missing: Sequence[str], first_look: Differential | None) -> str:
    """The graph's best question, else one about the first kind of information that is missing; "" where nothing is."""
    if first_look is not None and first_look.questions:
        return first_look.questions[0].text
    chinese = language_of(text) == "zh"
    asked = {k.zh: k.ask_zh for k in KINDS} if chinese else {k.en: k.ask_en for k in KINDS}
    return next((asked[kind] for kind in missing if kind in asked), "")


def turning_by_labels(units: Sequence[Unit], decision: Decision, settings: GateSettings) -> Turning | None:
    """The unit without which I_norm decides otherwise: exact."""
    labels = [u.label for u in units]
    scores = [information_score(labels[:n] + labels[n + 1 :], settings) for n in range(len(labels))]
    return _most_telling(scores, decision, information_score(labels, settings), settings.thresholds)


def turning_by_probability(
    model: CalibratedModel,
    case: CaseFeatures,
    units: Sequence[Unit],
    look: Differential,
    decision: Decision,
    thresholds: tuple[float, float],
) -> Turning | None:
    """The unit without which the calibrated gate decides otherwise.

    The case is not looked up again: the unit's findings are taken out of the first look-up. The leader's lead is taken
    to be shared by the findings that speak for it and not for the runner-up, as their confidences are; votes and
    coverage stay. So it approximates, and a unit that would put another disease first is seen only as a lost lead.
    """
    if not case.leader or len(units) < 2:
        return None
    shares = support(units, look)
    scores = [model.probability(without(case, units, n, look, shares[n])) for n in range(len(units))]
    return _most_telling(scores, decision, model.probability(case), thresholds)


def without(case: CaseFeatures, units: Sequence[Unit], gone: int, look: Differential, share: float) -> CaseFeatures:
    """The features as they would be without a unit on which ``share`` of the lead rests."""
    unit = units[gone]
    inside = [f for f in look.findings if unit.start <= f.start < unit.end]
    elsewhere = {_signed(f) for f in look.findings if not unit.start <= f.start < unit.end}
    count, left = len(units), max(1, len(units) - 1)
    values = {
        **case.values,
        **_less_lead(case.values, look, share),
        "units": case.values["units"] - 1,
        "recognised": (case.values["recognised"] * count - bool(inside)) / left,
        "unread": case.values["unread"] - (not inside and unit.label is not Label.C),
        "present": case.values["present"] - sum(bool(f.present) for f in inside),
        "critical": (case.values["critical"] * count - (unit.label is Label.A)) / left,
    }
    return CaseFeatures(values, case.leader, frozenset(f for f in case.stated if f in elsewhere))


def _signed(finding: Finding) -> str:
    return ("-" if finding.present is False else "") + finding.id


def _less_lead(values: dict[str, float], look: Differential, share: float) -> dict[str, float]:
    """The features of the ranking when a share of the lead is gone; the others keep their order and proportions."""
    lost = share * max(0.0, values["lead"])
    top = look.ranking[0].score
    scaled = top * math.exp(-lost)
    now = scaled / (1 - top + scaled) if top < 1 else top
    second = look.ranking[1].score if len(look.ranking) > 1 else 0.0
    rest = 1 - top
    spread = (values["entropy"] - _binary(top)) / rest if rest > LEAST else 0.0
    return {
        "odds": math.log(max(now, LEAST)) - math.log(max(1 - now, LEAST)),
        "lead": values["lead"] - lost,
        "lead_third": values["lead_third"] - lost,
        "margin": now - (second * (1 - now) / rest if rest > LEAST else 0.0),
        "entropy": _binary(now) + (1 - now) * max(0.0, spread),
    }


def _binary(share: float) -> float:
    """Entropy in bits of one share against all others."""
    return -sum(p * math.log2(p) for p in (share, 1 - share) if p > 0)


def _most_telling(
    scores: Sequence[float], decision: Decision, whole: float, thresholds: tuple[float, float]
) -> Turning | None:
    """Of the units that flip between direct and retrieve, the one that moves the score most; the first of equals."""
    direct = decision is Decision.DIRECT
    decided = [decide(score, *thresholds) for score in scores]
    flips = [n for n, d in enumerate(decided) if (d is Decision.DIRECT) != direct]
    if not flips:
        return None
    most = max(flips, key=lambda n: (abs(scores[n] - whole), -n))
    return Turning(unit=most, decision=decided[most], score=scores[most])


CASE = ("case", "follow_up")
VAGUE = 4.0  # ours: entropy in bits at which the shown part "entropy" is 0
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
        "entropy": max(0.0, 1.0 - look.entropy / VAGUE) if look is not None and ranked else 0.0,
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


# The gate of the settings, with what its method needs.
def open_gate(settings: GateSettings, encoder: Encoder) -> CompletenessGateLocal:
    """The gate without a model.

    Raises:
        InputError: a trained classifier is asked for and none is named.
        DataError: a calibration or a classifier is damaged, or was made with another encoder.
    """
    labeller = open_labeller(settings.labels, settings.classifier, encoder)
    whole_input = WholeInputGate(encoder) if settings.method == "whole_input" else None
    return CompletenessGateLocal(settings, labeller, whole_input)
