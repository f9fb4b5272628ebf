"""Retrieval per source (MedRGAG): 32 documents of each by BM25, a cross-encoder over all of them, the best few.

A source is PubMed or its mirror, the starter library, the user's documents, or a built collection: each gives its own
first, so that none crowds another out. PubMed's order by the words of the question is BM25 over a mirror, and Best
Match at NCBI, which is BM25 and more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tools.contract import Notice
from tools.evidence import Evidence, Found
from tools.fusion import balanced_pool
from tools.passages.contract import evidence_text

PER_SOURCE = 32  # paper
STREAM = "cross_encoder"


class Reranker(Protocol):
    """Reads a question and texts together. ``name`` says which model that is."""

    name: str

    def rerank(self, query: str, articles: Sequence[str]) -> NDArray[np.float32]:
        """Array (len(articles),): higher is more relevant."""


class Pooled(NamedTuple):
    """The best documents of all sources, and the step of the strategy that tells what each source gave."""

    evidence: list[Evidence]
    step: dict[str, object]


def best_of(query: str, sources: Mapping[str, Sequence[Evidence]], reranker: Reranker, limit: int, tool: str) -> Pooled:
    """At most ``limit`` documents of all sources in the reranker's order; equal scores keep the order of the pool.

    Args:
        sources: documents by source, best first; more than `PER_SOURCE` of one are left out.
    """
    known: dict[str, Evidence] = {}
    for found in sources.values():
        for item in found:
            known.setdefault(item.document_id, item)
    pool = balanced_pool({name: [e.document_id for e in found] for name, found in sources.items()}, PER_SOURCE)
    scores = reranker.rerank(query, [evidence_text(known[key]) for key in pool]) if pool else np.empty(0)
    order = np.argsort(-scores, kind="stable")[:limit].tolist()
    evidence = []
    for place, at in enumerate(order, start=1):
        item = known[pool[at]]
        way = Found(tool=tool, stream=STREAM, query=query, rank=place, score=round(float(scores[at]), 6))
        evidence.append(item.model_copy(update={"found": (*item.found, way)}))
    counts = {name: min(len(found), PER_SOURCE) for name, found in sources.items()}
    return Pooled(evidence, {"step": "reranked", "sources": counts, "pool": len(pool), "by": reranker.name})


def notice_of(reranker: Reranker, *, published: str) -> list[Notice]:
    """That another model than the published one ordered the documents; nothing where it is that one."""
    if reranker.name == published:
        return []
    text = f"The documents were ordered by {reranker.name}, because {published} is not configured."
    return [Notice(code="reranked_otherwise", text=text)]
