"""Which evidence covers which knowledge requirement, without a model."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from tools.encoders import Encoder
from tools.evidence import Evidence, Origin
from tools.passages.contract import evidence_text
from tools.passages.lexical import Scores, coverage, inverse_frequency
from tools.passages.search import similarities
from tools.text.tokens import tokens

DENSE_SHARE = 0.5  # ours: weight of the cosine against the words in common
# ours: on the starter library, with a passage's own section withheld and given back, 71 of 100 withheld requirements
# are seen as gaps and 90 of 100 others as covered.
COVERED = 0.55
SUBJECT_SHARE = 0.5  # ours: share of the subject's words that evidence must hold
COLON = re.compile(r":\s|：")


def coverage_matrix(requirements: Sequence[str], evidence: Sequence[Evidence], encoder: Encoder) -> Scores:
    """How far each piece of evidence covers each requirement: array (len(requirements), len(evidence)), 0..1.

    A requirement is ``subject: aspect`` or one phrase. The score is the mean of the cosine and of the share of the
    aspect's words (by inverse document frequency in the evidence) that stand in the text, its title or its section.
    Evidence without half of the subject covers nothing: treatment of another disease does not answer for this one.
    """
    if not requirements or not evidence:
        return np.zeros((len(requirements), len(evidence)))
    texts = [evidence_text(item) for item in evidence]
    vectors = encoder.encode_documents(texts)
    cosine = np.maximum([similarities(requirement, vectors, encoder) for requirement in requirements], 0.0)
    bags = [frozenset(tokens(text)) for text in texts]
    weights = inverse_frequency(bags)
    parts = [_parts(requirement) for requirement in requirements]
    subject = np.stack([coverage(tokens(s), bags, weights) if s else np.ones(len(bags)) for s, _ in parts])
    words = np.stack([coverage(tokens(aspect), bags, weights) for _, aspect in parts])
    matrix: Scores = np.where(subject >= SUBJECT_SHARE, DENSE_SHARE * cosine + (1 - DENSE_SHARE) * words, 0.0)
    return matrix


def covered_by(
    requirements: Sequence[str], evidence: Sequence[Evidence], encoder: Encoder, threshold: float = COVERED
) -> list[tuple[str, ...]]:
    """For each requirement the ids of the evidence that covers it, best first; empty where it is a gap.

    Retracted evidence and generated text cover nothing.
    """
    held = usable(evidence)
    matrix = coverage_matrix(requirements, held, encoder)
    return [tuple(held[i].id for i in np.argsort(-row, kind="stable") if row[i] >= threshold) for row in matrix]


def usable(evidence: Sequence[Evidence]) -> list[Evidence]:
    """What may cover a requirement: no retracted work, and no text that a model wrote."""
    return [item for item in evidence if item.status.usable and item.origin is not Origin.GENERATED]


def _parts(requirement: str) -> tuple[str, str]:
    """Subject and aspect; the subject is "" where a requirement has no colon."""
    subject, *aspect = COLON.split(requirement, maxsplit=1)
    return (subject, aspect[0]) if aspect else ("", subject)
