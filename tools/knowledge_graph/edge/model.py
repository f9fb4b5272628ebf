"""The probability that a disease of the graph explains a case, by a small model of a few features.

A logistic regression, one for English and one for Chinese (where the embedded encoder cannot read, so that only the
graph's own features count), fitted by `anamnesis eval calibrate-outside` and kept beside this file. It holds for one
graph and one encoder: in another graph, or by another encoder, nothing is judged.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from prompts.errors import DataError
from tools.evidence import Frozen
from tools.knowledge_graph.edge.features import BY_GRAPH, BY_TEXT

SHIPPED = Path(__file__).with_name("edge.json")
FARTHEST = 3.0  # ours: a feature further than this many standard deviations from the mean counts as so far


class EdgeWeights(Frozen):
    """The weights of one language; ``least`` is the probability below which a case is outside."""

    names: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]
    constant: float
    least: float = Field(ge=0, le=1)

    @model_validator(mode="after")
    def _check(self) -> EdgeWeights:
        if set(self.names) - {*BY_GRAPH, *BY_TEXT}:
            raise ValueError("a feature that is not known")
        if {len(self.means), len(self.scales), len(self.weights)} != {len(self.names)} or min(self.scales) <= 0:
            raise ValueError("means, scales and weights are not one for each feature")
        return self

    def probability(self, features: Mapping[str, float]) -> float:
        """Probability that a disease of the graph explains the case, 0..1."""
        total = self.constant
        for name, mean, scale, weight in zip(self.names, self.means, self.scales, self.weights, strict=True):
            total += weight * max(-FARTHEST, min(FARTHEST, (features[name] - mean) / scale))
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, total))))


class EdgeModel(Frozen):
    """The models by language, the graph and the encoder that they hold for, and what they were fitted on."""

    graph: str
    encoder: str
    languages: dict[str, EdgeWeights]
    card: dict[str, Any] = Field(default_factory=dict)


@cache
def load_edge(path: Path = SHIPPED) -> EdgeModel:
    """A model from its file, read once. Raises DataError for one that is missing or damaged."""
    try:
        return EdgeModel.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, ValidationError) as error:
        advice = "Make it again: `anamnesis eval calibrate-outside`."
        raise DataError(f"{path.name} is no model of the graph's edge.", advice) from error
