"""What a case states and the leading disease does not account for, in the words of the case."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tools.contract import Finding, unique
from tools.knowledge_graph.edge.features import ACCOUNTS
from tools.knowledge_graph.observations import Reading
from tools.knowledge_graph.ranking import Ranker
from tools.knowledge_graph.schema import Graph

LEADING, BEHIND = 3, 0.5  # ours: leading diseases at most, and the share of the first's belief that one of them needs
COMPLAINTS = ("symptom", "sign", "test")  # kinds of findings that want an explanation; a habit or a history does not
NAMED = 8  # ours: findings that are named at most


def unexplained(
    graph: Graph, ranker: Ranker, read: Reading, shares: NDArray[np.float64], shown: Sequence[Finding]
) -> tuple[str, ...]:
    """Clauses of the case in their order, then answers to questions by the name of their finding.

    A clause is unexplained when it was read as a complaint and no reading of it speaks for the leading disease; where
    several lead, it is the one of them that leaves least.
    """
    order = np.argsort(-shares[: len(graph.diseases)], kind="stable")[:LEADING]
    leading = [int(d) for d in order if shares[d] >= BEHIND * shares[order[0]]]
    left = min((_left_by(d, graph, ranker, read) for d in leading), key=len)
    said = [read.told[n].text.strip() for n in left if n < len(read.told) and not read.told[n].other]
    answered = {graph.findings[o.finding].id for o in read.standing.seen if o.clause in left}
    named = [f.name for f in shown if f.id in answered and f.start < 0]
    return tuple(unique([*said, *named])[:NAMED])


def _left_by(disease: int, graph: Graph, ranker: Ranker, read: Reading) -> list[int]:
    """The clauses, and answers beyond them, that tell of a complaint and do not speak for a disease."""
    best: dict[int, float] = {}
    wanting: set[int] = set()
    for o in (o for o in read.standing.seen if o.present):
        gain = float(ranker.contributions(o)[disease])
        best[o.clause] = max(best.get(o.clause, gain), gain)
        if graph.findings[o.finding].kind in COMPLAINTS:
            wanting.add(o.clause)
    return [n for n in sorted(wanting) if best[n] <= ACCOUNTS]
