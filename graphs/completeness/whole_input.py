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
from pydantic import Field, ValidationError

from graphs.completeness.calibrated import sigmoid, threshold_of
from prompts.errors import DataError
from tools.encoders import Encoder
from tools.evidence import Frozen

WHOLE_INPUT = Path(__file__).parent / "whole_input.json"


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
