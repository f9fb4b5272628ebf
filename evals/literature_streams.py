"""The streams of the literature evaluation: each gives PMIDs for a question, best first, and the time it took."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prompts.errors import InputError
from tools.fusion import reciprocal_rank_fusion
from tools.literature.hybrid import HybridCollection, best, order_pool

if TYPE_CHECKING:
    from evals.datasets.literature import LiteratureQuestion
    from tools.encoders import Vectors
    from tools.literature.adapt_e.contract import QueryPlanner, SearchPlan
    from tools.literature.ladder import Climb
    from tools.mirror.engine import Mirror

STREAMS = ("raw", "adapt_e", "bm25", "dense", "rrf_plain", "cometa", "hybrid", "pool_rrf", "pool_weighted")
DEPTH = 100  # ours: documents that a stream gives to a fusion
ENOUGH = 20  # ours: as the setting of the literature tool; also recall@20


class Found(NamedTuple):
    """What a stream found, and the milliseconds beyond the encoder's own."""

    ids: list[str]
    ms: float


class Answer(NamedTuple):
    """Every stream's result for a question, with the ladder that Adapt-E climbed; ``refused`` is the raw query's."""

    streams: dict[str, Found]
    climb: Climb
    refused: bool


class Streams:
    """Searches one collection in every way.

    Args:
        mirror: the Boolean engine.
        planner: Adapt-E's planner.
        collection: words and vectors, ids being PMIDs.
        texts: the documents' texts by PMID.
    """

    def __init__(
        self, mirror: Mirror, planner: QueryPlanner, collection: HybridCollection, texts: Mapping[str, str]
    ) -> None:
        self._mirror, self._planner, self._collection = mirror, planner, collection
        self._texts, self._places = texts, {key: n for n, key in enumerate(collection.ids)}

    def answer(self, question: LiteratureQuestion, vector: Vectors) -> Answer:
        """All streams for a question; ``vector`` is its embedding."""
        return asyncio.run(self._answer(question.text, vector))

    async def _answer(self, text: str, vector: Vectors) -> Answer:
        from tools.literature.ladder import climb

        raw, refused = self._raw(text)
        started = time.perf_counter()
        plan = await self._planner.plan(text, case=False)
        planned = _since(started)
        climbed = await climb(self._mirror, plan.expressions, ENOUGH)
        adapt_e = Found(list(climbed.ids), _since(started))
        bm25, dense = self._words(text), self._meaning(vector)
        hybrid = self._hybrid(text, plan, vector, planned)
        streams = {
            "raw": raw,
            "adapt_e": adapt_e,
            "bm25": bm25,
            "dense": dense,
            "rrf_plain": _fused(bm25, dense),
            "cometa": _fused(adapt_e, dense),
            "hybrid": hybrid,
            **self._pooled(text, plan, vector, adapt_e),
        }
        return Answer(streams, climbed, refused)

    def _raw(self, text: str) -> tuple[Found, bool]:
        """The question as it stands, read as PubMed reads it; one that the language refuses finds nothing."""
        started = time.perf_counter()
        try:
            ids, refused = list(self._mirror.find(text, ENOUGH).ids), False
        except InputError:
            ids, refused = [], True
        return Found(ids, _since(started)), refused

    def _words(self, text: str) -> Found:
        started = time.perf_counter()
        scores = self._collection.lexicon.scores(text)
        ids = [self._collection.ids[i] for i in best(scores, DEPTH) if scores[i] > 0]
        return Found(ids, _since(started))

    def _meaning(self, vector: Vectors) -> Found:
        started = time.perf_counter()
        ids = [self._collection.ids[i] for i in best(np.asarray(self._collection.vectors @ vector), DEPTH)]
        return Found(ids, _since(started))

    def _pooled(self, text: str, plan: SearchPlan, vector: Vectors, ladder: Found) -> dict[str, Found]:
        """The ladder's own records in another order, as with live PubMed: by ranks, and by weighted scores."""
        started = time.perf_counter()
        pool = {key: float(self._collection.vectors[self._places[key]] @ vector) for key in ladder.ids}
        dense = Found(sorted(pool, key=lambda key: (-pool[key], key)), _since(started))
        started = time.perf_counter()
        ranked = order_pool(text, plan, {key: self._texts[key] for key in pool}, pool)
        weighted = Found([r.id for r in ranked], ladder.ms + _since(started))
        return {"pool_rrf": _fused(ladder, dense), "pool_weighted": weighted}

    def _hybrid(self, text: str, plan: SearchPlan, vector: Vectors, planned: float) -> Found:
        started = time.perf_counter()
        ids = [r.id for r in self._collection.rank(text, plan, vector, DEPTH)]
        return Found(ids, planned + _since(started))


def _fused(*parts: Found) -> Found:
    started = time.perf_counter()
    fused = reciprocal_rank_fusion({str(n): part.ids for n, part in enumerate(parts)})
    return Found([f.id for f in fused][:DEPTH], sum(p.ms for p in parts) + _since(started))


def _since(started: float) -> float:
    return 1000 * (time.perf_counter() - started)


def recall(ids: Sequence[str], gold: frozenset[str], depth: int) -> float:
    """The share of the gold documents among the first ``depth``, 0..1."""
    return len(gold.intersection(ids[:depth])) / len(gold)
