"""What the records of a collection state, each statement once, and how far the clauses of a case agree with them.

A clause agrees with a record that says the same in nearly the same words. Where no record has its words, the finding
of the graph that it is read as decides: so a case told in other words, or in Chinese, is compared too.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.encoders import Encoder
from tools.knowledge_graph.matching import Match
from tools.knowledge_graph.observations import COUNTED
from tools.knowledge_graph.record_readings import BestFinding
from tools.text.clauses import Clause
from tools.text.demographics import read_person

# ours: cosines between which two wordings turn from different statements into the same one. Any place between .80 and
# .99 gives the same within a point when one of the 98 train rows of DDXPlus is left out (docs/knowledge-graph.md).
UNLIKE, SAME = 0.85, 0.95

Matrix = NDArray[np.float64]
Key = tuple[str, bool, bool]


class Agreement(NamedTuple):
    """Arrays of the clauses of a case.

    Attributes:
        records: (clauses, records), 0..1, how surely the record states the same.
        by_wording: (clauses,), whether words decide, or the finding that a clause is read as.
    """

    records: Matrix
    by_wording: NDArray[np.bool_]


class RecordStatements:
    """The statements of a collection. May be used from several threads.

    Args:
        clauses: of each record. best: for each clause the finding that it is read as (see `record_readings`).
        encoder: of statements and clauses.
    """

    def __init__(
        self, clauses: Sequence[Sequence[Clause]], best: Sequence[Sequence[BestFinding | None]], encoder: Encoder
    ) -> None:
        self._encoder, self._count = encoder, len(clauses)
        holders: dict[Key, set[int]] = {}
        self._findings: dict[tuple[int, bool], dict[int, float]] = {}
        for r, (told, readings) in enumerate(zip(clauses, best, strict=True)):
            for clause, reading in zip(told, readings, strict=True):
                if not countable(clause):
                    continue
                holders.setdefault(_key(clause), set()).add(r)
                if reading is not None:
                    known = self._findings.setdefault((reading.finding, reading.denied), {})
                    known[r] = max(known.get(r, 0.0), reading.score)
        self._row = {key: i for i, key in enumerate(holders)}
        self._holders = [np.array(sorted(records)) for records in holders.values()]
        self._denied = np.array([denied for _, denied, _ in holders], dtype=bool)
        self._other = np.array([other for _, _, other in holders], dtype=bool)
        self._vectors = encoder.encode_documents([text for text, _, _ in holders])
        self._lock = threading.Lock()

    def agreement(self, told: Sequence[Clause], matches: Sequence[Match], without: int | None = None) -> Agreement:
        """How far each record agrees with each clause of a case; rows of clauses that do not count are 0.

        Args:
            without: a record that is left out, as if the collection did not have it.
        """
        out = np.zeros((len(told), self._count))
        counted = [c for c, clause in enumerate(told) if countable(clause)]
        if counted and self._holders:
            self._compare_words([told[c] for c in counted], counted, out)
        kept = np.array([r != without for r in range(self._count)], dtype=bool)
        out *= kept
        by_wording: NDArray[np.bool_] = np.array([row.any() for row in out], dtype=bool)
        best = best_findings(told, matches)
        for c in counted:
            reading = best[c]
            if by_wording[c] or reading is None:
                continue
            for r, score in self._findings.get((reading.finding, reading.denied), {}).items():
                out[c, r] = kept[r] * reading.score * score
        return Agreement(out, by_wording)

    def _compare_words(self, told: Sequence[Clause], rows: Sequence[int], out: Matrix) -> None:
        cosines = self._vectors_of(told) @ self._vectors.T
        denied = np.array([c.present is False for c in told])
        other = np.array([c.other for c in told])
        alike = np.clip((cosines - UNLIKE) / (SAME - UNLIKE), 0, 1)
        alike *= (denied[:, None] == self._denied) & (other[:, None] == self._other)
        for at, statement in np.argwhere(alike > 0):
            holders = self._holders[statement]
            out[rows[at], holders] = np.maximum(out[rows[at], holders], alike[at, statement])

    def _vectors_of(self, told: Sequence[Clause]) -> NDArray[np.float32]:
        """Vectors of clauses: what a record says in the same words is not embedded again."""
        known = [self._row.get(_key(c)) for c in told]
        new = list(dict.fromkeys(c.plain for c, row in zip(told, known, strict=True) if row is None))
        place = {text: i for i, text in enumerate(new)}
        with self._lock:
            fresh = self._encoder.encode_queries(new) if new else self._vectors[:0]
        rows = [fresh[place[c.plain]] if k is None else self._vectors[k] for c, k in zip(told, known, strict=True)]
        return np.asarray(rows, dtype=np.float32)


def countable(clause: Clause) -> bool:
    """Whether a clause is compared: it says something, and not who the patient is, which the graph weighs itself."""
    return any(c.isalpha() for c in clause.plain) and read_person(clause.text).age is None


def best_findings(told: Sequence[Clause], matches: Sequence[Match]) -> list[BestFinding | None]:
    """For each clause the finding that it is surest read as, None where it is read as none."""
    out: list[BestFinding | None] = [None for _ in told]
    for m in matches:
        known = out[m.clause]
        if m.score >= COUNTED and (known is None or m.score > known.score):
            out[m.clause] = BestFinding(m.finding, m.present is False, m.score)
    return out


def _key(clause: Clause) -> Key:
    return (clause.plain, clause.present is False, clause.other)
