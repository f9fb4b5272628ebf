"""The second stage: passages of a pool ranked for a query, dense and by words, fused by reciprocal rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tools.encoders import Encoder, Vectors
from tools.passages.contract import Passage, StoredDocument
from tools.passages.lexical import Scores, bm25, coverage, inverse_frequency
from tools.passages.pool import Cut
from tools.passages.seos import SPECIAL
from tools.passages.units import Section, sentence_units
from tools.text.tokens import tokens

RRF_K = 60  # ours: CoMeta does not publish its constant
MIN_SIMILARITY = 0.35  # ours: cosine from which a passage counts as relevant without a word in common
MIN_COVERAGE = 0.25  # ours: share of the query's weight in words from which it counts whatever the cosine


class Row(NamedTuple):
    """A passage of the pool and the document that it is in."""

    document: StoredDocument
    passage: Passage
    index: int


class Ranked(NamedTuple):
    """A passage with its place in each stream (from 1; None where it shares no word) and the streams' scores."""

    row: Row
    fused: float
    dense_rank: int
    similarity: float
    lexical_rank: int | None
    lexical: float


def rank(
    query: str, documents: Sequence[StoredDocument], cuts: Sequence[Cut], encoder: Encoder
) -> list[Ranked]:
    """The relevant passages of the documents, best first; empty when none is relevant.

    Relevant is what is near enough in meaning, or shares enough of the query's weight in words. Ties in the fused
    score go to the nearer passage, then to the earlier one.
    """
    rows = [Row(d, p, i) for d, cut in zip(documents, cuts, strict=True) for i, p in enumerate(cut.passages)]
    if not rows:
        return []
    bags = [bag for cut in cuts for bag in cut.bags]
    similarity = np.concatenate([cut.vectors for cut in cuts]) @ query_vector(query, encoder)
    wanted = tokens(query)
    weights = inverse_frequency(bags)
    shared = coverage(wanted, bags, weights)
    words = bm25(wanted, bags, weights)
    dense_ranks, lexical_ranks = _ranks(similarity.astype(np.float64)), _ranks(words)
    found = []
    for i in np.flatnonzero((similarity >= MIN_SIMILARITY) | (shared >= MIN_COVERAGE)):
        dense, lexical = int(dense_ranks[i]), int(lexical_ranks[i]) if shared[i] > 0 else None
        fused = 1 / (RRF_K + dense) + (1 / (RRF_K + lexical) if lexical else 0.0)
        found.append(Ranked(rows[i], fused, dense, float(similarity[i]), lexical, float(words[i])))
    return sorted(found, key=lambda r: (-r.fused, -r.similarity))


def query_vector(query: str, encoder: Encoder) -> Vectors:
    """The query as one normalised vector (dimension,).

    A query beyond what the encoder reads is cut into sentences and their mean direction is taken (ours), so that
    the end of a long case counts as much as its beginning.
    """
    room = encoder.limit - SPECIAL
    texts = [query]
    if encoder.count_tokens(texts)[0] > room:
        units = sentence_units(query, [Section(None, 0, len(query))], [room], encoder)[0]
        texts = [query[u.start : u.end] for u in units]
    mean: Vectors = encoder.encode_queries(texts).mean(axis=0)
    return mean / max(float(np.linalg.norm(mean)), float(np.finfo(np.float32).tiny))


def _ranks(scores: Scores) -> Scores:
    """Ranks from 1, highest score first, ties in order of place."""
    ranks = np.empty(len(scores), dtype=np.float64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks
