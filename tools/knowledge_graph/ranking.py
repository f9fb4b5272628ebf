"""The ranking (ours): belief in every disease given what the case says and denies.

A naive Bayes model over clauses with guards against what makes such models overconfident: a clause counts once (its
best finding for each disease), a finding counts once (its best clause), a finding together with its broader ones counts
once, ratios are bounded, and the sum is tempered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tools.knowledge_graph.frequencies import Frequencies
from tools.knowledge_graph.schema import Disease, Graph
from tools.text.demographics import Person

Matrix = NDArray[np.float64]

SHARPNESS = 2.0  # ours: confidences are no probabilities; a doubtful match counts for less than its score
MOST, LEAST = 4.0, -2.0  # ours: bounds of one finding's log-likelihood ratio
ABSENT_LEAST, ABSENT_MOST = -2.5, 0.5  # ours: bounds for a denied finding
PRIOR = 0.9  # ours: weight of how common a disease is; chosen on DDXPlus's train rows and the written cases
SECOND = 0.35  # ours: worth of a second telling within one family (pain, and that it is worse on breathing in)
UNCERTAIN = 0.4  # ours: weight of what is stated as possible
UNMENTIONED = 0.12  # ours: weight of a usual finding that the case is silent about, a finding
TOLD_IF_THERE = 0.9  # ours: how often a symptom that is there is told
HEARD = 0.3  # ours: a match this sure makes its family of findings mentioned
UNMENTIONED_MOST = 1.0  # ours: bound of that penalty
# ours: the same where rates were counted in records: silence counts in full, as a likelihood does, because a record
# tells what there was; checked on one half of the DDXPlus train rows against the other
UNMENTIONED_COUNTED, UNMENTIONED_COUNTED_MOST = 1.0, 20.0
OUTSIDE_LIMITS = -4.0  # ours: log-weight of an age or a sex at which the disease does not occur
OUTSIDE_TYPICAL = -1.2  # ours: log-weight, at most, of an age between the usual range and the limits
TEMPER = 0.6  # ours: sharpness of the shares; chosen so that they are neither all nor nothing
SIDE_MISMATCH = 0.5  # ours: weight of a finding on the other side than the graph says


@dataclass(frozen=True)
class Observation:
    """A finding of the case with its confidence. ``clause`` groups what one clause may mean."""

    finding: int
    score: float
    present: bool | None
    clause: int
    side: str | None = None


class Ranker:
    """Ranks the diseases of one graph.

    Attributes, of what the sum is made (log-scores):
        present, denied: (diseases, findings), what a plainly stated and a denied finding add.
        missed: (diseases, findings), what silence about a usual finding costs.
        missed_most: (diseases,), what silence costs at most.
        missed_by_family: (diseases, findings), the same summed over each family, in its first column.
        family: (findings,), position of each finding's most general one: a family is counted together.
    """

    def __init__(self, graph: Graph, table: Frequencies) -> None:
        self._graph = graph
        self.table = table
        ratio = np.log(table.present / table.background)
        self.present = np.clip(ratio, LEAST, MOST)
        self.present[table.absent] = LEAST
        denied = np.log((1 - table.present) / (1 - table.background))
        self.denied = np.clip(denied, ABSENT_LEAST, ABSENT_MOST)
        usual = np.where(table.listed, table.present, 0)
        told = np.array([f.kind == "symptom" for f in graph.findings])
        usual[~table.counted[:, None] & ~told] = 0
        weight = np.where(table.counted, UNMENTIONED_COUNTED, UNMENTIONED)
        self.missed = -weight[:, None] * np.log(1 - TOLD_IF_THERE * usual)
        self.missed_most = np.where(table.counted, UNMENTIONED_COUNTED_MOST, UNMENTIONED_MOST)
        self.family = _families(graph)
        self.missed_by_family = np.zeros_like(self.missed)
        np.add.at(self.missed_by_family.T, self.family, self.missed.T)
        self._missed_in_all: Matrix = self.missed.sum(axis=1)
        self._sides = _sides(graph)

    def scores(self, observations: Sequence[Observation], person: Person) -> Matrix:
        """Array (diseases,): shares of belief, summing to 1."""
        return shares_of(self.log_scores(observations, person))

    def log_scores(self, observations: Sequence[Observation], person: Person) -> Matrix:
        """Array (diseases,): the sums that the shares are made of."""
        total = PRIOR * np.log(self.table.prior) + self._person(person)
        total = total + self._stated([o for o in observations if o.present is not False])
        total = total + self._denials([o for o in observations if o.present is False])
        return total - self._silence(observations)

    def contributions(self, observation: Observation) -> Matrix:
        """Array (diseases,): what one observation adds to the log-score of each disease."""
        if observation.present is False:
            return observation.score * self.denied[:, observation.finding]
        weight = observation.score * (UNCERTAIN if observation.present is None else 1.0)
        value = self.present[:, observation.finding]
        weighed: Matrix = weight**SHARPNESS * value
        if observation.side is None or observation.finding not in self._sides:
            return weighed
        sided: Matrix = weighed * self._side_weight(observation, weighed)
        return sided

    def _side_weight(self, observation: Observation, value: Matrix) -> Matrix:
        weight = np.ones(len(value))
        for d, wanted in self._sides.get(observation.finding, ()):
            if observation.side is not None and _other_side(observation.side, wanted) and value[d] > 0:
                weight[d] = SIDE_MISMATCH
        return weight

    def stated_by_family(self, observations: Sequence[Observation]) -> tuple[Matrix, Matrix]:
        """Two arrays (diseases, findings), a family in the column of its most general finding.

        Each clause counts by its best finding for a disease. The first array has the best value of a family, -inf
        where nothing of it is told; the second the sum of its other positive values.
        """
        columns, told, beside = self._told(observations)
        first, others = np.full(self.present.shape, -np.inf), np.zeros(self.present.shape)
        first[:, columns], others[:, columns] = told, beside
        return first, others

    def _told(self, observations: Sequence[Observation]) -> tuple[NDArray[np.int64], Matrix, Matrix]:
        """The columns of the families that are told, and of these what `stated_by_family` gives of all."""
        best: dict[int, Matrix] = {}
        which: dict[int, NDArray[np.int64]] = {}
        for o in observations:
            value, key = self.contributions(o), o.clause
            if key not in best:
                best[key], which[key] = value, np.full(len(value), o.finding)
            else:
                better = value > best[key]
                best[key] = np.where(better, value, best[key])
                which[key] = np.where(better, o.finding, which[key])
        columns = np.unique(self.family[np.array([o.finding for o in observations], dtype=np.int64)])
        shape = (len(self.present), len(columns))
        first, others = np.full(shape, -np.inf), np.zeros(shape)
        rows = np.arange(len(first))
        for key, value in best.items():
            family = np.searchsorted(columns, self.family[which[key]])
            known = first[rows, family]
            others[rows, family] += np.maximum(np.minimum(known, value), 0)
            first[rows, family] = np.maximum(known, value)
        return columns, first, others

    def _stated(self, observations: Sequence[Observation]) -> Matrix:
        """What is stated: of each family its best, and a part of the others."""
        _, best, others = self._told(observations)
        total: Matrix = np.where(np.isneginf(best), 0, best).sum(axis=1) + SECOND * others.sum(axis=1)
        return total

    def _denials(self, observations: Sequence[Observation]) -> Matrix:
        best: dict[int, Matrix] = {}
        for o in observations:
            value = self.contributions(o)
            key = int(self.family[o.finding])
            best[key] = np.minimum(best[key], value) if key in best else value
        return np.sum(list(best.values()), axis=0) if best else np.zeros(len(self._graph.diseases))

    def _silence(self, observations: Sequence[Observation]) -> Matrix:
        told = {int(self.family[o.finding]) for o in observations if o.score >= HEARD}
        left = self._missed_in_all - self.missed_by_family[:, sorted(told)].sum(axis=1)
        penalty: Matrix = np.minimum(left.clip(0), self.missed_most)
        return penalty

    def fit_of(self, disease: int, person: Person) -> float:
        """Log-weight of the disease at a position for a person's age and sex."""
        return _fit(self._graph.diseases[disease], person)

    def _person(self, person: Person) -> Matrix:
        return np.array([_fit(d, person) for d in self._graph.diseases])


def shares_of(log_scores: Matrix) -> Matrix:
    """Shares of belief over the first axis of an array of log-scores, summing to 1."""
    tempered = np.exp(TEMPER * (log_scores - log_scores.max(axis=0)))
    shares: Matrix = tempered / tempered.sum(axis=0)
    return shares


def _fit(disease: Disease, person: Person) -> float:
    """Log-weight of a disease for a person's age and sex."""
    weight = 0.0
    if person.sex is not None and disease.sex not in ("any", person.sex):
        weight += OUTSIDE_LIMITS
    if person.age is None:
        return weight
    low, high = disease.ages.typical
    if not disease.ages.min <= person.age <= disease.ages.max:
        return weight + OUTSIDE_LIMITS
    gap = (low - person.age) / max(low - disease.ages.min, 1) if person.age < low else 0.0
    gap = (person.age - high) / max(disease.ages.max - high, 1) if person.age > high else gap
    return weight + OUTSIDE_TYPICAL * float(min(gap, 1.0) ** 0.5)


def _families(graph: Graph) -> NDArray[np.int64]:
    """For each finding the position of its most general one: findings of a family are counted together."""
    position = {f.id: i for i, f in enumerate(graph.findings)}
    return np.array([position[(graph.broader(f.id) or [f.id])[-1]] for f in graph.findings])


def _sides(graph: Graph) -> dict[int, list[tuple[int, str]]]:
    position = {f.id: i for i, f in enumerate(graph.findings)}
    out: dict[int, list[tuple[int, str]]] = {}
    for d, disease in enumerate(graph.diseases):
        for edge in disease.manifestations:
            if edge.side is not None:
                out.setdefault(position[edge.finding], []).append((d, edge.side))
    return out


def _other_side(told: str, wanted: str) -> bool:
    if wanted == "one":
        return told == "both"
    return told != wanted
