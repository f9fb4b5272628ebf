"""Completeness scores: the published I_norm, and ours (coverage of what a case should state, and the first look-up).

I_norm divides by the number of units, so that it rises as unimportant sentences are taken away and falls as they are
added; it is kept as the published configuration. Our score is a weighted coverage of kinds of information, to which
the margin and the entropy of the first look-up are added.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field, model_validator

from graphs.completeness.contract import Decision, Label
from tools.contract import Differential


class GateSettings(BaseModel):
    """Settings of the gate. The paper publishes none of its constants; all values are ours.

    Attributes:
        method: ``ours``; ``published`` for I_norm of ICA-RAG; ``retrieve`` always retrieves and ``direct`` never does,
            for methods without a gate and arms of ablations.
        self_judged: where the gate is a language model's, its bare verdict stands, without rules (a comparator).
        alpha, beta, gamma: weights of the labels A, B and C in I_norm.
        theta1, theta2: above theta1 direct, below theta2 retrieve with a warning, equality and between retrieve.
        published_theta1, published_theta2: the same for I_norm.
        coverage_weight, margin_weight, entropy_weight: weights of the parts of our score; they sum to 1.
        full_margin: margin of the first look-up from which it counts in full.
        full_entropy: entropy in bits at and above which the ranking says nothing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: str = Field(default="ours", pattern="^(ours|published|retrieve|direct)$")
    self_judged: bool = False
    alpha: float = Field(default=1.0, gt=0)
    beta: float = Field(default=0.5, ge=0)
    gamma: float = Field(default=0.0, ge=0)
    theta1: float = 0.80
    theta2: float = 0.40
    published_theta1: float = 0.6
    published_theta2: float = 0.3
    coverage_weight: float = 0.6
    margin_weight: float = 0.25
    entropy_weight: float = 0.15
    full_margin: float = Field(default=0.4, gt=0)
    full_entropy: float = Field(default=4.0, gt=0)

    @model_validator(mode="after")
    def _check(self) -> GateSettings:
        if self.theta1 <= self.theta2 or self.published_theta1 <= self.published_theta2:
            raise ValueError("theta1 must be greater than theta2")
        if not math.isclose(self.coverage_weight + self.margin_weight + self.entropy_weight, 1.0):
            raise ValueError("the weights of the score must sum to 1")
        return self

    @property
    def thresholds(self) -> tuple[float, float]:
        """theta1 and theta2 of the method in use."""
        published = self.method == "published"
        return (self.published_theta1, self.published_theta2) if published else (self.theta1, self.theta2)


def information_score(labels: Sequence[Label], settings: GateSettings) -> float:
    """I_norm = (1 / (alpha n)) * sum(alpha [A] + beta [B] + gamma [C]) (ICA-RAG, paper); 0 without units."""
    if not labels:
        return 0.0
    weight = {Label.A: settings.alpha, Label.B: settings.beta, Label.C: settings.gamma}
    return sum(weight[label] for label in labels) / (settings.alpha * len(labels))


def margin_part(first_look: Differential | None, settings: GateSettings) -> float:
    """How clearly the first look-up leads, 0..1; 0 without a ranking."""
    if first_look is None or not first_look.ranking:
        return 0.0
    return min(1.0, max(0.0, first_look.margin) / settings.full_margin)


def entropy_part(first_look: Differential | None, settings: GateSettings) -> float:
    """How concentrated the first look-up is, 0..1; 0 without a ranking."""
    if first_look is None or not first_look.ranking:
        return 0.0
    return max(0.0, 1.0 - first_look.entropy / settings.full_entropy)


def our_score(parts: Mapping[str, float], settings: GateSettings) -> float:
    """The weighted sum of coverage, margin and entropy, 0..1."""
    return (
        settings.coverage_weight * parts["coverage"]
        + settings.margin_weight * parts["margin"]
        + settings.entropy_weight * parts["entropy"]
    )


def decide(score: float, theta1: float, theta2: float) -> Decision:
    """Above theta1 direct; below theta2 retrieve with a warning; between, and on equality, retrieve."""
    if score > theta1:
        return Decision.DIRECT
    return Decision.RETRIEVE_WITH_WARNING if score < theta2 else Decision.RETRIEVE
