"""Findings of the starter graph as evidences of DDXPlus, and a simulated patient who answers from a row's evidences.

The file `ddxplus_findings.yaml` is the mapping and says how it was made. What it lacks the patient does not know.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from evals.datasets.rows import read_yaml_rows
from prompts.errors import DataError
from tools.knowledge_graph.schema import Graph

STATEMENTS = "ddxplus/statements_plain.json"
EVIDENCES = "ddxplus/release_evidences.json"
VALUE = "{value}"
MAPPING = Path(__file__).parent / "ddxplus_findings.yaml"
NO = "no "
AT = "_@_"  # between the code of an evidence and its value

Tell = tuple[str, bool]  # an evidence, with its value where it has one, and whether it states or denies the finding


def statements(data: Path) -> dict[str, str]:
    """Each evidence of the release, with its value where it has one -> its statement in plain words.

    Raises:
        DataError: a file is damaged, or they do not belong together.
    """
    said, release = _object(data / STATEMENTS), _object(data / EVIDENCES)
    try:
        return dict(_filled(said, release))
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{STATEMENTS} does not fit {EVIDENCES}: {error}.", "Take both from the same release."
        ) from None


def _filled(said: dict[str, Any], release: dict[str, Any]) -> Iterable[tuple[str, str]]:
    for code, evidence in release.items():
        if VALUE not in said[code]:
            yield code, said[code]
            continue
        for value in evidence["value_meaning"]:
            key = f"{code}{AT}{value}"
            words = said["_values"][value]
            if key in said["_sentences"]:
                yield key, said["_sentences"][key]
            elif words is not None:
                yield key, said[code].replace(VALUE, words)


def _object(path: Path) -> dict[str, Any]:
    try:
        read = json.loads(path.read_bytes())
    except ValueError as error:
        raise DataError(f"{path.name} is no JSON: {error}.", "Take it from the release again.") from None
    if not isinstance(read, dict):
        raise DataError(f"{path.name} is no JSON object.", "Take it from the release again.")
    return read


class Told(BaseModel):
    """A finding, and the evidences that tell it; ``no CODE`` denies it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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
