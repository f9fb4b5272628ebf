"""Findings of the starter graph as evidences of DDXPlus, and a simulated patient who answers from a row's evidences.

The file `ddxplus_findings.yaml` is the mapping and says how it was made. What it lacks the patient does not know.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from evals.datasets.rows import read_yaml_rows
from prompts.errors import DataError
from tools.evidence import Frozen
from tools.knowledge_graph.schema import Graph

MAPPING = Path(__file__).parent / "ddxplus_findings.yaml"
NO = "no "

Tell = tuple[str, bool]  # an evidence, with its value where it has one, and whether it states or denies the finding


class Told(Frozen):
    """A finding, and the evidences that tell it; ``no CODE`` denies it."""

    finding: str = Field(min_length=1)
    told_by: tuple[str, ...] = Field(min_length=1)


def read_mapping(graph: Graph, path: Path = MAPPING) -> dict[str, tuple[Tell, ...]]:
    """Finding -> the evidences that tell it; raises DataError for a finding that the graph lacks."""
    rows = read_yaml_rows(path, Told)
    unknown = sorted({row.finding for row in rows} - set(graph.finding))
    if unknown:
        raise DataError(f"{path.name} names findings that the graph lacks: {', '.join(unknown)}.", "Mend the file.")
    return {
        row.finding: tuple((code.removeprefix(NO), not code.startswith(NO)) for code in row.told_by) for row in rows
    }


@dataclass(frozen=True)
class SimulatedPatient:
    """Answers by code. ``evidences``: what the row has, with values."""

    graph: Graph
    mapping: Mapping[str, tuple[Tell, ...]]
    evidences: frozenset[str]

    def answer(self, finding: str) -> bool | None:
        """Yes when an evidence of the finding, or of one that implies it, is there; no when it could be and is not, or
        when what it implies is not there; None when no evidence tells it.
        """
        below = [self._told(f) for f in (finding, *self.graph.narrower[finding])]
        if True in below:
            return True
        return False if False in (self._told(f) for f in (finding, *self.graph.broader(finding))) else None

    def _told(self, finding: str) -> bool | None:
        tells = self.mapping.get(finding, ())
        found = [states for evidence, states in tells if evidence in self.evidences]
        if found:
            return any(found)
        return False if any(states for _, states in tells) else None
