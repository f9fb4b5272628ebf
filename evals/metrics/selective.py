"""How well a score tells right answers from wrong ones, under many weightings of the rows at once.

Each function takes weights as an array (resamples, rows): how often a resample of a bootstrap holds each row. One row
of ones gives the figure itself. Rows with equal scores are taken together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
BINS = 10  # asked: bins of the calibration error, of equal width


def auroc(scores: Matrix, right: NDArray[np.bool_], weights: Matrix) -> Matrix:
    """Array (resamples,): the chance that a right row scores higher than a wrong one; NaN where one kind is absent."""
    good, bad = _grouped(scores, weights * right), _grouped(scores, weights * ~right)
    below = np.cumsum(bad, axis=1) - bad
    with np.errstate(invalid="ignore", divide="ignore"):
        area: Matrix = (good * (below + bad / 2)).sum(axis=1) / (good.sum(axis=1) * bad.sum(axis=1))
    return area


def aurc(scores: Matrix, right: NDArray[np.bool_], weights: Matrix) -> Matrix:
    """Array (resamples,): area under the risk-coverage curve (Geifman and El-Yaniv 2017), lower is better.

    The mean, over rows from the highest score down, of the share of wrong rows among those at least as high.
    """
    count = _grouped(-scores, weights)
    wrong = np.cumsum(_grouped(-scores, weights * ~right), axis=1)
    total = np.cumsum(count, axis=1)
    risk = np.divide(wrong, total, out=np.zeros_like(wrong), where=total > 0)
    area: Matrix = (count * risk).sum(axis=1) / count.sum(axis=1)
    return area


def calibration_error(probabilities: Matrix, right: NDArray[np.bool_], weights: Matrix) -> Matrix:
    """Array (resamples,): expected calibration error over bins of equal width (Naeini et al. 2015)."""
    bins = bin_of(probabilities)
    off = weights * (probabilities - right)
    gaps = [np.abs(off[:, bins == b].sum(axis=1)) for b in range(BINS)]
    error: Matrix = np.sum(gaps, axis=0) / weights.sum(axis=1)
    return error


def bin_of(probabilities: Matrix) -> NDArray[np.int64]:
    """Array (rows,): the bin of each probability, 1 in the last."""
    return np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)


def share_of(hits: NDArray[np.bool_], among: NDArray[np.bool_], weights: Matrix) -> Matrix:
    """Array (resamples,): the share of hits among some rows; NaN where there are none."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share: Matrix = (weights @ (hits & among).astype(float)) / (weights @ among.astype(float))
    return share


def _grouped(scores: Matrix, values: Matrix) -> Matrix:
    """Array (resamples, distinct scores): values summed over rows of equal score, lowest score first."""
    order = np.argsort(scores, kind="stable")
    ranked = scores[order]
    starts = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
    sums: Matrix = np.add.reduceat(values[:, order], starts, axis=1)
    return sums
