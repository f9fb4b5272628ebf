"""What a case states and the leading disease does not account for, in the words of the case."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tools.contract import Finding, unique
from tools.knowledge_graph.edge.features import ACCOUNTS
from tools.knowledge_graph.observations import COUNTED, Reading
from tools.knowledge_graph.ranking import Ranker
from tools.knowledge_graph.schema import Graph
from tools.literature.vocabulary import chinese_terms, known_words
from tools.medicines.names import medicines_in
from tools.text.body_sites import is_only_a_part
from tools.text.clauses import Clause
from tools.text.medicines import tells_of_medicine

LEADING, BEHIND = 3, 0.5  # ours: leading diseases at most, and the share of the first's belief that one of them needs
COMPLAINTS = ("symptom", "sign", "test")  # kinds of findings that want an explanation; a habit or a history does not
NAMED = 8  # ours: findings that are named at most
FAINT = 0.35  # ours: score from which a clause seems to tell of some finding, of which it is then not sure
WORD = re.compile(r"[a-z]{3}|[\u4e00-\u9fff]", re.IGNORECASE)  # ours: "32F" has none, and tells no complaint
OF_PAIN = re.compile(r"\bpain|[疼痛]", re.IGNORECASE)  # ours
RARE, SHAPED = 50, 2.0  # ours: documents of prose that hold a word at most, and by its letters how much it is medical


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


def unread(case: str, graph: Graph, read: Reading) -> tuple[str, ...]:
    """Clauses not understood: each seems to state a complaint, or holds a word of medicine, and none of it counts."""
    best: dict[int, float] = {}
    faint: dict[int, float] = {}
    for match in read.matches:
        best[match.clause] = max(best.get(match.clause, 0.0), match.score)
        if graph.findings[match.finding].kind in COMPLAINTS:
            faint[match.clause] = max(faint.get(match.clause, 0.0), match.score)
    said = [
        c.text.strip()
        for n, c in enumerate(read.told)
        if best.get(n, 0.0) < COUNTED
        and not (c.reading or c.other or c.past or c.normal or c.present is False)
        and not case[c.end :].lstrip().startswith((":", "："))  # a heading
        and not any(k.clause and c.text in k.clause for k in read.settled)
        and _seems_medical(c, faint.get(n, 0.0))
    ]
    return tuple(unique(said)[:NAMED])


def _seems_medical(clause: Clause, heard: float) -> bool:
    """Whether a clause tells of something that is not understood; where a pain is and how it is are read elsewhere."""
    if medicines_in(clause.text) or tells_of_medicine(clause.text) or is_only_a_part(clause.plain):
        return False
    if OF_PAIN.search(clause.text):
        return False
    known = known_words()
    words = re.findall(r"[a-z]{4,}", clause.text.lower())
    rare = any(known.listed(w) or (known.frequency(w) < RARE and known.shape(w) >= SHAPED) for w in words)
    worded = bool(WORD.search(clause.text))
    return (heard >= FAINT and worded) or rare or bool(chinese_terms(clause.text))


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
