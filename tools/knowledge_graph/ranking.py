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
PRIOR = 0.6  # ours: weight of how common a disease is
SECOND = 0.35  # ours: worth of a second telling within one family (pain, and that it is worse on breathing in)
UNCERTAIN = 0.4  # ours: weight of what is stated as possible
UNMENTIONED = 0.12  # ours: weight of a usual finding that the case is silent about, a finding
TOLD_IF_THERE = 0.9  # ours: how often a symptom that is there is told
HEARD = 0.3  # ours: a match this sure makes its family of findings mentioned
UNMENTIONED_MOST = 1.0  # ours: bound of that penalty
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
    """Ranks the diseases of one graph."""

    def __init__(self, graph: Graph, table: Frequencies) -> None:
        self._graph = graph
        self.table = table
        ratio = np.log(table.present / table.background)
        self._present = np.clip(ratio, LEAST, MOST)
        self._present[table.absent] = LEAST
        denied = np.log((1 - table.present) / (1 - table.background))
        self._denied = np.clip(denied, ABSENT_LEAST, ABSENT_MOST)
        self._usual = np.where(table.listed, table.present, 0)
        self._usual[:, [f.kind not in ("symptom",) for f in graph.findings]] = 0
        self._family = _families(graph)
        self._sides = _sides(graph)

    def scores(self, observations: Sequence[Observation], person: Person) -> Matrix:
        """Array (diseases,): shares of belief, summing to 1."""
        total = PRIOR * np.log(self.table.prior) + self._person(person)
        total = total + self._stated([o for o in observations if o.present is not False])
        total = total + self._denials([o for o in observations if o.present is False])
        total = total - self._silence(observations)
        tempered = TEMPER * (total - total.max())
        shares: Matrix = np.exp(tempered) / np.exp(tempered).sum()
        return shares

    def contributions(self, observation: Observation) -> Matrix:
        """Array (diseases,): what one observation adds to the log-score of each disease."""
        if observation.present is False:
            return observation.score * self._denied[:, observation.finding]
        weight = observation.score * (UNCERTAIN if observation.present is None else 1.0)
        value = self._present[:, observation.finding]
        weighed: Matrix = weight**SHARPNESS * value
        sided: Matrix = weighed * self._side_weight(observation, weighed)
        return sided

    def _side_weight(self, observation: Observation, value: Matrix) -> Matrix:
        weight = np.ones(len(value))
        if observation.side is not None:
            for d, wanted in self._sides.get(observation.finding, ()):
                if _other_side(observation.side, wanted) and value[d] > 0:
                    weight[d] = SIDE_MISMATCH
        return weight

    def _stated(self, observations: Sequence[Observation]) -> Matrix:
        """Each clause counts by its best finding for a disease, each family of findings by its best clause."""
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
        return self._each_once(best, which)

    def _each_once(self, best: dict[int, Matrix], which: dict[int, NDArray[np.int64]]) -> Matrix:
        total = np.zeros(len(self._graph.diseases))
        for d in range(len(total)):
            counted: dict[int, list[float]] = {}
            for key, values in best.items():
                counted.setdefault(int(self._family[which[key][d]]), []).append(float(values[d]))
            total[d] = sum(_together(values) for values in counted.values())
        return total

    def _denials(self, observations: Sequence[Observation]) -> Matrix:
        best: dict[int, Matrix] = {}
        for o in observations:
            value = self.contributions(o)
            key = int(self._family[o.finding])
            best[key] = np.minimum(best[key], value) if key in best else value
        return np.sum(list(best.values()), axis=0) if best else np.zeros(len(self._graph.diseases))

    def _silence(self, observations: Sequence[Observation]) -> Matrix:
        told = {int(self._family[o.finding]) for o in observations if o.score >= HEARD}
        silent = np.array([f not in told for f in self._family])
        missing = np.log(1 - TOLD_IF_THERE * self._usual[:, silent]).sum(axis=1)
        penalty: Matrix = np.minimum(-UNMENTIONED * missing, UNMENTIONED_MOST)
        return penalty

    def _person(self, person: Person) -> Matrix:
        return np.array([_fit(d, person) for d in self._graph.diseases])


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


def _together(values: list[float]) -> float:
    """What several tellings of one family of findings are worth: the best, and a part of the others."""
    ordered = sorted(values, reverse=True)
    positive = [v for v in ordered[1:] if v > 0]
    return ordered[0] + SECOND * sum(positive)


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
