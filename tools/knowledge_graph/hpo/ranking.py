"""Ranking of annotated diseases by the phenotypes of a patient.

For each phenotype the evidence of a disease is the log of how much likelier the phenotype is with it than in general,
through the best of the phenotype's ancestors that the disease has: the information content of that ancestor (Resnik
1995), its rate in the disease (as LIRICAL's likelihood ratio, Robinson et al. 2020), less a price for not being the
phenotype itself. The combination and its constants are ours; they are six global numbers tuned on development cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tools.evidence import Frozen
from tools.knowledge_graph.hpo.ontology import Floats, Ints, LeftOut, Ontology, information

TINY = 1e-9  # ours: stands for a rate of zero in a logarithm; every floor is far above


class RankingSettings(Frozen):
    """Constants of the ranking. All ours, tuned together on development cases; see docs/rare-disease.md.

    Attributes:
        frequency: power of the rate of a phenotype in a disease; 1 would take every rate at its word.
        distance: price of an ancestor, by nat of information content between it and the phenotype.
        inexact: price of any ancestor but the phenotype itself, nats.
        floor: evidence of a phenotype that the disease has nothing in common with, nats. It is above zero because
            shared ancestors near the root say nothing.
        size: price of the log of the number of annotations: a long entry fits more by chance.
        size_offset: annotations added before that log is taken.
        excluded: weight of a phenotype that the patient has not; small, because what is looked for in vain is often
            just what the disease may have.
        certain: highest rate that an excluded phenotype is counted with.
        temperature: of the shares of belief.
    """

    frequency: float = 0.5
    distance: float = 0.6
    inexact: float = 1.0
    floor: float = 0.5
    size: float = 1.0
    size_offset: float = 10.0
    excluded: float = 0.1
    certain: float = 0.95
    temperature: float = 2.0


@dataclass(frozen=True)
class Observed:
    """A phenotype of the patient: one term, or several that a wording may mean.

    Attributes:
        terms: positions. weights: how likely each is meant, sum 1. trust: how sure the wording is read, 0..1.
    """

    terms: tuple[int, ...]
    weights: tuple[float, ...] = (1.0,)
    trust: float = 1.0


class HpoRanker:
    """Ranks the diseases of an ontology. Pure: may be used from several threads.

    Args:
        diseases: how many of the first diseases are ranked; None for those of OMIM.
    """

    def __init__(
        self, ontology: Ontology, settings: RankingSettings | None = None, *, diseases: int | None = None
    ) -> None:
        self._ontology = ontology
        self._settings = settings or RankingSettings()
        self._count = ontology.omim if diseases is None else diseases
        sizes = np.bincount(ontology.annotations.disease, minlength=len(ontology.diseases))
        self._sizes = sizes[: self._count].astype(np.float32)

    def scores(
        self, observed: Sequence[Observed], excluded: Sequence[int], left_out: LeftOut | None = None
    ) -> NDArray[np.float64]:
        """Evidence in nats for each disease, array (diseases,); without any observation all are 0.

        Args:
            observed: phenotypes that the patient has. excluded: positions of those looked for and absent.
            left_out: a change of the annotations (an evaluation's).
        """
        if not observed and not excluded:
            return np.zeros(self._count)
        above, columns = self._columns(observed, excluded)
        place = {int(c): n for n, c in enumerate(columns)}
        table, sizes = self._table(columns, left_out)
        content = self._content(columns, left_out)
        logs = np.log(np.maximum(table, TINY)) * np.float32(self._settings.frequency)
        total: NDArray[np.float64] = -self._settings.size * np.log(sizes + self._settings.size_offset).astype(
            np.float64
        )
        single = {t: self._evidence(t, above[t], logs, content, place) for o in observed for t in o.terms}
        for item in observed:
            total += item.trust * _mixed([single[t] for t in item.terms], item.weights)
        for term in excluded:
            total += self._against(table[:, place[term]], float(content[place[term]]))
        return total

    def shares(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Shares of belief over the ranked diseases, sum 1."""
        scaled = (scores - scores.max()) / self._settings.temperature
        weights = np.exp(scaled)
        return np.asarray(weights / weights.sum())

    def _columns(self, observed: Sequence[Observed], excluded: Sequence[int]) -> tuple[dict[int, Ints], Ints]:
        above = {t: self._ontology.ancestors[t] for o in observed for t in o.terms}
        needed = [*above.values(), np.array(excluded, dtype=np.int32)]
        return above, np.unique(np.concatenate(needed)).astype(np.int32)

    def _table(self, columns: Ints, left_out: LeftOut | None) -> tuple[Floats, Floats]:
        table = self._ontology.rates.dense(columns, len(self._ontology.diseases))[: self._count]
        if left_out is None:
            return table, self._sizes
        inside = left_out.diseases < self._count
        at = left_out.diseases[inside]
        table[at] = left_out.rates[inside][:, columns]
        sizes = self._sizes.copy()
        sizes[at] = left_out.sizes[inside]
        return table, sizes

    def _content(self, columns: Ints, left_out: LeftOut | None) -> Floats:
        if left_out is None:
            content: Floats = self._ontology.content[columns]
            return content
        return information(self._ontology.carriers[columns] - left_out.lost[columns], self._ontology.omim)

    def _evidence(self, term: int, above: Ints, logs: Floats, content: Floats, place: dict[int, int]) -> Floats:
        own = content[place[term]]
        best = np.full(len(logs), self._settings.floor, dtype=np.float32)
        for ancestor in above:
            column = place[int(ancestor)]
            price = self._settings.distance * (own - content[column])
            worth = content[column] - price - (self._settings.inexact if ancestor != term else 0.0)
            if worth > self._settings.floor:
                np.maximum(best, logs[:, column] + np.float32(worth), out=best)
        return best

    def _against(self, rates: Floats, content: float) -> NDArray[np.float64]:
        general = min(float(np.exp(-content)), self._settings.certain)
        missed = np.log1p(-np.minimum(rates, self._settings.certain).astype(np.float64))
        return np.asarray(self._settings.excluded * (missed - np.log1p(-general)))


def _mixed(evidence: Sequence[Floats], weights: Sequence[float]) -> Floats:
    """The evidence of a wording that may mean several terms: the log of the weighted mean of the ratios."""
    if len(evidence) == 1:
        return evidence[0]
    stacked = np.stack(evidence).astype(np.float64)
    highest = stacked.max(axis=0)
    mean = (np.exp(stacked - highest) * np.array(weights)[:, None]).sum(axis=0)
    return np.asarray(highest + np.log(mean), dtype=np.float32)
