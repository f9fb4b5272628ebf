"""The sentences of a text that best support a statement or answer a query, as exact spans."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tools.encoders import Encoder
from tools.passages.lexical import coverage, inverse_frequency
from tools.passages.search import similarities
from tools.passages.seos import SPECIAL
from tools.passages.units import Section, Unit, sections, sentence_units
from tools.text.tokens import tokens

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
