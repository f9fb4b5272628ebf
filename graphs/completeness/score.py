"""The gate's settings and thresholds, and the published score.

I_norm divides by the number of units, so that it rises as unimportant sentences are taken away and falls as they are
added; it is kept as the published configuration. Our score is a calibrated probability
(`graphs.completeness.calibrated`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from graphs.completeness.calibrated import SHIPPED, WHOLE_INPUT, load_head, load_model
from graphs.completeness.contract import Decision, Label


class GateSettings(BaseModel):
    """Settings of the gate. The paper publishes none of its constants; all values are ours.

    Attributes:
        method: ``ours``; ``published`` for I_norm of ICA-RAG; ``whole_input`` for one small classifier over the whole
            text, after Adaptive-RAG; ``retrieve`` always retrieves and ``direct`` never does, for methods without a
            gate and arms of ablations.
        self_judged: where the gate is a language model's, its bare verdict stands, without rules (a comparator).
        risk: at most this share of direct answers may be wrong; theta1 follows from it by the calibration.
        calibration: a file of `anamnesis eval calibrate`; None for the one that is shipped.
        theta1, theta2: above theta1 direct, below theta2 retrieve with a warning, equality and between retrieve; a
            theta1 stands in place of the one that ``risk`` gives.
        alpha, beta, gamma: weights of the labels A, B and C in I_norm.
        published_theta1, published_theta2: thresholds of I_norm.
        labels: who labels the sentences: open ``rules``, the light ``head``, or a ``trained`` classifier.
        classifier: folder of the trained classifier, or file of a head other than the shipped one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: Literal["ours", "published", "whole_input", "retrieve", "direct"] = "ours"
    self_judged: bool = False
    risk: float = Field(default=0.05, gt=0, lt=1)  # asked of the gate: of direct answers one in twenty may be wrong
    calibration: Path | None = None
    theta1: float | None = Field(default=None, ge=0, le=1)
    theta2: float = Field(default=0.4, ge=0, le=1)
    alpha: float = Field(default=1.0, gt=0)
    beta: float = Field(default=0.5, ge=0)
    gamma: float = Field(default=0.0, ge=0)
    published_theta1: float = Field(default=0.6, ge=0, le=1)
    published_theta2: float = Field(default=0.3, ge=0, le=1)
    labels: Literal["rules", "head", "trained"] = "rules"
    classifier: Path | None = None

    @field_validator("calibration", "classifier", mode="before")
    @classmethod
    def _set(cls, value: object) -> object:
        """An empty variable of the environment is none."""
        return None if value == "" else value

    @model_validator(mode="after")
    def _check(self) -> GateSettings:
        if (self.theta1 is not None and self.theta1 <= self.theta2) or self.published_theta1 <= self.published_theta2:
            raise ValueError("theta1 must be greater than theta2")
        return self

    @property
    def thresholds(self) -> tuple[float, float]:
        """theta1 and theta2 of the method in use. Raises DataError for a calibration that cannot be read."""
        if self.method == "published":
            return self.published_theta1, self.published_theta2
        theta1 = self.theta1
        if theta1 is None:
            whole = self.method == "whole_input"
            theta1 = (load_head(WHOLE_INPUT) if whole else load_model(self.calibration or SHIPPED)).threshold(self.risk)
        return max(theta1, self.theta2), self.theta2  # nothing is answered directly where a warning is due


def information_score(labels: Sequence[Label], settings: GateSettings) -> float:
    """I_norm = (1 / (alpha n)) * sum(alpha [A] + beta [B] + gamma [C]) (ICA-RAG, paper); 0 without units."""
    if not labels:
        return 0.0
    weight = {Label.A: settings.alpha, Label.B: settings.beta, Label.C: settings.gamma}
    return sum(weight[label] for label in labels) / (settings.alpha * len(labels))


def decide(score: float, theta1: float, theta2: float) -> Decision:
    """Above theta1 direct; below theta2 retrieve with a warning; between, and on equality, retrieve."""
    if score > theta1:
        return Decision.DIRECT
    return Decision.RETRIEVE_WITH_WARNING if score < theta2 else Decision.RETRIEVE
