"""Whether a case lies beyond what one graph knows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tools.encoders import Encoder
from tools.knowledge_graph.edge.features import EdgeFeatures, Look
from tools.knowledge_graph.edge.model import EdgeWeights, load_edge
from tools.knowledge_graph.edge.near import Names
from tools.knowledge_graph.observations import Reading
from tools.knowledge_graph.ranking import Ranker
from tools.knowledge_graph.schema import Graph
from tools.text.language import language_of

TOLD = 3  # ours: clauses that state something, from which a case of which nothing is read lies beyond the graph


class Edge:
    """The edge of one graph.

    Args:
        graph: the graph. ranker: of its diseases. encoder: reads the case's text.
        cache_folder: where the vectors of names lie. content: hash of the graph's files.
        starter: it is the starter graph, the only one that the model was calibrated for.
    """

    def __init__(
        self,
        graph: Graph,
        ranker: Ranker,
        encoder: Encoder,
        cache_folder: Path,
        content: str,
        *,
        starter: bool,
    ) -> None:
        self._model = load_edge()
        self._valid = starter and self._model.encoder == encoder.name
        self._features = EdgeFeatures(graph, ranker)
        self._names = Names(graph, encoder, cache_folder / f"edge-{graph.about.name}.npz", content)

    def build(self) -> None:
        """Make what the edge is judged by, where it is judged: vectors of names, in some seconds."""
        if self._valid:
            self._names.build()

    def probability(self, case: str, read: Reading, log_scores: NDArray[np.float64]) -> float | None:
        """The probability that a disease of the graph explains the case; None where nothing was calibrated for it."""
        weights = self._weights(case)
        if weights is None or not read.standing.seen:
            return None
        return round(weights.probability(self.features(case, read, log_scores)), 4)

    def outside(self, case: str, explained: float | None) -> bool:
        """Whether a case of this probability is told as one that no disease of the graph explains well."""
        weights = self._weights(case)
        return weights is not None and explained is not None and explained < weights.least

    def unread(self, case: str, read: Reading) -> bool:
        """Whether a case in which nothing was read told enough to lie beyond the graph."""
        stated = [c for c in read.told if c.present is not False and not c.other]
        return self._weights(case) is not None and len(stated) >= TOLD

    def features(
        self, case: str, read: Reading, log_scores: NDArray[np.float64], without: str = ""
    ) -> dict[str, float]:
        """The features of a case; ``without`` takes a disease out of the graph."""
        near = self._names.of(case) if language_of(case) == "en" else None
        return self._features.of(Look(read, log_scores, near), without)

    def _weights(self, case: str) -> EdgeWeights | None:
        return self._model.languages.get(language_of(case)) if self._valid else None
