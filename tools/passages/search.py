"""The second stage: passages of a pool ranked for a query, dense and by words; then the sentences worth quoting."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.contract import unique
from tools.encoders import Encoder, Vectors
from tools.fusion import reciprocal_rank_fusion
from tools.passages.contract import Passage, StoredDocument
from tools.passages.lexical import Scores, bm25, coverage, inverse_frequency
from tools.passages.pool import Cut
from tools.passages.seos import SPECIAL
from tools.passages.units import Section, Unit, packed, sections, sentence_units
from tools.text.abbreviations import expand
from tools.text.tokens import tokens

# ours: cosine from which a passage is relevant whatever its words. On the starter library the messages of
# evals/data/dev that are out of scope reach 0.26 at most, cases and questions in English 0.47 at least.
MIN_SIMILARITY = 0.30
# ours: share of the query's weight in words from which a passage is relevant whatever the cosine (a general encoder
# knows little of another language); out of scope and small talk reach 0.43.
MIN_COVERAGE = 0.45
QUERY_PIECE = 64  # ours: tokens of a piece of a long query, about half a passage


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
    wanted, weights = query_words(query), inverse_frequency(bags)
    shared = coverage(wanted, bags, weights)
    similarity = similarities(query, np.concatenate([cut.vectors for cut in cuts]), encoder)
    scores: dict[str, Scores] = {"dense": similarity, "bm25": bm25(wanted, bags, weights)}
    order = {name: np.argsort(-values, kind="stable") for name, values in scores.items()}
    order["bm25"] = order["bm25"][shared[order["bm25"]] > 0]
    at = {row.id: i for i, row in enumerate(rows)}
    relevant = is_relevant(similarity, shared)
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


def query_words(query: str) -> list[str]:
    """The tokens of a query, as it is and with its abbreviations written out, each once."""
    return unique(tokens(query) + tokens(expand(query)))


def is_relevant(similarity: Scores, shared: Scores) -> NDArray[np.bool_]:
    """Which passages are near enough in meaning, or hold enough of the query's weight in words, shape (n,)."""
    near: NDArray[np.bool_] = (similarity >= MIN_SIMILARITY) | (shared >= MIN_COVERAGE)
    return near


def similarities(query: str, vectors: Vectors, encoder: Encoder) -> Scores:
    """Cosine of a query to each row of ``vectors`` (n, dimension), shape (n,), by its best piece."""
    return best_similarities([query], vectors, encoder)


def best_similarities(queries: Sequence[str], vectors: Vectors, encoder: Encoder) -> Scores:
    """Cosine of the nearest of several queries to each row of ``vectors`` (n, dimension), shape (n,).

    A query is taken as it is and with its abbreviations written out. One beyond what the encoder reads is cut
    into pieces of whole sentences. The best piece counts (ours), so that the end of a long case is read too.
    """
    room = int(getattr(encoder, "query_limit", encoder.limit)) - SPECIAL  # MedCPT reads shorter queries
    pieces: list[str] = []
    for form in unique([form for query in queries for form in (query, expand(query))]):
        pieces += [form] if encoder.count_tokens([form])[0] <= room else _pieces(form, min(QUERY_PIECE, room), encoder)
    best: Scores = (vectors @ encoder.encode_queries(unique(pieces)).T).max(axis=1).astype(np.float64)
    return best


def _pieces(text: str, room: int, encoder: Encoder) -> list[str]:
    """Runs of sentences with at most ``room`` tokens each."""
    units = sentence_units(text, [Section(None, 0, len(text))], [room], encoder)[0]
    return [text[run.start : run.end] for run in packed(units, room)]


# The sentences of a text that best support a statement or answer a query, as exact spans.

DENSE_SHARE = 0.5  # ours: weight of the cosine against the words in common
LONG = 320  # ours: characters from which a sentence is offered clause by clause
CLAUSES = re.compile(r"[^;；]+(?:[;；]|$)")


class Quote(NamedTuple):
    """Characters ``start`` to ``end`` of the text with this index, and how well they fit, about 0..1."""

    text_index: int
    start: int
    end: int
    score: float


def rank_sentences(query: str, texts: Sequence[str], encoder: Encoder) -> list[Quote]:
    """Every sentence of the texts, best first, by cosine and by the query's words that it holds, in equal parts.

    Words weigh by their inverse document frequency among the sentences. All sentences are embedded in one call of
    `encode_documents`, so a cached encoder computes each only once. Ties keep the order of the texts. A whole sentence
    keeps its conditions; only one beyond 320 characters is offered by its clauses.
    """
    candidates = [(i, span) for i, text in enumerate(texts) for span in candidate_spans(text, encoder)]
    if not candidates:
        return []
    pieces = [texts[i][span.start : span.end] for i, span in candidates]
    similarity = similarities(query, encoder.encode_documents(pieces), encoder)
    bags = [frozenset(tokens(piece)) for piece in pieces]
    words = coverage(tokens(query), bags, inverse_frequency(bags))
    scores = DENSE_SHARE * np.maximum(similarity, 0.0) + (1 - DENSE_SHARE) * words
    order = np.argsort(-scores, kind="stable")
    return [Quote(candidates[k][0], candidates[k][1].start, candidates[k][1].end, float(scores[k])) for k in order]


def candidate_spans(text: str, encoder: Encoder) -> list[Unit]:
    """Sentences of a text, headings left out; a long one by its clauses, and never more than the encoder reads."""
    room = encoder.limit - SPECIAL
    found: list[Unit] = []
    for sentence in (u for part in _units(text, room, encoder) for u in part):
        if sentence.end - sentence.start > LONG:
            found += _clauses(text, sentence)
        else:
            found.append(sentence)
    return found


def _units(text: str, room: int, encoder: Encoder) -> list[list[Unit]]:
    parts: list[Section] = sections(text)
    return sentence_units(text, parts, [room] * len(parts), encoder)


def _clauses(text: str, sentence: Unit) -> list[Unit]:
    spans = []
    for match in CLAUSES.finditer(text, sentence.start, sentence.end):
        lead = len(match[0]) - len(match[0].lstrip())
        if match[0].strip(" ;；"):
            spans.append(Unit(match.start() + lead, match.start() + len(match[0].rstrip()), sentence.tokens))
    return spans
