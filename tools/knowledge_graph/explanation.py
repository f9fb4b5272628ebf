"""Why a disease stands where it does, in the words of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tools.knowledge_graph.frequencies import HOW_OFTEN
from tools.knowledge_graph.ranking import Observation, Ranker
from tools.knowledge_graph.schema import FindingNode, Graph

FOR, AGAINST, MISSING = 8, 6, 5  # ours: at most this many of each are named
SUPPORT = 0.05  # ours: least gain in log-score for which a finding is named as support
DENIAL = -0.1  # ours: a denied finding that costs less is not named
USUAL = HOW_OFTEN["usual"]  # a finding this frequent is missed when the case does not mention it


@dataclass(frozen=True)
class Explanation:
    """Names of findings: what speaks for a disease, what against, and usual findings that were not mentioned."""

    supporting: tuple[str, ...]
    against: tuple[str, ...]
    missing: tuple[str, ...]


class Explainer:
    """Explains rankings of one graph."""

    def __init__(self, graph: Graph, ranker: Ranker) -> None:
        self._graph, self._ranker = graph, ranker

    def explain(self, disease: int, seen: Sequence[Observation], language: str) -> Explanation:
        """The explanation for the disease at a position of ``graph.diseases``."""
        table = self._ranker.table
        best: dict[int, tuple[float, Observation]] = {}
        for o in seen:
            value = float(self._ranker.contributions(o)[disease])
            if o.finding not in best or abs(value) > abs(best[o.finding][0]):
                best[o.finding] = (value, o)
        ordered = sorted(best.items(), key=lambda item: (-item[1][0], item[0]))
        named = {self._graph.findings[f].id for f, (value, o) in ordered if o.present is not False and value > SUPPORT}
        supporting = [
            self._name(f, language)
            for f, (value, o) in ordered
            if o.present is not False and value > SUPPORT and table.listed[disease, f]
            # what a narrower finding that is named implies is not named again
            if not named.intersection(self._graph.narrower[self._graph.findings[f].id])
        ]
        against = [
            self._name(f, language, denied=o.present is False)
            for f, (value, o) in reversed(ordered)
            if (o.present is False and value < DENIAL and table.listed[disease, f])
            or (o.present and table.absent[disease, f])
        ]
        return Explanation(tuple(supporting[:FOR]), tuple(against[:AGAINST]), self._missing(disease, seen, language))

    def _missing(self, disease: int, seen: Sequence[Observation], language: str) -> tuple[str, ...]:
        told = {self._graph.findings[o.finding].id for o in seen}
        told |= {above for f in tuple(told) for above in self._graph.broader(f)}
        denied = {self._graph.findings[o.finding].id for o in seen if o.present is False}
        told |= {below for f in denied for below in self._graph.narrower[f]}
        edges = [
            (HOW_OFTEN[e.how_often], self._graph.finding[e.finding])
            for e in self._graph.diseases[disease].manifestations
            if e.finding not in told
            and HOW_OFTEN[e.how_often] >= USUAL
            and not self._graph.finding[e.finding].is_therapy
        ]
        edges.sort(key=lambda pair: (pair[1].kind in ("sign", "test"), -pair[0]))
        return tuple(_word(finding, language) for _, finding in edges[:MISSING])

    def _name(self, finding: int, language: str, denied: bool = False) -> str:
        name = _word(self._graph.findings[finding], language)
        if not denied:
            return name
        return f"无{name}" if language == "zh" else f"no {name}"


def _word(finding: FindingNode, language: str) -> str:
    return finding.zh if language == "zh" else finding.name
