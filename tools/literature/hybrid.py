"""Words, the plan's terms and meaning in one score: over a collection on this machine, or the records of a search.

CoMeta fuses Adapt-E and MedCPT by ranks (`cometa`). Where every document can be scored, as in a collection of one's
own, a weighted sum of normalised scores keeps what a rank throws away (Bruch et al. 2023, "An Analysis of Fusion
Functions for Hybrid Retrieval"). The third part is ours: BM25 by Adapt-E's weighted terms and their synonyms, which
finds in a narrative what is asked about and passes over the story around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prompts.errors import InputError
from tools.encoders import Vectors
from tools.evidence import Frozen
from tools.indexes.lexical import Lexicon
from tools.literature.adapt_e.contract import SearchPlan
from tools.text.tokens import tokens

Scores = NDArray[np.float32]
SYNONYM = 0.5  # ours: what a synonym's word weighs beside its term's


class HybridWeights(Frozen):
    """Shares of the three parts. ours: a small grid on BioASQ's development questions and the narratives."""

    dense: float = 0.6
    question: float = 0.2
    terms: float = 0.2


class Ranked(NamedTuple):
    """A document of the collection: its id, its score, and each part's share of it."""

    id: str
    score: float
    parts: dict[str, float]


class HybridCollection:
    """Documents with their words and vectors, in one order.

    Args:
        ids: the documents' ids.
        lexicon: their words.
        vectors: (len(ids), dimension), L2-normalised; may be memory-mapped.
        weights: shares of the parts.

    Raises:
        InputError: ids, words and vectors differ in number.
    """

    def __init__(
        self, ids: Sequence[str], lexicon: Lexicon, vectors: Vectors, weights: HybridWeights | None = None
    ) -> None:
        if not len(ids) == len(lexicon) == len(vectors):
            raise InputError(
                f"{len(ids)} ids, {len(lexicon)} texts and {len(vectors)} vectors are no collection.",
                "Give one of each for every document.",
            )
        self.ids, self.lexicon, self.vectors = ids, lexicon, vectors
        self._weights = weights or HybridWeights()

    def rank(self, question: str, plan: SearchPlan, vector: Vectors, limit: int) -> list[Ranked]:
        """The best documents for a question, best first.

        Args:
            question: as it was asked; it stays on this machine.
            plan: Adapt-E's plan of it.
            vector: (dimension,), the question's embedding.
        """
        if limit < 1 or not self.ids:
            return []
        parts = weighed(self.vectors @ vector, self.lexicon, question, plan, self._weights)
        return _ranked(self.ids, parts, limit)


def order_pool(
    question: str, plan: SearchPlan, texts: Mapping[str, str], similarity: Mapping[str, float]
) -> list[Ranked]:
    """The records that a search has read, best first; equal ones keep their order.

    On pools of Boolean ladders this beat RRF of the ladder's order with that by meaning: docs/literature.md.

    Args:
        texts: title and abstract by id. similarity: cosine to the question by id.
    """
    if not texts:
        return []
    dense = np.array([similarity[key] for key in texts], dtype=np.float32)
    parts = weighed(dense, Lexicon(list(texts.values())), question, plan, HybridWeights())
    return _ranked(list(texts), parts, len(texts))


def _ranked(ids: Sequence[str], parts: Mapping[str, Scores], limit: int) -> list[Ranked]:
    total = np.sum(list(parts.values()), axis=0)
    return [
        Ranked(ids[i], float(total[i]), {name: float(part[i]) for name, part in parts.items()})
        for i in best(total, limit)
    ]


def weighed(
    similarity: Scores, lexicon: Lexicon, question: str, plan: SearchPlan, weights: HybridWeights
) -> dict[str, Scores]:
    """The three parts of the score, each (number of documents,) and at most its weight."""
    return {
        "dense": weights.dense * _spread(similarity),
        "question": weights.question * share_of(lexicon.scores(question)),
        "terms": weights.terms * share_of(lexicon.weighted(weights_of(plan))),
    }


def weights_of(plan: SearchPlan) -> dict[str, float]:
    """The words of a plan's terms with their weights, 0..1; a synonym's words weigh half."""
    weights: dict[str, float] = {}
    heaviest = max((t.weight for t in plan.terms), default=0.0) or 1.0
    for term in plan.terms:
        own = term.weight / heaviest
        for text, weight in ((term.text, own), *((s, SYNONYM * own) for s in term.synonyms)):
            for word in tokens(text):
                weights[word] = max(weight, weights.get(word, 0.0))
    return weights


def best(scores: NDArray[np.floating], limit: int) -> list[int]:
    """Places of the highest scores, best first; equal scores keep the order of the collection."""
    count = min(limit, len(scores))
    least = np.partition(scores, len(scores) - count)[len(scores) - count]
    places = np.flatnonzero(scores >= least)
    return [int(i) for i in places[np.argsort(-scores[places], kind="stable")][:count]]


def share_of(scores: Scores) -> Scores:
    """Scores from 0 as shares of the highest."""
    highest = float(scores.max())
    return scores / highest if highest > 0 else scores


def _spread(scores: Scores) -> Scores:
    """Scores as their place between the lowest and the highest, 0..1."""
    low, high = float(scores.min()), float(scores.max())
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)
