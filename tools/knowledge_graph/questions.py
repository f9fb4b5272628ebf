"""The next best questions: those whose answer is expected to tell most about the present ranking."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from tools.contract import FollowUpQuestion
from tools.knowledge_graph.frequencies import Frequencies
from tools.knowledge_graph.schema import FindingNode, Graph
from tools.knowledge_graph.votes import sigma, typical_nodes

Matrix = NDArray[np.float64]

NEED_A_CLINICIAN = ("sign", "test")  # ours: asked about only when nothing else is left
HONEST = 0.95  # ours: how often an answer is right; keeps one answer from deciding all
LEADING = 5  # ours: diseases from which the two are named that a question tells apart
SMALLEST_GAIN = 0.01  # bits; ours: a question worth less is not asked


def entropy(shares: Matrix) -> float:
    """Entropy of a distribution in bits."""
    positive = shares[shares > 0]
    return float(-(positive * np.log2(positive)).sum()) if len(positive) else 0.0


def expected_gain(shares: Matrix, present: Matrix) -> Matrix:
    """Array (findings,): expected fall of entropy in bits when a finding is asked about.

    Args:
        shares: (diseases,), belief, summing to 1.
        present: (diseases, findings), probability of the finding in the disease.
    """
    yes = HONEST * present + (1 - HONEST) * (1 - present)
    p_yes = shares @ yes
    after = np.zeros(present.shape[1])
    for likelihood, p in ((yes, p_yes), (1 - yes, 1 - p_yes)):
        belief = shares[:, None] * likelihood / np.maximum(p, 1e-12)
        after += p * -(belief * np.log2(np.maximum(belief, 1e-12))).sum(axis=0)
    gain: Matrix = np.maximum(entropy(shares) - after, 0.0)
    return gain


class Questioner:
    """Chooses questions over one graph."""

    def __init__(self, graph: Graph, table: Frequencies) -> None:
        self._graph, self._table = graph, table
        self._sigma = sigma(graph)
        typical = typical_nodes(graph)
        self._askable = [i for i, f in enumerate(graph.findings) if f.id in typical]

    def next_questions(
        self, shares: Matrix, stated: Collection[str], denied: Collection[str], language: str, limit: int
    ) -> tuple[FollowUpQuestion, ...]:
        """The best questions, most telling first.

        Args:
            shares: (diseases,), the present ranking.
            stated, denied: ids of findings that the case states or denies; what they imply is not asked either.
        """
        known = self._settled(stated, denied)
        gains = expected_gain(shares, self._table.present)
        open_ = [i for i in self._askable if self._graph.findings[i].id not in known and gains[i] >= SMALLEST_GAIN]
        plain = [i for i in open_ if self._graph.findings[i].kind not in NEED_A_CLINICIAN] or open_
        best = sorted(plain, key=lambda i: (-gains[i], -self._sigma[self._graph.findings[i].id], i))
        chosen: list[int] = []
        for i in best:  # two questions of one family say much the same
            if len(chosen) < limit and not any(self._related(i, j) for j in chosen):
                chosen.append(i)
        return tuple(self._question(i, float(gains[i]), shares, language) for i in chosen)

    def _settled(self, stated: Collection[str], denied: Collection[str]) -> set[str]:
        known = set(stated) | set(denied)
        for finding in stated:
            known.update(self._graph.broader(finding))
        for finding in denied:
            known.update(self._graph.narrower[finding])
        return known

    def _related(self, i: int, j: int) -> bool:
        one, other = self._graph.findings[i].id, self._graph.findings[j].id
        return other in self._graph.broader(one) or one in self._graph.broader(other)

    def _question(self, i: int, gain: float, shares: Matrix, language: str) -> FollowUpQuestion:
        finding = self._graph.findings[i]
        leading = np.argsort(-shares, kind="stable")[:LEADING]
        rates = self._table.present[leading, i]
        pair = [leading[int(rates.argmax())], leading[int(rates.argmin())]]
        names = [self._graph.diseases[d].zh if language == "zh" else self._graph.diseases[d].name for d in pair]
        between = tuple(dict.fromkeys(names)) if pair[0] != pair[1] else ()
        return FollowUpQuestion(finding=finding.id, text=wording(finding, language), gain=gain, between=between)


def wording(finding: FindingNode, language: str) -> str:
    """How a finding is asked about."""
    if language == "zh":
        return finding.ask_zh or f"您是否有{finding.zh}？"
    return finding.ask or f"Is there {finding.name}?"
