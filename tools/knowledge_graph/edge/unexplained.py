"""What a case states and no leading disease accounts for, in the words of the case."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tools.contract import Finding, unique
from tools.knowledge_graph.edge.features import ACCOUNTS
from tools.knowledge_graph.observations import Reading
from tools.knowledge_graph.ranking import Ranker
from tools.knowledge_graph.schema import Graph

LEADING, BEHIND = 3, 0.1  # ours: leading diseases at most, and the share of the first's belief that one of them needs
COMPLAINTS = ("symptom", "sign", "test")  # kinds of findings that want an explanation; a habit or a history does not
NAMED = 8  # ours: findings that are named at most


def unexplained(
    graph: Graph, ranker: Ranker, read: Reading, shares: NDArray[np.float64], shown: Sequence[Finding]
) -> tuple[str, ...]:
    """Clauses of the case in their order, then answers to questions by the name of their finding.

    A clause is unexplained when it was read as a complaint and no reading of it speaks for a leading disease.
    """
    order = np.argsort(-shares[: len(graph.diseases)], kind="stable")[:LEADING]
    leading = [d for d in order if shares[d] >= BEHIND * shares[order[0]]]
    best: dict[int, float] = {}
    wanting: set[int] = set()
    for o in read.standing.seen:
        if o.present is not True:
            continue
        gain = float(ranker.contributions(o)[leading].max())
        best[o.clause] = max(best.get(o.clause, gain), gain)
        if graph.findings[o.finding].kind in COMPLAINTS:
            wanting.add(o.clause)
    left = [n for n in sorted(wanting) if best[n] <= ACCOUNTS]
    said = [read.told[n].text.strip() for n in left if n < len(read.told) and not read.told[n].other]
    answered = {o.finding for o in read.standing.seen if o.clause in left and o.clause >= len(read.told)}
    ids = {graph.findings[f].id for f in answered}
    return tuple(unique([*said, *(f.name for f in shown if f.id in ids and f.start < 0)])[:NAMED])
