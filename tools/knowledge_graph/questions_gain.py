"""What an answer would make of the ranking, for every finding at once, and the gain to be expected of asking (ours).

An answer counts as a plain statement of one finding, with the bounds, families and tempering of the ranking itself:
`after_answer` gives what `Ranker.scores` would give with that observation added. How likely an answer is comes from
the presence rates of the diseases, weighed by the present belief.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.knowledge_graph.ranking import HEARD, SECOND, Observation, Ranker, shares_of
from tools.text.demographics import Person

Matrix = NDArray[np.float64]
Positions = NDArray[np.int64]


class Outcomes(NamedTuple):
    """What asking would bring.

    Attributes:
        shares: (diseases,), belief now, summing to 1.
        yes, no: (diseases, findings asked about), belief after the answer, columns summing to 1.
        p_yes: (findings asked about,), probability of a yes.
        gain: (findings asked about,), expected fall of entropy in bits; negative where an answer would unsettle.
    """

    shares: Matrix
    yes: Matrix
    no: Matrix
    p_yes: Matrix
    gain: Matrix


def entropy(shares: Matrix) -> Matrix:
    """Entropy in bits over the first axis of an array of distributions."""
    summed: Matrix = -(shares * np.log2(np.maximum(shares, 1e-300))).sum(axis=0)
    return summed


def outcomes(ranker: Ranker, seen: Sequence[Observation], person: Person, findings: Sequence[int]) -> Outcomes:
    """What asking about each of these findings would bring; none of them may be in ``seen`` or settled by it."""
    asked = np.asarray(findings, dtype=np.int64)
    now = ranker.log_scores(seen, person)
    shares = shares_of(now)
    heard = _heard(ranker, seen, asked)
    yes = shares_of(now[:, None] + after_statement(ranker, seen, asked) + heard)
    no = shares_of(now[:, None] + after_denial(ranker, seen, asked) + heard)
    p_yes: Matrix = shares @ ranker.table.present[:, asked]
    gain: Matrix = entropy(shares) - p_yes * entropy(yes) - (1 - p_yes) * entropy(no)
    return Outcomes(shares, yes, no, p_yes, gain)


def after_statement(ranker: Ranker, seen: Sequence[Observation], asked: Positions) -> Matrix:
    """Array (diseases, asked): what a yes adds, beside what the finding's family has added already."""
    best, _ = ranker.stated_by_family([o for o in seen if o.present is not False])
    value, family = ranker.present[:, asked], ranker.family[asked]
    told = best[:, family]
    first = np.isneginf(told)
    known = np.where(first, 0.0, told)
    joined = np.maximum(known, value) - known + SECOND * np.maximum(np.minimum(known, value), 0)
    added: Matrix = np.where(first, value, joined)
    return added


def after_denial(ranker: Ranker, seen: Sequence[Observation], asked: Positions) -> Matrix:
    """Array (diseases, asked): what a no adds: of a family the strongest denial counts."""
    value, family = ranker.denied[:, asked], ranker.family[asked]
    known = np.full(ranker.denied.shape, np.inf)
    for o in seen:
        if o.present is False:
            column = ranker.family[o.finding]
            known[:, column] = np.minimum(known[:, column], ranker.contributions(o))
    told = known[:, family]
    added: Matrix = np.where(np.isposinf(told), value, np.minimum(told, value) - told)
    return added


def _cost_of_silence(ranker: Ranker, seen: Sequence[Observation]) -> tuple[Matrix, Matrix]:
    """Two arrays: (diseases, findings) cost of each family that is silent, at its first column; (diseases,) the sum."""
    told = {int(ranker.family[o.finding]) for o in seen if o.score >= HEARD}
    by_family = ranker.missed_by_family.copy()
    by_family[:, sorted(told)] = 0
    return by_family, by_family.sum(axis=1)


def _heard(ranker: Ranker, seen: Sequence[Observation], asked: Positions) -> Matrix:
    """Array (diseases, asked): what is given back when the case is silent about the finding's family no more."""
    by_family, total = _cost_of_silence(ranker, seen)
    left = total[:, None] - by_family[:, ranker.family[asked]]
    given: Matrix = np.minimum(total, ranker.missed_most)[:, None] - np.minimum(left, ranker.missed_most[:, None])
    return given


def out_of_silence(ranker: Ranker, seen: Sequence[Observation], asked: Positions) -> Matrix:
    """Array (diseases,): what is given back when the case is silent about none of these findings' families."""
    by_family, total = _cost_of_silence(ranker, seen)
    left = total - by_family[:, sorted({int(f) for f in ranker.family[asked]})].sum(axis=1)
    given: Matrix = np.minimum(total, ranker.missed_most) - np.minimum(left, ranker.missed_most)
    return given
