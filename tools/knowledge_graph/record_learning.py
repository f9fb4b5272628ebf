"""A ranking that learns from similar records (ours): what a collection of records says for each diagnosis.

The same sum as the graph's own (`tools.knowledge_graph.ranking`): each statement of the case adds the logarithm of how
much more often it stands in the records of a diagnosis than in the whole collection, within the same bounds. A
diagnosis without records gets nothing, for or against. Rates are drawn towards the collection's, so a few records say
little.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.knowledge_graph.ranking import LEAST, MOST
from tools.knowledge_graph.record_statements import Agreement, RecordStatements

# ours: records that the collection's rate weighs against a diagnosis' own; half a record, as in Jeffreys' prior. .25 to
# 1 give the same within two points when one of the 98 train rows of DDXPlus is left out
WEIGHT = 0.5
UNSEEN = 0.5  # ours: records in and out of the collection that a rate begins with; it keeps rates off 0 and 1
BY_FINDING = 0.5  # ours: weight of a clause compared by its finding: the graph has counted that finding once already
SPEAKS = 0.05  # ours: least gain for which a statement is named; as for findings (`tools.knowledge_graph.explanation`)
NAMED = 8  # ours: at most this many statements are named

Matrix = NDArray[np.float64]


class Learned(NamedTuple):
    """What the records say about one case.

    Attributes:
        log_ratios: (diagnoses,), what is added to each log-score.
        gains: (clauses, diagnoses), of what it is the sum. records: (clauses, records), who states the same.
    """

    log_ratios: Matrix
    gains: Matrix
    records: Matrix


class Support(NamedTuple):
    """What spoke for one diagnosis: positions of records, most shared first, and of the case's clauses, likewise."""

    records: tuple[int, ...]
    clauses: tuple[int, ...]


class RecordLearning:
    """Log-ratios from records.

    Args:
        statements: of the records.
        diagnosis: for each record the position of its diagnosis, below ``diagnoses``.
        diagnoses: how many there are, those without a record among them.
    """

    def __init__(self, statements: RecordStatements, diagnosis: Sequence[int], diagnoses: int) -> None:
        self._statements = statements
        self._diagnosis = np.array(diagnosis, dtype=np.int64)
        self._member = np.zeros((len(diagnosis), diagnoses))
        self._member[np.arange(len(diagnosis)), self._diagnosis] = 1
        self._records = self._member.sum(axis=0)

    def learn(self, agreement: Agreement, without: int | None = None) -> Learned:
        """What the records say, from how far they agree with the clauses of a case.

        Args:
            without: the record that was left out of the agreement.
        """
        stated, total, counts = agreement.records, len(self._diagnosis), self._records
        if without is not None:
            total, counts = total - 1, counts - self._member[without]
        among_all = (stated.sum(axis=1, keepdims=True) + UNSEEN) / (total + 2 * UNSEEN)
        rate = (stated @ self._member + WEIGHT * among_all) / (counts + WEIGHT)
        gains = np.clip(np.log(rate / among_all), LEAST, MOST)
        gains *= np.where(agreement.by_wording, 1.0, BY_FINDING)[:, None]
        gains[~stated.any(axis=1)] = 0  # what no record states tells nothing
        gains[:, counts == 0] = 0
        return Learned(gains.sum(axis=0), gains, stated)

    def support(self, learned: Learned, diagnosis: int) -> Support:
        """Which records and clauses spoke for a diagnosis; none where the records as a whole do not speak for it."""
        if learned.log_ratios[diagnosis] <= SPEAKS:
            return Support((), ())
        gains = learned.gains[:, diagnosis]
        clauses = [int(c) for c in np.argsort(-gains, kind="stable") if gains[c] > SPEAKS]
        shared = learned.records[clauses].sum(axis=0) * (self._diagnosis == diagnosis)
        records = [int(r) for r in np.argsort(-shared, kind="stable") if shared[r] > 0]
        return Support(tuple(records), tuple(clauses[:NAMED]))
