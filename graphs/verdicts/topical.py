"""How probable it is that a document is about what a closed question asks: a regression over nearness and its products.

The reader takes a result for an answer whatever it is a result of: of a study that shares half of the question's words
(the medicine, not the outcome) it makes a verdict. So a study speaks only where it meets the question's words, the rare
ones most, and its meaning. Trained by `anamnesis dev reader topical` (`evals/training/topical.py`) on questions beside
the article that each was asked of, and beside others that a search for it finds. Ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphs.verdicts.studies import PLAIN, Document, parts_of
from tools.encoders import Encoder
from tools.literature.vocabulary import published
from tools.reading.answered import content_words
from tools.text.tokens import tokens
from tools.weights import stored

WEIGHTS = Path(__file__).with_name("topical.safetensors")
AGAIN = "Reinstall the package, or train it again: anamnesis dev reader topical --data DATA."
NEAREST = 3  # ours: sentences of a document whose nearness is averaged
FEATURES = 7
Matrix = NDArray[np.float64]


class Weights(NamedTuple):
    """What features are brought to, (`FEATURES`,) each, the regression over them and over the products of every two,
    and its bias, (1,)."""

    mean: Matrix
    scale: Matrix
    weight: Matrix
    bias: Matrix


def topical(question: str, documents: Sequence[Document], encoder: Encoder) -> list[float]:
    """Of each document the probability, 0..1, that it is about what the question asks."""
    if not documents:
        return []
    w = weights()
    logits = with_products((features(question, documents, encoder) - w.mean) / w.scale) @ w.weight + w.bias
    found: list[float] = (1 / (1 + np.exp(-logits))).tolist()
    return found


def features(question: str, documents: Sequence[Document], encoder: Encoder) -> Matrix:
    """Array (documents, `FEATURES`): the share of the question's words, weighed by how rare each is, that the document
    holds, and its best sentence; the cosine of the question with the nearest sentence, and with the nearest three on
    average, and with the title; those of its subject and of its outcome with the nearest."""
    asked, wanted = parts_of(question), _wanted(question)
    parts = encoder.encode_queries([question, asked.subject, asked.outcome])
    rows = []
    for document in documents:
        told = [document.opening, *document.sentences]
        near = encoder.encode_documents(told) @ parts.T
        whole = np.sort(near[:, 0])
        shares = [_share(wanted, document.text), max(_share(wanted, text) for text in told)]
        most = [whole[-1], whole[-NEAREST:].mean(), near[0, 0], near[:, 1].max(), near[:, 2].max()]
        rows.append([*shares, *most])
    return np.array(rows, dtype=np.float64)


def with_products(rows: Matrix) -> Matrix:
    """Rows of features, each with the products of every two of them."""
    one, other = np.triu_indices(rows.shape[1])
    return np.hstack([rows, rows[:, one] * rows[:, other]])


def _wanted(question: str) -> list[tuple[frozenset[str], float]]:
    """The stems of each word of a question that names something, with how rare it is in published prose."""
    words = [(frozenset(tokens(w)), published().weight(w)) for w in content_words(question) if len(w) > 1]
    return [(stems, weight) for stems, weight in words if stems - PLAIN]


def _share(wanted: Sequence[tuple[frozenset[str], float]], text: str) -> float:
    held, total = set(tokens(text)), sum(weight for _, weight in wanted)
    return sum(weight for stems, weight in wanted if stems & held) / total if total else 1.0


@lru_cache(maxsize=1)
def weights(path: Path = WEIGHTS) -> Weights:
    """The shipped weights; raises DataError when they are missing or damaged."""
    return Weights(**stored(path, "what tells what a study is about", AGAIN).arrays)
