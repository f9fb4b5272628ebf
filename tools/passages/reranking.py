"""The last look of the second stage: a cross-encoder reads the best passages together with the query.

Without one on disk the fused order stays: a scorer out of the encoder at hand made it worse (docs/passages.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tools.passages.search import Ranked

DEPTH = 32  # ours: passages that are read together with the query, as MedRGAG reranks 32 of a source
STREAM = "cross_encoder"


class CrossEncoder(Protocol):
    """Reads a query and texts together (`tools.literature.medcpt.reranking` has MedCPT's)."""

    def rerank(self, query: str, articles: Sequence[str]) -> NDArray[np.float32]:
        """Array (len(articles),): higher is more relevant."""


def reranked(query: str, ranked: Sequence[Ranked], reader: CrossEncoder | None, depth: int = DEPTH) -> list[Ranked]:
    """The first ``depth`` passages in the cross-encoder's order, each with its rank and score there; then the rest.

    Equal scores keep the order of before. Without a cross-encoder nothing changes.
    """
    if reader is None or not ranked:
        return list(ranked)
    head = ranked[:depth]
    scores = reader.rerank(query, [r.row.passage.embedded_text(r.row.document.text) for r in head])
    order = np.argsort(-scores, kind="stable").tolist()
    best = [
        head[i]._replace(streams={**head[i].streams, STREAM: (place, float(scores[i]))})
        for place, i in enumerate(order, start=1)
    ]
    return [*best, *ranked[depth:]]
