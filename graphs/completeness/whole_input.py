"""A gate over the whole input, after Adaptive-RAG's idea: one small classifier of a text's embedding and its length.

It is the comparator that ICA-RAG argues against: it sees neither the sentences nor the first look-up.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from graphs.completeness.calibrated import sigmoid, threshold_of
from graphs.completeness.calibration import FOLDS, folds_of, platt
from graphs.completeness.risk import risk_table
from prompts.errors import DataError
from tools.encoders import Encoder
from tools.evidence import Frozen

WHOLE_INPUT = Path(__file__).parent / "whole_input.json"
PENALTY = 10.0  # ours: of a squared weight, over values of unit variance; between 3 and 100 it changed little
DIGITS = 4  # ours: of a weight in the file
Matrix = NDArray[np.float64]


class WholeInputHead(Frozen):
    """A logistic regression on an embedding of unit length and the logarithm of the number of characters.

    Attributes:
        encoder: whose embedding. weights: (dimension + 1,), the length's last. slope, offset, risks, card: as of
            `graphs.completeness.calibrated.CalibratedModel`.
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


def fit_head(values: Matrix, right: Sequence[bool], encoder: str) -> WholeInputHead:
    """The uncalibrated head by penalised maximum likelihood; ``values``: (cases, dimension + 1)."""
    from scipy.optimize import minimize

    means, signed = values.mean(axis=0), np.where(np.asarray(right), 1.0, -1.0)
    x = values - means

    def loss(w: Matrix) -> tuple[float, Matrix]:
        margins = signed * (x @ w[:-1] + w[-1])
        slope = -signed / (1 + np.exp(np.clip(margins, -500, 500)))
        value = float(np.logaddexp(0, -margins).sum() + PENALTY / 2 * (w[:-1] ** 2).sum())
        return value, np.append(x.T @ slope + PENALTY * w[:-1], slope.sum())

    found = minimize(loss, np.zeros(values.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 300}).x
    constant = float(found[-1] - means @ found[:-1])
    return WholeInputHead(encoder=encoder, weights=tuple(_short(w) for w in found[:-1]), constant=_short(constant))


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


@cache
def load_head(path: Path = WHOLE_INPUT) -> WholeInputHead:
    """A head from its file, read once. Raises DataError for one that is missing or damaged."""
    try:
        return WholeInputHead.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, ValidationError) as error:
        raise DataError(f"{path} is no classifier of whole inputs.", "Install the package again.") from error


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


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
