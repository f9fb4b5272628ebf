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
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field, ValidationError, model_validator

from graphs.completeness.contract import Label, Unit
from prompts.errors import DataError
from tools.contract import Differential, Finding
from tools.encoders import Encoder
from tools.evidence import Frozen

# What the calibrated gate looks at: features of a case and its first look-up, known before retrieval.

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


# A gate over the whole input, after Adaptive-RAG's idea: one small classifier of a text's embedding and its length.
#
# It is the comparator that ICA-RAG argues against: it sees neither the sentences nor the first look-up.
WHOLE_INPUT = Path(__file__).parent / "whole_input.json"


class WholeInputHead(Frozen):
    """A logistic regression on an embedding of unit length and the logarithm of the number of characters.

    Attributes:
        encoder: whose embedding. weights: (dimension + 1,), the length's last. slope, offset, risks, card: as of
            `CalibratedModel`.
    """

    encoder: str
    weights: tuple[float, ...]
    constant: float
    slope: float = 1.0
    offset: float = 0.0
    risks: tuple[tuple[float, float], ...] = ()
    card: dict[str, object] = Field(default_factory=dict)

    def raw(self, values: Sequence[float]) -> float:
        """The log-odds before calibration of what `inputs` gives."""
        return float(np.dot(self.weights, values)) + self.constant

    def probability(self, values: Sequence[float]) -> float:
        """Probability that a direct answer is right, 0..1."""
        return sigmoid(self.slope * self.raw(values) + self.offset)

    def threshold(self, risk: float) -> float:
        """As of `CalibratedModel`."""
        return threshold_of(self.risks, risk)


def inputs(text: str, embedding: Sequence[float]) -> list[float]:
    """What the head sees: the embedding, each value of about unit variance, and the length."""
    spread = math.sqrt(len(embedding))
    return [*(spread * float(v) for v in embedding), math.log(max(1, len(text)))]


@cache
def load_head(path: Path = WHOLE_INPUT) -> WholeInputHead:
    """A head from its file, read once. Raises DataError for one that is missing or damaged."""
    try:
        return WholeInputHead.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, ValidationError) as error:
        raise DataError(f"{path} is no classifier of whole inputs.", "Install the package again.") from error


class WholeInputGate:
    """The shipped head with the encoder that it was fitted on. Raises DataError with another encoder."""

    def __init__(self, encoder: Encoder, head: WholeInputHead | None = None) -> None:
        self._encoder, self._head = encoder, head or load_head()
        if self._head.encoder != encoder.name:
            raise DataError(
                f"The gate over the whole input was fitted on {self._head.encoder}, not on {encoder.name}.",
                "Use the built-in encoder with it, or another gate.method.",
            )

    def __call__(self, text: str) -> float:
        """Probability that a direct answer is right, 0..1."""
        return self._head.probability(inputs(text, self._encoder.encode_queries([text])[0].tolist()))
