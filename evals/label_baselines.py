"""Plain ways to label a sentence, which a trained classifier must beat: by what is commonest, by words, by a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphs.completeness.classifier import LABELS, Probabilities
from graphs.completeness.classifier_metrics import Classes
from tools.text.tokens import tokens

SMOOTHING = 1.0  # ours: Laplace's


def majority(known: Classes) -> int:
    """The commonest class; of equals the least important."""
    counts = np.bincount(known, minlength=len(LABELS))
    return int(len(LABELS) - 1 - counts[::-1].argmax())


def keyword_shares(known: Sequence[str], classes: Classes, asked: Sequence[str]) -> Probabilities:
    """Array (asked, 3): naive Bayes over whether each word stands in a sentence, fitted on the known ones."""
    column = {word: n for n, word in enumerate(sorted({w for text in known for w in tokens(text)}))}
    counts = np.zeros((len(LABELS), len(column)))
    for text, label in zip(known, classes.tolist(), strict=True):
        counts[label, [column[w] for w in set(tokens(text))]] += 1
    totals = np.bincount(classes, minlength=len(LABELS))[:, None]
    there = (counts + SMOOTHING) / (totals + 2 * SMOOTHING)
    log_there, log_not = np.log(there), np.log(1 - there)
    prior = np.log((totals[:, 0] + SMOOTHING) / (totals.sum() + len(LABELS) * SMOOTHING))
    out = np.zeros((len(asked), len(LABELS)))
    for row, text in enumerate(asked):
        at = [column[w] for w in set(tokens(text)) if w in column]
        out[row] = prior + log_not.sum(axis=1) + (log_there - log_not)[:, at].sum(axis=1)
    shares = np.exp(out - out.max(axis=1, keepdims=True))
    normal: Probabilities = shares / shares.sum(axis=1, keepdims=True)
    return normal


def sentence_shares(known: Sequence[str], classes: Classes, asked: Sequence[str]) -> Probabilities:
    """Array (asked, 3): how often that very sentence had each label; one that is not known has the shares of all."""
    table: dict[str, Probabilities] = {}
    for text, label in zip(known, classes.tolist(), strict=True):
        table.setdefault(text, np.zeros(len(LABELS)))[label] += 1
    overall = np.bincount(classes, minlength=len(LABELS)).astype(np.float64)
    rows = [table.get(text, overall) for text in asked]
    return np.array([row / row.sum() for row in rows]).reshape(-1, len(LABELS))
