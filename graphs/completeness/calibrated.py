"""The calibrated gate's model: the probability that the first look-up's leader is right.

A logistic regression in two storeys: weights for all cases, and for each leading disease what differs from them (how
often it is right when it leads, how much each feature tells there, which stated findings confirm it). The second storey
is shrunk towards the first, so that a disease with few calibration cases is judged like any other.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from graphs.completeness.features import PARTS, CaseFeatures
from prompts.errors import DataError
from tools.evidence import Frozen

SHIPPED = Path(__file__).parent / "calibrated.json"
KNOWN = frozenset(name for part in PARTS.values() for name in part)
FARTHEST = 4.0  # ours: a feature further than this many standard deviations from the mean counts as so far


class LeaderWeights(Frozen):
    """What differs while one disease leads: the constant, the weight of each feature and of each stated finding.

    ``led`` and ``right``: in how many calibration cases it led, and in how many of them it was right.
    """

    led: int = 0
    right: int = 0
    constant: float = 0.0
    features: tuple[float, ...] = ()
    findings: dict[str, float] = Field(default_factory=dict)


class CalibratedModel(Frozen):
    """A fitted and calibrated model.

    Attributes:
        names: the features, in the order of ``means``, ``scales`` and ``weights``.
        leaders: by id of the leading disease.
        spread: standard deviation of what leaders differ by: an unknown one's probability is drawn to the middle by it.
        slope, offset: of the calibration (Platt 1999), from predictions for held-out cases.
        risks: pairs of a probability and the upper bound of the share of wrong answers among calibration cases above
            it, falling in risk.
        card: what it was fitted on.
    """

    names: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]
    constant: float
    leaders: dict[str, LeaderWeights] = Field(default_factory=dict)
    spread: float = 0.0
    slope: float = 1.0
    offset: float = 0.0
    risks: tuple[tuple[float, float], ...] = ()
    card: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> CalibratedModel:
        if unknown := set(self.names) - KNOWN:
            raise ValueError(f"no features of a case: {', '.join(sorted(unknown))}")
        if {len(self.means), len(self.scales), len(self.weights)} != {len(self.names)}:
            raise ValueError("means, scales and weights are not one for each feature")
        if any(len(own.features) not in (0, len(self.names)) for own in self.leaders.values()):
            raise ValueError("a leader's weights are not one for each feature")
        if not all(scale > 0 for scale in self.scales):
            raise ValueError("a scale is not greater than 0")
        return self

    def probability(self, case: CaseFeatures) -> float:
        """Probability that the leader is right, 0..1; 0 where nothing leads."""
        return sigmoid(self.slope * self.raw(case) + self.offset) if case.leader else 0.0

    def raw(self, case: CaseFeatures) -> float:
        """The log-odds before calibration."""
        x = self.standardised(case.values)
        general = self.constant + sum(w * v for w, v in zip(self.weights, x, strict=True))
        own = self.leaders.get(case.leader)
        if own is None:  # the mean over what an unknown leader may differ by (MacKay 1992)
            return general / math.sqrt(1 + math.pi / 8 * self.spread**2)
        stated = sum(own.findings.get(f, 0.0) for f in case.stated)
        return general + own.constant + sum(w * v for w, v in zip(own.features, x, strict=False)) + stated

    def standardised(self, values: Mapping[str, float]) -> list[float]:
        """The features, each less its mean over its standard deviation."""
        return [
            max(-FARTHEST, min(FARTHEST, (values[name] - mean) / scale))
            for name, mean, scale in zip(self.names, self.means, self.scales, strict=True)
        ]

    def threshold(self, risk: float) -> float:
        """The least probability above which at most this share is wrong, by the calibration cases; 1 where none is."""
        return threshold_of(self.risks, risk)


def threshold_of(risks: Sequence[tuple[float, float]], risk: float) -> float:
    """The first probability of a table whose bound is at most ``risk``; 1 where none is."""
    return next((p for p, bound in risks if bound <= risk), 1.0)


def sigmoid(x: float) -> float:
    """The logistic function."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


@cache
def load_model(path: Path = SHIPPED) -> CalibratedModel:
    """A model from its file, read once. Raises DataError for one that is missing or damaged."""
    try:
        return CalibratedModel.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise DataError(
            f"The gate's calibration cannot be read: {path}: {error}.", "Check ANAMNESIS_GATE__CALIBRATION."
        ) from error
    except (ValueError, ValidationError) as error:
        raise DataError(
            f"{path} is no calibration of the gate.", "Make it again: `anamnesis eval calibrate`."
        ) from error
