"""The method as published (MedRAG, arXiv 2502.04413): the set T by similarity, votes, K, sigma; no weighing of ours.

What the source leaves open is ours and said where it stands: denied features are left out, and diseases are ranked by
the votes that reach them, because the source leaves the last choice to a language model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tools.contract import Differential, Finding, FollowUpQuestion
from tools.encoders import Encoder
from tools.knowledge_graph.compiled import CompiledGraph
from tools.knowledge_graph.entries import FOR, Explanation, line_of
from tools.knowledge_graph.observations import finding_of, told_in
from tools.knowledge_graph.questions import entropy, wording
from tools.knowledge_graph.votes import contrasts, count_votes, most_discriminating, sigma, typical_nodes
from tools.text.clauses import Clause, clauses
from tools.text.language import language_of

TOP_M = 5  # code: m, the nodes of L4d kept a feature
THRESHOLD = 0.5  # code: t, a node counts strictly above it
ASKED = 5  # ours: the k of the questions; the source leaves it open
NEARNESS = 1e-3  # ours: weight of the similarities beside the votes; it orders diseases of equal votes and no others


class PaperMethod:
    """The published look-up over one compiled graph.

    Args:
        compiled: the graph and the vectors of its phrases.
        encoder: the encoder that made those vectors.
    """

    def __init__(self, compiled: CompiledGraph, encoder: Encoder) -> None:
        self._graph, self._encoder = compiled.graph, encoder
        self._nodes = typical_nodes(compiled.graph)
        self._sigma = sigma(compiled.graph)
        typical = np.array([f.id in self._nodes for f in compiled.graph.findings])
        owner = np.array(compiled.owner)
        kept = typical[owner]  # only L4d is matched: a node of L4a must not take one of the m places
        self._vectors = compiled.vectors[kept]
        owned = owner[kept]
        self._starts = np.flatnonzero(np.r_[True, owned[1:] != owned[:-1]]) if len(owned) else np.zeros(0, np.int64)
        self._findings = owned[self._starts] if len(owned) else owned
        self._diseases = _diseases_of(compiled)
        self._position = {f.id: i for i, f in enumerate(compiled.graph.findings)}

    def nearest(self, features: Sequence[str]) -> list[dict[str, float]]:
        """For each feature its nodes of T: of the `TOP_M` most similar those above `THRESHOLD`, with the cosine."""
        if not features or not len(self._findings):
            return [{} for _ in features]
        cosines = self._encoder.encode_queries(features) @ self._vectors.T
        by_node = np.maximum.reduceat(cosines, self._starts, axis=1)
        out = []
        for row in by_node:
            best = np.argsort(-row, kind="stable")[:TOP_M]
            out.append({self._graph.findings[self._findings[i]].id: float(row[i]) for i in best if row[i] > THRESHOLD})
        return out

    def look_up(
        self, case: str, language: str | None = None, limit: int = 10, known: Sequence[Finding] = ()
    ) -> Differential:
        """The differential of a case; arguments as for `tools.knowledge_graph.lookup.KnowledgeGraph.look_up`."""
        language = language or language_of(case)
        known = [k for k in known if not told_in(case, k)]
        told = [c for c in clauses(case) if c.present is not False and not c.other]
        found = self.nearest([c.plain for c in told])
        matched: dict[str, float] = {}
        for nodes in found:
            for node, cosine in nodes.items():
                matched[node] = max(cosine, matched.get(node, 0.0))
        for k in known:  # an answer to a question stands above what was matched
            matched.pop(k.id, None)
            if k.present and k.id in self._nodes:
                matched[k.id] = 1.0
        votes = count_votes(self._nodes, matched)
        shares = self._shares(matched, frozenset(votes.winners))
        order = [int(d) for d in np.argsort(-shares, kind="stable") if shares[d] > 0]
        return Differential(
            graph=self._graph.about.name,
            mode="paper",
            findings=(*self._shown(told, found, matched, language), *(k for k in known if k.id in self._nodes)),
            ranking=tuple(
                line_of(self._graph, d, float(shares[d]), self._why(d, matched, language), language)
                for d in order[:limit]
            ),
            categories=votes.categories,
            winners=votes.winners,
            contrasts=contrasts(self._graph, votes.winners, language),
            questions=self._questions(votes.winners, matched, known, language),
            margin=_margin(shares),
            entropy=float(entropy(shares)),
        )

    def _shares(self, matched: Mapping[str, float], winners: frozenset[str]) -> NDArray[np.float64]:
        """Array (diseases,): the diseases of the winning L2 first, by the votes that reach them (ours).

        A node's vote is split among the diseases that have it, as votes are among L2.
        """
        votes = np.zeros(len(self._graph.diseases))
        for node, cosine in matched.items():
            reached = self._diseases.get(node, ())
            for d in reached:
                votes[d] += (1 + NEARNESS * cosine) / len(reached)
        won = np.array([d.l2 in winners for d in self._graph.diseases])
        votes = np.where(won & (votes > 0), votes + votes.max(initial=0.0), votes)
        total = votes.sum()
        return votes / total if total > 0 else votes

    def _why(self, disease: int, matched: Mapping[str, float], language: str) -> Explanation:
        has = [f for f in sorted(matched, key=lambda f: (-matched[f], f)) if disease in self._diseases.get(f, ())]
        nodes = [self._graph.finding[f] for f in has[:FOR]]
        return Explanation(tuple(n.zh if language == "zh" else n.name for n in nodes), (), ())

    def _questions(
        self, winners: Sequence[str], matched: Mapping[str, float], known: Sequence[Finding], language: str
    ) -> tuple[FollowUpQuestion, ...]:
        told = {*matched, *(k.id for k in known)}
        return tuple(
            FollowUpQuestion(finding=f, text=wording(self._graph.finding[f], language), gain=0.0)
            for f in most_discriminating(self._graph, winners, told, ASKED)
        )

    def _shown(
        self, told: Sequence[Clause], found: Sequence[Mapping[str, float]], matched: Mapping[str, float], language: str
    ) -> list[Finding]:
        """T as findings, each at the clause that is nearest to it."""
        out: dict[str, Finding] = {}
        for clause, nodes in zip(told, found, strict=True):
            for id_, cosine in nodes.items():
                if matched.get(id_) == cosine and id_ not in out:
                    at = self._position[id_]
                    out[id_] = finding_of(self._graph, at, clause, clause.present, cosine, language)
        return list(out.values())


def _diseases_of(compiled: CompiledGraph) -> dict[str, tuple[int, ...]]:
    """For each node of L4d the diseases whose typical presentation it is in."""
    graph = compiled.graph
    out: dict[str, list[int]] = {}
    for d, disease in enumerate(graph.diseases):
        for edge in disease.manifestations:
            if "d" in edge.roles and edge.how_often != "absent" and not graph.finding[edge.finding].only_shown:
                out.setdefault(edge.finding, []).append(d)
    return {finding: tuple(diseases) for finding, diseases in out.items()}


def _margin(shares: NDArray[np.float64]) -> float:
    first, second = [*sorted((float(s) for s in shares), reverse=True), 0.0, 0.0][:2]
    return first - second
