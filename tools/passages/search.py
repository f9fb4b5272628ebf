"""The second stage: passages of a pool ranked for a query, dense and by words, fused by reciprocal rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tools.contract import unique
from tools.encoders import Encoder, Vectors
from tools.fusion import reciprocal_rank_fusion
from tools.passages.contract import Passage, StoredDocument
from tools.passages.lexical import Scores, bm25, coverage, inverse_frequency
from tools.passages.pool import Cut
from tools.passages.seos import SPECIAL
from tools.passages.units import Section, sentence_units
from tools.text.abbreviations import expand
from tools.text.tokens import tokens

# ours: cosine from which a passage is relevant whatever its words. On the starter library the messages of tests/cases
# that are out of scope reach 0.26 at most, cases and questions in English 0.42 at least.
MIN_SIMILARITY = 0.30
# ours: share of the query's weight in words from which a passage is relevant whatever the cosine (a general encoder
# knows little of another language); out of scope reaches 0.40.
MIN_COVERAGE = 0.45


class Row(NamedTuple):
    """A passage, its place in its document, and the document."""

    document: StoredDocument
    passage: Passage
    place: int

    @property
    def id(self) -> str:
        """The evidence id of the passage."""
        return self.passage.id(self.document.id)


class Ranked(NamedTuple):
    """A passage, its fused score, and in each stream that has it the rank (from 1) and the stream's own score."""

    row: Row
    score: float
    streams: dict[str, tuple[int, float]]


def rows_of(documents: Sequence[StoredDocument], cuts: Sequence[Cut]) -> list[Row]:
    """Every passage of the documents, in order."""
    return [Row(d, p, i) for d, cut in zip(documents, cuts, strict=True) for i, p in enumerate(cut.passages)]


def rank(query: str, documents: Sequence[StoredDocument], cuts: Sequence[Cut], encoder: Encoder) -> list[Ranked]:
    """The relevant passages of the documents, best first; empty when none is relevant.

    Streams: ``dense`` (cosine) and ``bm25`` (those that share a word with the query), fused by RRF. Relevant is
    what is near enough in meaning, or holds enough of the query's weight in words.
    """
    rows = rows_of(documents, cuts)
    if not rows:
        return []
    bags = [bag for cut in cuts for bag in cut.bags]
    wanted = unique(tokens(query) + tokens(expand(query)))
    weights = inverse_frequency(bags)
    shared = coverage(wanted, bags, weights)
    similarity = np.concatenate([cut.vectors for cut in cuts]) @ query_vector(query, encoder)
    scores: dict[str, Scores] = {"dense": similarity.astype(np.float64), "bm25": bm25(wanted, bags, weights)}
    order = {name: np.argsort(-values, kind="stable") for name, values in scores.items()}
    order["bm25"] = order["bm25"][shared[order["bm25"]] > 0]
    at = {row.id: i for i, row in enumerate(rows)}
    relevant = (similarity >= MIN_SIMILARITY) | (shared >= MIN_COVERAGE)
    fused = reciprocal_rank_fusion({name: [rows[i].id for i in places] for name, places in order.items()})
    return [
        Ranked(
            rows[at[item.id]],
            item.score,
            {name: (place, float(scores[name][at[item.id]])) for name, place in item.ranks.items()},
        )
        for item in fused
        if relevant[at[item.id]]
    ]


def query_vector(query: str, encoder: Encoder) -> Vectors:
    """The query as one normalised vector (dimension,).

    Its abbreviations are written out beside it. What is beyond the encoder's limit is cut into sentences and the mean
    direction taken (ours), so that the end of a long case counts as much as its beginning.
    """
    room = int(getattr(encoder, "query_limit", encoder.limit)) - SPECIAL  # MedCPT reads shorter queries
    texts: list[str] = []
    for form in unique([query, expand(query)]):
        if encoder.count_tokens([form])[0] <= room:
            texts.append(form)
        else:
            units = sentence_units(form, [Section(None, 0, len(form))], [room], encoder)[0]
            texts += [form[u.start : u.end] for u in units]
    mean: Vectors = encoder.encode_queries(texts).mean(axis=0)
    return mean / np.float32(max(float(np.linalg.norm(mean)), float(np.finfo(np.float32).tiny)))
