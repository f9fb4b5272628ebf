"""The graphs that `differential` measures, by name.

``starter``: written by hand, no patient seen. ``records``: built by `kg build` from the release's 98 train rows alone,
without augmentation. ``medrag``: the graph of MedRAG's authors, mended (its note says how), looked up as published.
``conditions``: the generator's own specification, a ceiling and no result. ``<graph>_paper``: the same graph looked up
as published.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evals.datasets.ddxplus import read_conditions, split_texts
from evals.datasets.ddxplus_graphs import medrag_graph, specification_graph
from prompts.errors import DataError
from tools.encoders import Encoder
from tools.icd10 import load_icd10
from tools.knowledge_graph.building.build import build_graph
from tools.knowledge_graph.building.contract import Record
from tools.knowledge_graph.building.judges import local_judges
from tools.knowledge_graph.formats import write_folder
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.lookup import KnowledgeGraph, Mode
from tools.knowledge_graph.schema import Graph


@dataclass(frozen=True)
class Place:
    """A graph on disk. ``diseases``: condition of the release -> id of the graph's disease. ``more``: it has others."""

    name: str
    folder: Path
    diseases: dict[str, str]
    modes: tuple[Mode, ...] = ("ours", "paper")
    more: bool = False


@dataclass(frozen=True)
class NamedGraph:
    """A graph as it is measured."""

    name: str
    graph: KnowledgeGraph
    diseases: dict[str, str]
    more: bool


def places(data: Path, indexes: Path, folder: Path, encoder: Encoder) -> list[Place]:
    """Every graph, built or mended where it must be.

    Args:
        indexes: of the data folder, with the ICD-10 table. folder: where graphs of evaluations are written.

    Raises:
        DataError: a file is damaged, or a graph lacks a condition.
    """
    from agent.knowledge_graph import STARTER_GRAPH

    table = load_icd10(indexes / "icd10.json")
    starter = read_graph(STARTER_GRAPH)
    conditions, of_conditions = asyncio.run(specification_graph(data, table))
    medrag, of_medrag = medrag_graph(data)
    judges = local_judges(encoder, table, starter)
    rows = train_records(data)
    records = asyncio.run(build_graph(rows, folder / "records", judges, encoder, known=starter, source="train rows"))
    write_folder(conditions, folder / "conditions")
    write_folder(medrag, folder / "medrag")
    named = {name: d.id for d in records.diseases for name in (d.name, *d.aliases)}
    found = [
        Place("starter", STARTER_GRAPH, read_conditions(), more=True),
        Place("records", folder / "records", {c: named.get(c, "") for c in read_conditions()}),
        Place("medrag", folder / "medrag", of_medrag, modes=("paper",)),
        Place("conditions", folder / "conditions", of_conditions, modes=("ours",)),
    ]
    for place, graph in zip(found, (starter, records, medrag, conditions), strict=True):
        _check(place, graph)
    return found


def opened(places_: list[Place], encoder: Encoder, cache: Path) -> Iterator[NamedGraph]:
    """The graphs, one after the other, each in its modes. ``medrag`` bears the plain name: it has the one mode."""
    for place in places_:
        for mode in place.modes:
            name = f"{place.name}_paper" if mode == "paper" and len(place.modes) > 1 else place.name
            yield NamedGraph(name, KnowledgeGraph(encoder, cache, place.folder, mode=mode), place.diseases, place.more)


def train_records(data: Path) -> list[Record]:
    """The release's train rows as records."""
    return [
        Record(id=r.id, diagnosis=r.pathology, text=r.text, age=r.age, sex=r.sex) for r in split_texts(data, "train")
    ]


def _check(place: Place, graph: Graph) -> None:
    unknown = sorted(c for c, disease in place.diseases.items() if disease not in graph.disease)
    missing = sorted(set(read_conditions()) - set(place.diseases))
    if unknown or missing:
        raise DataError(
            f"The graph {place.name} lacks {', '.join([*unknown, *missing])}.",
            "Mend the conditions' names in evals/datasets, or give the whole files.",
        )
