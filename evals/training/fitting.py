"""Logistic regressions of the trained heads: what they read of texts, what they say of rows that they did not see."""

from __future__ import annotations

import random
import warnings
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tools.knowledge_graph.loader import STARTER
from tools.reading.assertion import Context
from tools.reading.features import BUCKETS, DENSE, Features, features

WORDINGS = STARTER / "wordings"
NOTES = WORDINGS / "notes.jsonl"  # whole texts in which every finding is marked
FOLDS, SEED = 3, 7  # ours
Floats = NDArray[np.float64]


def matrix_of(dense: NDArray[Any], read: Sequence[Features | Context], width: int) -> Any:
    """A row a text: its dense columns, then its buckets, of which there are ``width``."""
    from scipy import sparse

    rows = np.repeat(np.arange(len(read)), [len(one.buckets) for one in read])
    columns, values = np.concatenate([one.buckets for one in read]), np.concatenate([one.values for one in read])
    grams = sparse.csr_matrix((values, (rows, columns)), shape=(len(read), width))
    return sparse.hstack([dense, grams], format="csr", dtype=np.float64)


def text_matrix(texts: Sequence[str]) -> Any:
    """A row a text: the encoder's layers, then the buckets."""
    read = features(texts)
    return matrix_of(np.stack([one.dense for one in read]), read, BUCKETS)


def frequent(matrix: Any, least: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The buckets that stand in ``least`` rows and more, and the columns of them and of the dense part."""
    buckets = np.flatnonzero(np.asarray((matrix[:, DENSE:] != 0).sum(0)).ravel() >= least)
    return buckets, np.concatenate([np.arange(DENSE), DENSE + buckets])


def logistic(x: Any, target: NDArray[Any], weight: Floats, inverse: float, steps: int) -> Any:
    """A regression fitted by L-BFGS.

    Args:
        inverse: inverse strength of the penalty. steps: at most; to stop early holds the weights small too.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LogisticRegression(C=inverse, max_iter=steps).fit(x, target, weight)


def fold_of(group: str, folds: int) -> int:
    """Which fold a group is in, the same everywhere."""
    return zlib.crc32(group.encode()) % folds


def held_out(
    x: Any, target: NDArray[Any], weight: Floats, groups: Sequence[str], inverse: float, steps: int, folds: int = FOLDS
) -> Floats:
    """Array (rows, classes): probabilities of each row by a regression that saw none of its group."""
    names = sorted(set(groups))
    random.Random(SEED).shuffle(names)  # noqa: S311
    fold = {name: at % folds for at, name in enumerate(names)}
    of = np.array([fold[g] for g in groups])
    out = np.zeros((len(target), int(target.max()) + 1))
    for k in range(folds):
        fitted = logistic(x[of != k], target[of != k], weight[of != k], inverse, steps)
        out[of == k] = fitted.predict_proba(x[of == k])
    return out
