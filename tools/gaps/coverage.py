"""Which evidence covers which knowledge requirement, without a model."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from tools.encoders import Encoder
from tools.evidence import Evidence, Status
from tools.passages.contract import context_of
from tools.passages.lexical import Scores, coverage, inverse_frequency
from tools.passages.search import query_vector
from tools.text.tokens import tokens

DENSE_SHARE = 0.5  # ours: weight of the cosine against the words in common
COVERED = 0.5  # ours
SUBJECT_SHARE = 0.5  # ours: share of the subject's words that evidence must hold
COLON = re.compile(r":\s|：")


def coverage_matrix(requirements: Sequence[str], evidence: Sequence[Evidence], encoder: Encoder) -> Scores:
    """How far each piece of evidence covers each requirement: array (len(requirements), len(evidence)), 0..1.

    The cosine, and the share of the requirement's words (by inverse document frequency in the evidence) that stand in
    the text, its title or its section. Evidence without half of the subject, the words before the colon, covers
    nothing: treatment of another disease does not answer for this one.
    """
    if not requirements or not evidence:
        return np.zeros((len(requirements), len(evidence)))
    texts = [_text(item) for item in evidence]
    queries = np.stack([query_vector(requirement, encoder) for requirement in requirements])
    cosine = np.maximum(queries @ encoder.encode_documents(texts).T, 0.0).astype(np.float64)
    bags = [frozenset(tokens(text)) for text in texts]
    weights = inverse_frequency(bags)
    words = np.stack([coverage(tokens(requirement), bags, weights) for requirement in requirements])
    subject = np.stack([_subject(requirement, bags, weights) for requirement in requirements])
    matrix: Scores = np.where(subject >= SUBJECT_SHARE, DENSE_SHARE * cosine + (1 - DENSE_SHARE) * words, 0.0)
    return matrix


def covered_by(
    requirements: Sequence[str], evidence: Sequence[Evidence], encoder: Encoder, threshold: float = COVERED
) -> list[tuple[str, ...]]:
    """For each requirement the ids of the evidence that covers it, best first; empty where it is a gap.

    Retracted evidence covers nothing.
    """
    usable = [item for item in evidence if item.status is not Status.RETRACTED]
    matrix = coverage_matrix(requirements, usable, encoder)
    return [
        tuple(usable[i].id for i in np.argsort(-row, kind="stable") if row[i] >= threshold) for row in matrix
    ]


def _subject(requirement: str, bags: Sequence[Collection[str]], weights: Mapping[str, float]) -> Scores:
    """Share of the words before the first colon that each bag holds; 1 where a requirement has no such words."""
    head = COLON.split(requirement, maxsplit=1)
    wanted = tokens(head[0]) if len(head) > 1 else []
    return coverage(wanted, bags, weights) if wanted else np.ones(len(bags))


def _text(item: Evidence) -> str:
    context = context_of(item.title, item.section)
    return f"{context}\n{item.text}" if context else item.text
