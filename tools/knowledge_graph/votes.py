"""Votes of the method (MedRAG, arXiv 2502.04413): from matched findings to subcategories, contrasts and sigma."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from tools.knowledge_graph.schema import FindingNode, Graph, Manifestation


@dataclass(frozen=True)
class Votes:
    """Votes by L2, most first (ties by id), and L2_s: every L2 that has the most."""

    categories: tuple[tuple[str, float], ...]
    winners: tuple[str, ...]


def typical_nodes(graph: Graph) -> dict[str, frozenset[str]]:
    """L4d: every finding that some disease has with role d, with the L2s of those diseases.

    Treatments are left out (ours), and so are edges that speak against the disease.
    """
    out: dict[str, set[str]] = {}
    for disease in graph.diseases:
        for edge in disease.manifestations:
            if _votes(graph.finding[edge.finding], edge):
                out.setdefault(edge.finding, set()).add(disease.l2)
    return {finding: frozenset(l2) for finding, l2 in out.items()}


def count_votes(nodes: Mapping[str, frozenset[str]], matched: Iterable[str]) -> Votes:
    """One vote for each matched node of L4d (the set T), to its nearest L2.

    A node whose diseases lie in several L2 at equal distance splits its vote equally, and all that tie for the most
    votes win (ours; the source is silent). Shares are exact, so that ties are.

    Args:
        nodes: L4d with the L2s of each node, from `typical_nodes`.
        matched: ids of matched findings; those outside L4d do not vote.
    """
    votes: dict[str, Fraction] = {}
    for finding in dict.fromkeys(matched):
        nearest = nodes.get(finding, frozenset())
        for l2 in nearest:
            votes[l2] = votes.get(l2, Fraction(0)) + Fraction(1, len(nearest))
    if not votes:
        return Votes((), ())
    most = max(votes.values())
    ordered = sorted(votes.items(), key=lambda item: (-item[1], item[0]))
    return Votes(
        categories=tuple((l2, float(n)) for l2, n in ordered),
        winners=tuple(l2 for l2, n in ordered if n == most),
    )


def contrasts(graph: Graph, winners: Iterable[str], language: str = "en") -> tuple[str, ...]:
    """K: for every disease under the winners, "disease | relation | what tells it apart" over its edges of role a."""
    chosen = set(winners)
    return tuple(
        f"{disease.zh if language == 'zh' else disease.name} | {graph.finding[edge.finding].relation} | "
        f"{_words(graph.finding[edge.finding], edge, language)}"
        for disease in graph.diseases
        if disease.l2 in chosen
        for edge in disease.manifestations
        if "a" in edge.roles
    )


def sigma(graph: Graph) -> dict[str, float]:
    """Discriminability of each node of L4d: (n - 1) / deg, n the nodes of L4d, deg the node's edges in the graph."""
    nodes = typical_nodes(graph)
    degree = dict.fromkeys(nodes, 0)
    for disease in graph.diseases:
        for edge in disease.manifestations:
            if edge.finding in degree:
                degree[edge.finding] += 1
    return {finding: (len(nodes) - 1) / n for finding, n in degree.items()}


def most_discriminating(graph: Graph, winners: Iterable[str], told: Iterable[str], k: int) -> list[str]:
    """The method's own follow-up: the k nodes of the winning subgraph with the highest sigma that were not told."""
    chosen, known, worth = set(winners), set(told), sigma(graph)
    inside = [f for f, l2 in typical_nodes(graph).items() if l2 & chosen and f not in known]
    return sorted(inside, key=lambda f: (-worth[f], f))[:k]


def _votes(finding: FindingNode, edge: Manifestation) -> bool:
    return "d" in edge.roles and edge.how_often != "absent" and not finding.only_shown


def _words(finding: FindingNode, edge: Manifestation, language: str) -> str:
    name = finding.zh if language == "zh" else finding.name
    if edge.how_often == "absent":
        name = f"无{name}" if language == "zh" else f"no {name}"
    return f"{name} ({edge.note})" if edge.note and language != "zh" else name
