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

from tools.knowledge_graph.ranking import SECOND, Observation, Ranker, shares_of
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
    families, best, _ = ranker.stated_by_family([o for o in seen if o.present is not False])
    added: Matrix = ranker.present[:, asked]
    told = np.isin(ranker.family[asked], families)
    known, value = best[:, np.searchsorted(families, ranker.family[asked[told]])], added[:, told]
    joined = np.maximum(known, value) - known + SECOND * np.maximum(np.minimum(known, value), 0)
    added[:, told] = np.where(np.isneginf(known), value, joined)
    return added


def after_denial(ranker: Ranker, seen: Sequence[Observation], asked: Positions) -> Matrix:
    """Array (diseases, asked): what a no adds: of a family the strongest denial counts."""
    added: Matrix = ranker.denied[:, asked]
    family = ranker.family[asked]
    known: dict[int, Matrix] = {}
    for o in seen:
        if o.present is False:
            column, value = int(ranker.family[o.finding]), ranker.contributions(o)
            known[column] = np.minimum(known[column], value) if column in known else value
    for column, value in known.items():
        at = family == column
        added[:, at] = np.minimum(value[:, None], added[:, at]) - value[:, None]
    return added


def _heard(ranker: Ranker, seen: Sequence[Observation], asked: Positions) -> Matrix:
    """Array (diseases, asked): what is given back when the case is silent about the finding's family no more."""
    heard, family = ranker.heard(seen), ranker.family[asked]
    total = ranker.silent(heard)[:, None]
    left = total - np.where(np.isin(family, heard), 0.0, ranker.missed_by_family[:, family])
    most = ranker.missed_most[:, None]
    given: Matrix = np.minimum(total, most) - np.minimum(left, most)
    return given


def out_of_silence(ranker: Ranker, seen: Sequence[Observation], asked: Positions) -> Matrix:
    """Array (diseases,): what is given back when the case is silent about none of these findings' families."""
    heard = ranker.heard(seen)
    total, left = ranker.silent(heard), ranker.silent(np.union1d(heard, ranker.family[asked]))
    given: Matrix = np.minimum(total, ranker.missed_most) - np.minimum(left, ranker.missed_most)
    return given
