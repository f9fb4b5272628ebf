"""Fitting the calibrated gate: weights, calibration on held-out predictions, and the risk at each threshold.

What is chosen (whether leaders have weights of their own) and what is calibrated rests on predictions for cases whose
group (a patient, or a disease) had no part in the fit. The gate over the whole input is fitted the same way.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphs.completeness.calibrated import (
    FARTHEST,
    KEPT,
    PARTS,
    CalibratedModel,
    CaseFeatures,
    LeaderWeights,
    WholeInputHead,
    sigmoid,
)

# How often the answers above a threshold are wrong, and the bound below which that share is believed to lie.
SURE = 0.95  # ours: confidence of the bound, one-sided
STEPS = 100  # ours: thresholds that are tried, at equal numbers of cases
# ours: the strictest threshold has so many cases above it, as a share and as a number: no bound of fewer is low
FIRST, FEWEST = 0.1, 100


def risk_table(
    scores: Sequence[float], right: Sequence[bool], groups: Sequence[Hashable]
) -> tuple[tuple[float, float], ...]:
    """Thresholds, lowest first, each with an upper bound of the share of wrong cases above it.

    Thresholds are tested from the strictest on, as Learn then Test does in a fixed sequence (Angelopoulos et al. 2021):
    a threshold is given the highest bound of all stricter ones, so that the first that fails ends the row.
    """
    order = np.argsort(-np.asarray(scores), kind="stable")
    ranked = [scores[i] for i in order]
    cuts = sorted({ranked[min(len(ranked) - 1, round(len(ranked) * s / STEPS))] for s in range(1, STEPS + 1)})
    out: list[tuple[float, float]] = []
    highest = 0.0
    for cut in reversed(cuts):
        above = [i for i in order if scores[i] > cut]
        if len(above) >= max(FEWEST, FIRST * len(ranked)):
            highest = max(highest, upper_bound([not right[i] for i in above], [groups[i] for i in above]))
            out.append((cut, highest))
    return tuple(reversed([(math.ceil(p * 1e4) / 1e4, round(bound, 4)) for p, bound in out]))


def upper_bound(wrong: Sequence[bool], groups: Sequence[Hashable]) -> float:
    """Upper bound of a share (Clopper and Pearson 1934), cases of a group counted as alike as they are.

    The number of cases is divided by the design effect: how much more the share varies when groups are drawn.
    """
    from scipy.stats import beta

    n, k = len(wrong), sum(wrong)
    if n == 0 or k == n:
        return 1.0
    share = k / n
    residuals: dict[Hashable, float] = {}
    for w, group in zip(wrong, groups, strict=True):
        residuals[group] = residuals.get(group, 0.0) + (w - share)
    effect = max(1.0, sum(r * r for r in residuals.values()) / (n * share * (1 - share))) if k else n / len(residuals)
    return float(beta.ppf(SURE, k / effect + 1, (n - k) / effect))


Matrix = NDArray[np.float64]

PENALTY = 1.0  # ours: of a squared weight, the features being standardised; halved and doubled it changed little
CONSTANT = 3.0  # ours: a leader's constant is free by this factor more than its other weights
CONFIRMING = 4  # ours: cases in which a finding was stated while a disease led, from which it has a weight
# ours: of a squared weight of the gate over the whole input, over values of unit variance; 3 to 100 changed little
WHOLE_PENALTY = 10.0
FOLDS = 5  # ours: parts of the cases for predictions of held-out cases
SMALLEST = 0.005  # ours: weights nearer to 0 are not kept
DIGITS = 4  # ours: of the weights that are kept


@dataclass(frozen=True)
class Example:
    """A case that the gate is fitted on.

    Attributes:
        right: whether the leader is the right disease. group: what is held out together. weight: in the fit.
    """

    features: CaseFeatures
    right: bool
    group: str
    weight: float = 1.0


@dataclass(frozen=True)
class Form:
    """What a model may use: the features, and whether leaders have weights of their own, and confirming findings."""

    names: tuple[str, ...] = tuple(n for part in KEPT for n in PARTS[part])
    leaders: bool = True
    findings: bool = True


def folds_of(groups: Sequence[str], folds: int, seed: int) -> list[int]:
    """The fold of each item: a group is in one fold whole, groups are dealt out in a seeded order."""
    names = sorted(set(groups))
    random.Random(seed).shuffle(names)  # noqa: S311
    place = {name: i % folds for i, name in enumerate(names)}
    return [place[g] for g in groups]


def calibrate(
    examples: Sequence[Example],
    forms: Sequence[Form] = (Form(),),
    *,
    groups: Sequence[str] | None = None,
    seed: int = 0,
    card: Mapping[str, Any] | None = None,
) -> CalibratedModel:
    """The model of the best form, calibrated.

    Args:
        examples: the cases. forms: what may be chosen from, by the likelihood of held-out groups.
        groups: what is held out together; None for the examples' own groups.
        card: what is told of the fit in the model's file.
    """
    held_together = list(groups) if groups is not None else [e.group for e in examples]
    fold = folds_of(held_together, FOLDS, seed)
    held_out = [_held_out(examples, fold, form) for form in forms]
    right = np.array([e.right for e in examples], dtype=float)
    leads = np.array([bool(e.features.leader) for e in examples])  # where nothing leads the probability is 0
    weight = np.array([e.weight for e in examples]) * leads
    lines = [platt(raw, right, weight) for raw in held_out]
    losses = [_loss(*line, raw, right, weight) for line, raw in zip(lines, held_out, strict=True)]
    best = int(np.argmin(losses))
    (slope, offset), raw = lines[best], held_out[best]
    told = np.array([sigmoid(slope * r + offset) for r in raw]) * leads
    model = fit(examples, forms[best])
    risks = risk_table(told.tolist(), [e.right for e in examples], held_together)
    return model.model_copy(
        update={"slope": slope, "offset": offset, "risks": risks, "card": {**(card or {}), "n": len(examples)}}
    )


def _held_out(examples: Sequence[Example], fold: Sequence[int], form: Form) -> Matrix:
    """Array (examples,): log-odds by models that saw no case of the example's fold."""
    out = np.zeros(len(examples))
    for held in sorted(set(fold)):
        model = fit([e for e, f in zip(examples, fold, strict=True) if f != held], form)
        for i, example in enumerate(examples):
            if fold[i] == held:
                out[i] = model.raw(example.features)
    return out


def fit(examples: Sequence[Example], form: Form) -> CalibratedModel:
    """The uncalibrated model by penalised maximum likelihood."""
    from scipy.optimize import minimize
    from scipy.sparse import csr_matrix

    values = np.array([[e.features.values[n] for n in form.names] for e in examples])
    means, scales = values.mean(axis=0), values.std(axis=0)
    scales = np.where(scales > 0, scales, 1.0)
    x = np.clip((values - means) / scales, -FARTHEST, FARTHEST)
    columns = _Columns(examples, form)
    design = csr_matrix(columns.design(examples, x))
    right = np.array([2.0 * e.right - 1.0 for e in examples])
    weight = np.array([e.weight for e in examples])

    def loss(w: Matrix) -> tuple[float, Matrix]:
        margins = right * (design @ w)
        slope = -right * weight / (1 + np.exp(np.clip(margins, -500, 500)))
        kept = np.append(w[:-1], 0.0)  # the constant is not penalised
        value = (weight * np.logaddexp(0, -margins)).sum() + PENALTY / 2 * (kept**2).sum()
        return float(value), design.T @ slope + PENALTY * kept

    found = minimize(loss, np.zeros(design.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return columns.model(found.x, design, means, scales)


class _Columns:
    """Columns of the design: features, then for each leader its own, then confirming findings, then the constant."""

    def __init__(self, examples: Sequence[Example], form: Form) -> None:
        self.form, self.width = form, len(form.names)
        leaders = sorted({e.features.leader for e in examples if e.features.leader}) if form.leaders else []
        self.leaders = {leader: n for n, leader in enumerate(leaders)}
        led = {d: [e.right for e in examples if e.features.leader == d] for d in leaders}
        self.counts = {d: (len(rights), sum(rights)) for d, rights in led.items()}
        counts = Counter((e.features.leader, f) for e in examples for f in e.features.stated)
        pairs = sorted(p for p, n in counts.items() if n >= CONFIRMING and p[0] in self.leaders)
        self.pairs = {pair: n for n, pair in enumerate(pairs if form.findings else [])}
        self.own = self.width + len(self.leaders) * (self.width + 1)  # the first column of the findings

    def design(self, examples: Sequence[Example], x: Matrix) -> Matrix:
        """Array (examples, columns)."""
        out = np.zeros((len(examples), self.own + len(self.pairs) + 1))
        out[:, : self.width], out[:, -1] = x, 1.0
        for i, example in enumerate(examples):
            leader = example.features.leader
            if leader not in self.leaders:
                continue
            at = self._at(leader)
            out[i, at : at + self.width], out[i, at + self.width] = x[i], CONSTANT
            for finding in example.features.stated:
                if (leader, finding) in self.pairs:
                    out[i, self.own + self.pairs[leader, finding]] = 1.0
        return out

    def _at(self, leader: str) -> int:
        return self.width + self.leaders[leader] * (self.width + 1)

    def model(self, w: Matrix, design: Any, means: Matrix, scales: Matrix) -> CalibratedModel:
        """The model of these weights."""
        leaders = {}
        for leader, (led, right) in self.counts.items():
            at = self._at(leader)
            own = {f: short(w[self.own + n]) for (d, f), n in self.pairs.items() if d == leader}
            leaders[leader] = LeaderWeights(
                led=led,
                right=right,
                constant=short(CONSTANT * w[at + self.width]),
                features=tuple(short(v) for v in w[at : at + self.width]),
                findings={f: v for f, v in own.items() if abs(v) >= SMALLEST},
            )
        differs = design[:, self.width : -1] @ w[self.width : -1] if leaders else np.zeros(1)
        return CalibratedModel(
            names=self.form.names,
            means=tuple(map(short, means)),
            scales=tuple(map(short, scales)),
            weights=tuple(map(short, w[: self.width])),
            constant=short(w[-1]),
            leaders=leaders,
            spread=short(float(np.std(differs))),
        )


def platt(raw: Matrix, right: Matrix, weight: Matrix) -> tuple[float, float]:
    """Slope (at least 0) and offset of the calibration that is likeliest for held-out predictions (Platt 1999)."""
    from scipy.optimize import minimize

    def loss(line: Matrix) -> float:
        return _loss(float(line[0]), float(line[1]), raw, right, weight)

    found = minimize(loss, np.array([1.0, 0.0]), method="L-BFGS-B", bounds=[(0.0, None), (None, None)])
    return short(found.x[0]), short(found.x[1])


def _loss(slope: float, offset: float, raw: Matrix, right: Matrix, weight: Matrix) -> float:
    """Mean log loss of calibrated predictions."""
    signed = np.where(right > 0, 1.0, -1.0) * (slope * raw + offset)
    return float((weight * np.logaddexp(0, -signed)).sum() / weight.sum())


def short(value: float) -> float:
    """A number as it is shipped."""
    return float(f"{value:.{DIGITS}g}")


def fit_head(values: Matrix, right: Sequence[bool], encoder: str) -> WholeInputHead:
    """The uncalibrated head by penalised maximum likelihood; ``values``: (cases, dimension + 1)."""
    from scipy.optimize import minimize

    means, signed = values.mean(axis=0), np.where(np.asarray(right), 1.0, -1.0)
    x = values - means

    def loss(w: Matrix) -> tuple[float, Matrix]:
        margins = signed * (x @ w[:-1] + w[-1])
        slope = -signed / (1 + np.exp(np.clip(margins, -500, 500)))
        value = float(np.logaddexp(0, -margins).sum() + WHOLE_PENALTY / 2 * (w[:-1] ** 2).sum())
        return value, np.append(x.T @ slope + WHOLE_PENALTY * w[:-1], slope.sum())

    found = minimize(loss, np.zeros(values.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 300}).x
    constant = float(found[-1] - means @ found[:-1])
    return WholeInputHead(encoder=encoder, weights=tuple(short(w) for w in found[:-1]), constant=short(constant))


def calibrated_head(values: Matrix, right: Sequence[bool], groups: Sequence[str], encoder: str) -> WholeInputHead:
    """The head, calibrated and with its risks on predictions for held-out groups; arguments as for `fit_head`."""
    fold = np.array(folds_of(groups, FOLDS, 0))
    hits, raw = np.asarray(right, dtype=bool), np.zeros(len(fold))
    for held in sorted(set(fold.tolist())):
        head = fit_head(values[fold != held], hits[fold != held].tolist(), encoder)
        raw[fold == held] = [head.raw(v) for v in values[fold == held].tolist()]
    slope, offset = platt(raw, hits.astype(float), np.ones(len(raw)))
    risks = risk_table([sigmoid(slope * r + offset) for r in raw], hits.tolist(), groups)
    head = fit_head(values, right, encoder)
    return head.model_copy(update={"slope": slope, "offset": offset, "risks": risks})
