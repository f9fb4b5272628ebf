"""What tells whether a disease of the graph explains a case, known from one look-up.

The leader's lead and how well it fits (what speaks for it, what against, how much of what it usually shows was told,
the person's age and sex), how much of the case's text it accounts for, and how much is in words that the graph lacks.
In English also how near the case's text is to the leader's entry, and to the names of diseases that the graph lacks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.knowledge_graph.edge.near import Near
from tools.knowledge_graph.observations import Reading
from tools.knowledge_graph.ranking import HEARD, Observation, Ranker, shares_of
from tools.knowledge_graph.schema import Graph
from tools.text.clauses import Clause
from tools.text.tokens import tokens

ACCOUNTS = 0.05  # ours: least gain in log-score by which a disease accounts for what a clause says
LEAST = 1e-4  # ours: shares below this are one and the same
OUT_OF_RANKING = -50.0  # a log-score at which nothing leads
BY_GRAPH = ("lead", "unknown_words", "accounted", "recall", "support", "against", "person")
BY_TEXT = ("near_leader", "near_others", "nearer_others")
Matrix = NDArray[np.float64]


class Look(NamedTuple):
    """A case as read, its diseases' log-scores, and how near its text is to names and entries; None in Chinese."""

    read: Reading
    log_scores: Matrix
    near: Near | None


class EdgeFeatures:
    """Features of look-ups in one graph."""

    def __init__(self, graph: Graph, ranker: Ranker) -> None:
        self._graph, self._ranker = graph, ranker
        self.position = {d.id: i for i, d in enumerate(graph.diseases)}

    @cached_property
    def _vocabulary(self) -> frozenset[str]:
        """Every word of the graph's names and wordings."""
        graph = self._graph
        found = {p for f in graph.findings for p in (f.name, f.zh, *f.say, *f.say_zh)}
        found |= {p for d in graph.diseases for p in (d.name, d.zh, *d.aliases, *d.aliases_zh)}
        return frozenset(word for phrase in found for word in tokens(phrase))

    def of(self, look: Look, without: str = "") -> dict[str, float]:
        """The features by name; ``without`` takes a disease out of the graph, as if it were not known."""
        log_scores = look.log_scores.copy()
        if without:
            log_scores[self.position[without]] = OUT_OF_RANKING
        shares = shares_of(log_scores)
        first, second = np.argsort(-shares, kind="stable")[:2]
        return {
            "lead": _log(shares[first]) - _log(shares[second]),
            **self._of_the_fit(look.read, int(first)),
            **self._of_the_text(look.read, int(first)),
            **self._of_the_names(look.near, int(first), without),
        }

    def _of_the_fit(self, read: Reading, leader: int) -> dict[str, float]:
        present = [o for o in read.standing.seen if o.present is not False]
        best = self._ranker.stated_by_family(present)[1][leader]
        told = best[~np.isneginf(best)]
        return {
            "support": float(told.clip(0).sum()),
            "against": float(-told.clip(None, 0).sum()),
            "recall": self._recall(present, leader),
            "person": float(self._ranker.fit(read.standing.person)[leader]),
        }

    def _recall(self, present: Sequence[Observation], leader: int) -> float:
        """The share of what the leader usually shows, each by how usual it is, that was told."""
        table = self._ranker.table
        usual = table.present[leader] * table.listed[leader]
        heard = {int(self._ranker.family[o.finding]) for o in present if o.score >= HEARD}
        told = np.array([int(f) in heard for f in self._ranker.family])
        return float(usual[told].sum() / (usual.sum() or 1.0))

    def _of_the_text(self, read: Reading, leader: int) -> dict[str, float]:
        gains: dict[int, float] = {}
        for o in read.standing.seen:
            if o.present is not False:
                gain = float(self._ranker.contributions(o)[leader])
                gains[o.clause] = max(gains.get(o.clause, gain), gain)
        words = {n: _words(c) for n, c in enumerate(read.told) if c.present is not False and not c.other}
        total = sum(map(len, words.values())) or 1
        accounted = sum(len(said) for n, said in words.items() if gains.get(n, 0.0) > ACCOUNTS)
        unknown = sum(word not in self._vocabulary for said in words.values() for word in said)
        return {"accounted": accounted / total, "unknown_words": unknown / total}

    def _of_the_names(self, near: Near | None, leader: int, without: str) -> dict[str, float]:
        if near is None:
            return {}
        known = near.names.copy()
        if without:
            known[self.position[without]] = -1.0
        return {
            "near_leader": float(near.entries[leader]),
            "near_others": near.others_mean,
            "nearer_others": math.log1p(near.others_above(float(known.max()))),
        }


def _log(share: float) -> float:
    return math.log(max(float(share), LEAST))


def _words(clause: Clause) -> list[str]:
    return [word for word in tokens(clause.plain) if not word.isdigit()]
