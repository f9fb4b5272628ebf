"""The sentences of a text that best support a statement or answer a query, as exact spans."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from prompts.errors import InputError
from tools.encoders import Encoder
from tools.evidence import Evidence, EvidenceId
from tools.passages.lexical import coverage, inverse_frequency
from tools.passages.neighbours import leans_back
from tools.passages.search import similarities
from tools.passages.seos import SPECIAL
from tools.passages.units import Section, Unit, sections, sentence_units
from tools.text.tokens import tokens

DENSE_SHARE = 0.5  # ours: weight of the cosine against the words in common
LONG = 320  # ours: characters from which a sentence is offered clause by clause
TOGETHER = 3  # ours: sentences of a span at most; more is a passage, not a quote
GAIN = 0.2  # ours: share of a statement's weight in words that a further sentence must add
CLAUSES = re.compile(r"[^;；]+(?:[;；]|$)")


class Quote(NamedTuple):
    """Characters ``start`` to ``end`` of the text with this index, and how well they fit, about 0..1."""

    text_index: int
    start: int
    end: int
    score: float


class DocumentSpan(NamedTuple):
    """Characters ``start`` to ``end`` of a stored document."""

    document_id: str
    start: int
    end: int


def best_quote(query: str, text: str, encoder: Encoder) -> tuple[int, int, float]:
    """The span of the text that best supports a statement: ``text[start:end]``, and its score, about 0..1.

    A whole sentence keeps its conditions; only one beyond 320 characters is offered by its clauses. Raises
    InputError for a text without any sentence.
    """
    ranked = rank_sentences(query, [text], encoder)
    if not ranked:
        raise InputError("There is no sentence to quote from.", "Give a passage with text.")
    return ranked[0].start, ranked[0].end, ranked[0].score


def rank_sentences(query: str, texts: Sequence[str], encoder: Encoder) -> list[Quote]:
    """Every sentence of the texts, best first, by cosine and by the query's words that it holds, in equal parts.

    Words weigh by their inverse document frequency among the sentences. All sentences are embedded in one call of
    `encode_documents`, so a cached encoder computes each only once. Ties keep the order of the texts.
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


def supporting_span(statement: str, text: str, encoder: Encoder) -> Quote:
    """The span of a text that supports a statement, of up to three sentences that stand together.

    The best sentence, with the one before it when it leans on that ("They should ..."), and with a neighbour that
    holds a fifth or more of the statement's weight in words that the span does not hold yet (rules ours). Raises
    InputError for a text without any sentence.
    """
    start, end, score = best_quote(statement, text, encoder)
    spans = candidate_spans(text, encoder)
    place = next(n for n, span in enumerate(spans) if (span.start, span.end) == (start, end))
    bags = [frozenset(tokens(text[s.start : s.end])) for s in spans]
    wanted, weights = tokens(statement), inverse_frequency(bags)
    first = last = place
    if first > 0 and leans_back(text[start:end]):
        first -= 1
    while last - first + 1 < TOGETHER:
        held = frozenset[str]().union(*bags[first : last + 1])
        gains = {}
        for n in (first - 1, last + 1):
            if 0 <= n < len(spans):
                gains[n] = float(np.diff(coverage(wanted, [held, held | bags[n]], weights))[0])
        best = max(gains, key=lambda n: gains[n], default=None)
        if best is None or gains[best] < GAIN:
            break
        first, last = min(first, best), max(last, best)
    return Quote(0, spans[first].start, spans[last].end, score)


def in_document(evidence: Evidence, start: int, end: int) -> DocumentSpan:
    """Where characters ``start`` to ``end`` of a piece of evidence stand in the stored document.

    Raises InputError when its id names no span, or the characters are not within its text.
    """
    parts = EvidenceId.parse(evidence.id)
    if parts.start is None or not 0 <= start <= end <= len(evidence.text):
        raise InputError(
            f"Characters {start} to {end} of {evidence.id} are no place in a stored document.",
            "Give a span within the text of evidence whose id ends in one.",
        )
    return DocumentSpan(parts.document_id, parts.start + start, parts.start + end)


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
