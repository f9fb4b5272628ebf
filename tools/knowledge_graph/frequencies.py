"""How likely each finding is in each disease, and in anybody, as arrays; the figures are ours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tools.knowledge_graph.schema import Disease, Graph

Matrix = NDArray[np.float64]

# ours: the middle of each range of docs/knowledge-format.md
HOW_OFTEN = {"always": 0.95, "usual": 0.75, "common": 0.45, "occasional": 0.2, "rare": 0.07, "absent": 0.01}
# ours: share of those who seek care for a new complaint, one against another
HOW_COMMON = {"very_common": 1.0, "common": 0.5, "uncommon": 0.2, "rare": 0.07, "very_rare": 0.03}
LEAK = 0.3  # ours: a finding that a disease does not list is this often as likely as in anybody
FLOOR = 0.004  # ours: no finding is rarer than this in anybody
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
    background = np.clip(upward.mean(axis=0), FLOOR, 0.9)
    present = _downward(graph, position, upward, background)
    listed = (present > 0) & ~absent
    unlisted = np.maximum(LEAK * background, CHANCE * np.sqrt(background))
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
