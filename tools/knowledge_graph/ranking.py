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

from tools.knowledge_graph.schema import Disease, Graph
from tools.text.demographics import Person

# How likely each finding is in each disease, and in anybody, as arrays; the figures are ours.
Matrix = NDArray[np.float64]

# ours: the middle of each range of docs/knowledge-format.md
HOW_OFTEN = {"always": 0.95, "usual": 0.75, "common": 0.45, "occasional": 0.2, "rare": 0.07, "absent": 0.01}
# ours: share of those who seek care for a new complaint, one against another
HOW_COMMON = {"very_common": 1.0, "common": 0.5, "uncommon": 0.2, "rare": 0.07, "very_rare": 0.03}
LEAK = 0.3  # ours: a finding that a disease does not list is this often as likely as in anybody
FLOOR = 0.004  # ours: no finding is rarer than this in anybody
FAMILY = (
    0.05  # ours: what relatives have had is no rarer than this in anybody, and no rarer in a disease that lists none
)
NARROWER = 0.6  # ours: a disease that lists only the general finding seldom has just this narrower one
WEIGHT = 1.0  # ours: records that what is known of anybody weighs against a disease's own counted records
CHANCE = 0.02  # ours: how often a finding is met in a disease that does not list it, at least, whatever the disease


@dataclass(frozen=True)
class Frequencies:
    """Arrays over the diseases and findings of a graph, in its order.

    Attributes:
        present: (diseases, findings), probability that a person with the disease has the finding.
        listed: (diseases, findings), whether the disease lists it, or lists a more general or a narrower one.
        absent: (diseases, findings), whether the graph says that its presence speaks against the disease.
        background: (findings,), probability in anybody who seeks care.
        prior: (diseases,), how common the disease is, summing to 1.
        counted: (diseases,), whether its rates were counted in records.
    """

    present: Matrix
    listed: NDArray[np.bool_]
    absent: NDArray[np.bool_]
    background: Matrix
    prior: Matrix
    counted: NDArray[np.bool_]


def frequencies(graph: Graph) -> Frequencies:
    """The arrays of a graph, closed over broader and narrower findings."""
    position = {f.id: i for i, f in enumerate(graph.findings)}
    shape = (len(graph.diseases), len(graph.findings))
    given, absent = np.zeros(shape), np.zeros(shape, dtype=bool)
    for d, disease in enumerate(graph.diseases):
        for edge in disease.manifestations:
            given[d, position[edge.finding]] = HOW_OFTEN[edge.how_often] if edge.rate is None else edge.rate
            absent[d, position[edge.finding]] = edge.how_often == "absent"
    upward = _upward(graph, position, np.where(absent, 0, given))
    prior = np.array([HOW_COMMON[d.how_common] for d in graph.diseases])
    prior /= prior.sum()
    # every disease counts alike: a graph of chosen diseases is no sample of a waiting room
    family = np.array([f.of_family for f in graph.findings], dtype=bool)
    background = np.clip(upward.mean(axis=0), np.where(family, FAMILY, FLOOR), 0.9)
    present = _downward(graph, position, upward, background)
    listed = (present > 0) & ~absent
    unlisted = np.maximum(np.where(family, 1.0, LEAK) * background, CHANCE * np.sqrt(background))
    present = np.where(listed, present, unlisted)
    records = np.array([_records(d) for d in graph.diseases])[:, None]
    counted = (records * np.where(listed, upward, 0) + WEIGHT * background) / (records + WEIGHT)
    present = np.where(records > 0, counted, present)
    present = np.where(absent, np.minimum(HOW_OFTEN["absent"], 0.3 * unlisted), present)
    return Frequencies(np.clip(present, 1e-4, 0.98), listed, absent, background, prior, records[:, 0] > 0)


def _records(disease: Disease) -> int:
    """How many records the rates of a disease were counted in; 0 where they are estimates."""
    return max((e.records or 0 for e in disease.manifestations), default=0)


def _upward(graph: Graph, position: dict[str, int], given: Matrix) -> Matrix:
    """A broader finding is at least as frequent as each narrower one."""
    out = given.copy()
    for finding in graph.findings:
        for above in graph.broader(finding.id):
            column = position[above]
            out[:, column] = np.maximum(out[:, column], given[:, position[finding.id]])
    return out


def _downward(graph: Graph, position: dict[str, int], upward: Matrix, background: Matrix) -> Matrix:
    """A narrower finding that is not listed has its usual share of the nearest broader one that is."""
    out = upward.copy()
    for finding in graph.findings:
        column = position[finding.id]
        for above in graph.broader(finding.id):
            share = min(1.0, background[column] / background[position[above]])
            from_above = NARROWER * upward[:, position[above]] * share
            out[:, column] = np.where(upward[:, column] > 0, out[:, column], np.maximum(out[:, column], from_above))
    return out


SHARPNESS = 2.0  # ours: confidences are no probabilities; a doubtful match counts for less than its score
MOST, LEAST = 4.0, -2.0  # ours: bounds of one finding's log-likelihood ratio
ABSENT_LEAST, ABSENT_MOST = -2.5, 0.5  # ours: bounds for a denied finding
PRIOR = 0.9  # ours: weight of how common a disease is; chosen on DDXPlus's train rows and the written cases
SECOND = 0.35  # ours: worth of a second telling within one family (pain, and that it is worse on breathing in)
UNCERTAIN = 0.4  # ours: weight of what is stated as possible
UNMENTIONED = 0.12  # ours: weight of a usual finding that the case is silent about, a finding
TOLD_IF_THERE = 0.9  # ours: how often a symptom that is there is told
UNTOLD = (
    1.5  # ours: what silence costs about a circumstance (a birth, a medicine, a fit) that a disease is never without
)
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
        missed_in_all: (diseases,), the same summed over all.
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
        never_without = UNTOLD * _never_without(graph)
        self.missed += never_without
        self.missed_most += never_without.max(axis=1)
        self.family = _families(graph)
        self.missed_by_family = np.zeros_like(self.missed)
        np.add.at(self.missed_by_family.T, self.family, self.missed.T)
        self.missed_in_all: Matrix = self.missed.sum(axis=1)
        self._sides = _sides(graph)
        self._sex = np.array([d.sex for d in graph.diseases])
        limits = [(d.ages.min, *d.ages.typical, d.ages.max) for d in graph.diseases]
        self._youngest, self._low, self._high, self._oldest = np.array(limits, dtype=float).T

    def scores(self, observations: Sequence[Observation], person: Person) -> Matrix:
        """Array (diseases,): shares of belief, summing to 1."""
        return shares_of(self.log_scores(observations, person))

    def log_scores(self, observations: Sequence[Observation], person: Person) -> Matrix:
        """Array (diseases,): the sums that the shares are made of."""
        total = PRIOR * np.log(self.table.prior) + self.fit(person)
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

    def stated_by_family(self, observations: Sequence[Observation]) -> tuple[NDArray[np.int64], Matrix, Matrix]:
        """What the families of findings that are told add, each clause by its best finding for a disease.

        The positions of the families' most general findings, ascending; two arrays (diseases, of them): the best value
        of each family, -inf where nothing of it counts; the sum of its other positive values.
        """
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
        _, best, others = self.stated_by_family(observations)
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
        penalty: Matrix = np.minimum(self.silent(self.heard(observations)), self.missed_most)
        return penalty

    def heard(self, observations: Sequence[Observation]) -> NDArray[np.int64]:
        """The positions of the families that are mentioned, ascending."""
        return np.array(sorted({int(self.family[o.finding]) for o in observations if o.score >= HEARD}), dtype=np.int64)

    def silent(self, heard: NDArray[np.int64]) -> Matrix:
        """Array (diseases,): what silence costs, unbounded, when these families are mentioned."""
        left: Matrix = (self.missed_in_all - self.missed_by_family[:, heard].sum(axis=1)).clip(0)
        return left

    def fit(self, person: Person) -> Matrix:
        """Array (diseases,): log-weight of each disease for a person's age and sex."""
        weight = np.zeros(len(self._sex))
        if person.sex is not None:
            weight[(self._sex != "any") & (self._sex != person.sex)] = OUTSIDE_LIMITS
        if person.age is None:
            return weight
        below = (self._low - person.age).clip(0) / np.maximum(self._low - self._youngest, 1)
        above = (person.age - self._high).clip(0) / np.maximum(self._oldest - self._high, 1)
        within = (self._youngest <= person.age) & (person.age <= self._oldest)
        unusual = OUTSIDE_TYPICAL * np.sqrt(np.minimum(below + above, 1))
        fits: Matrix = weight + np.where(within, unusual, OUTSIDE_LIMITS)
        return fits


def shares_of(log_scores: Matrix) -> Matrix:
    """Shares of belief over the first axis of an array of log-scores, summing to 1."""
    tempered = np.exp(TEMPER * (log_scores - log_scores.max(axis=0)))
    shares: Matrix = tempered / tempered.sum(axis=0)
    return shares


def _families(graph: Graph) -> NDArray[np.int64]:
    """For each finding the position of its most general one: findings of a family are counted together."""
    position = {f.id: i for i, f in enumerate(graph.findings)}
    return np.array([position[(graph.broader(f.id) or [f.id])[-1]] for f in graph.findings])


def _never_without(graph: Graph) -> Matrix:
    """Array (diseases, findings): 1 for a circumstance that is always there, 0 for all else."""
    circumstance = [f.circumstance for f in graph.findings]
    position = {f.id: i for i, f in enumerate(graph.findings)}
    out = np.zeros((len(graph.diseases), len(position)))
    for d, disease in enumerate(graph.diseases):
        out[d, [position[e.finding] for e in disease.manifestations if e.how_often == "always"]] = 1
    found: Matrix = out * circumstance
    return found


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
