"""The rows that the completeness gate is fitted on and measured with, each with its features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evals.completeness_arms import ArmRow
from evals.training.gate_calibration import Example
from graphs.completeness.calibrated import case_features
from graphs.completeness.labels import units
from graphs.completeness.local import told_of
from tools.knowledge_graph.record_ranking import OWN

WEIGHTS = {"agentclinic": 4.0}  # ours: a case told at one level weighs as much as one told at four
SOURCES = ("ddxplus", "ddxplus_lay", "agentclinic", "train", "written")


@dataclass(frozen=True)
class Pool:
    """Rows of several sources, in one order.

    Attributes:
        rows: what both arms made of each. sources: where each is from.
        examples: with the features of the first look-up, grouped by patient.
    """

    rows: tuple[ArmRow, ...]
    sources: tuple[str, ...]
    examples: tuple[Example, ...]

    def of(self, source: str) -> NDArray[np.int64]:
        """Positions of a source's rows."""
        return np.array([i for i, s in enumerate(self.sources) if s == source], dtype=np.int64)

    def groups(self, split: str) -> list[str]:
        """What is held out together: a patient's rows, or a disease's."""
        return [r.case.id if split == "patient" else _disease(r) for r in self.rows]

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        """Whether the direct arm is right."""
        return np.array([r.direct_right for r in self.rows], dtype=bool)

    @cached_property
    def retrieve_right(self) -> NDArray[np.bool_]:
        """Whether the retrieve arm is right."""
        return np.array([r.retrieve_right for r in self.rows], dtype=bool)


def pool_of(sources: dict[str, Sequence[ArmRow]]) -> Pool:
    """The pool of the rows of each source."""
    rows = [(name, row) for name, found in sources.items() for row in found]
    examples = tuple(example_of(row, WEIGHTS.get(name, 1.0)) for name, row in rows)
    return Pool(tuple(r for _, r in rows), tuple(n for n, _ in rows), examples)


def example_of(row: ArmRow, weight: float = 1.0) -> Example:
    """A row with the features that the gate reads from its text and first look-up."""
    look = row.direct.differential
    features = case_features(units(row.case.text, look), told_of(row.case.text, look).total, look)
    return Example(features, row.direct_right, row.case.id, weight)


def _disease(row: ArmRow) -> str:
    """The starter graph's disease, by which cases of every source meet; a case of none stands alone."""
    return min((i for i in row.case.right if not i.startswith(OWN)), default=row.case.id)
