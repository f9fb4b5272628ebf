"""Training of what one study answers in all (`graphs/verdicts/overall.py`).

Each question of the *fit* part of PubMedQA stands beside the abstract that it was made of, without conclusion; what its
sentences say is the shipped reader's to tell, which learned from the same articles: what is held out here is better
than on articles that it never saw (`eval run verdicts` measures these).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evals.contract import TaskContext
from evals.sessions import encoders
from evals.tasks.answers import abstract
from evals.tasks.verdicts import GOLD, OF_STANCE, abstracts, the_reader
from graphs.verdicts.local import VerdictSettings, in_context, parts_of
from graphs.verdicts.overall import OUTCOMES, features, results_of
from tools.encoders import Encoder
from tools.reading.contract import Pair, Reader
from tools.weights import store

FOLDS, REPEATS, INVERSE, STEPS = 10, 5, 0.01, 3000  # ours; a strong ridge: few questions, many features
BARS = (0.4, 0.45, 0.5, 0.55, 0.6)  # ours: those that are told beside the one in use
Floats = NDArray[np.float64]


class Rows(NamedTuple):
    """Features of each abstract, and the place of its answer among the outcomes."""

    x: Floats
    y: NDArray[np.int64]


def train_overall(context: TaskContext, out: Path, tell: Callable[[str], None]) -> None:
    """Train, say what held-out questions get at several bars, and write the weights."""
    with encoders(context.settings, context.home) as (_, encoder):
        rows = _joined(read_abstracts(context, the_reader(), encoder))
    mean, scale = rows.x.mean(axis=0), np.maximum(rows.x.std(axis=0), 1e-6)
    x = (rows.x - mean) / scale
    chances = held_out(x, rows.y)
    best, right = chances.max(axis=1), chances.argmax(axis=1) == rows.y
    for bar in sorted({*BARS, VerdictSettings().overall}):
        said = best >= bar
        tell(f"from {bar:.2f}: {said.mean():.1%} of {len(rows.y)} answered, {right[said].mean():.1%} of these right")
    model = _fitted(x, rows.y)
    store(out, {"mean": mean, "scale": scale, "weight": model.coef_.T, "bias": model.intercept_}, {})


def read_abstracts(context: TaskContext, reader: Reader, encoder: Encoder) -> Iterator[tuple[Floats, int]]:
    """The features of each question's abstract, and its answer's place among the outcomes."""
    for row in context.each(abstracts(context, judge=False), "abstracts"):
        text = abstract(row)
        told = in_context(text)
        read = reader.read([Pair(row.question, span.of(text), "", before) for span, before in told])
        parts = parts_of([(text, span) for span, _ in told], read)
        place = next(at for at, stance in enumerate(OUTCOMES) if OF_STANCE[stance] == GOLD[row.answer])
        yield features(row.question, parts, results_of(parts), encoder), place


def held_out(x: Floats, y: NDArray[np.int64]) -> Floats:
    """Of each row the chances by models that did not see it, (rows, outcomes), averaged over several divisions."""
    from sklearn.model_selection import StratifiedKFold

    chances = np.zeros((len(y), len(OUTCOMES)))
    for seed in range(REPEATS):
        for seen, unseen in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(x, y):
            chances[unseen] += _fitted(x[seen], y[seen]).predict_proba(x[unseen]) / REPEATS
    return chances


def _joined(rows: Iterator[tuple[Floats, int]]) -> Rows:
    every = list(rows)
    return Rows(np.array([x for x, _ in every]), np.array([y for _, y in every]))


def _fitted(x: Floats, y: NDArray[np.int64]) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=INVERSE, max_iter=STEPS).fit(x, y)
