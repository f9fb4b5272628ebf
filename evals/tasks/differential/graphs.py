"""The graphs that `differential` measures, by name, and the codes of patients beside them.

``starter``: written by hand, no patient seen. ``records``: built by `kg build` from the release's 98 train rows alone,
without augmentation. ``medrag``: the graph of MedRAG's authors, mended (its note says how), looked up as published.
``conditions``: the generator's own specification, a ceiling and no result. ``<graph>_paper``: the same graph looked up
as published.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.knowledge_graph import STARTER_GRAPH
from evals.datasets.ddxplus import (
    AT,
    EVIDENCES,
    VALUE,
    TextPatient,
    read_conditions,
    read_templates,
    split_texts,
    statement_of,
)
from evals.datasets.ddxplus_graphs import medrag_graph, specification_graph
from evals.datasets.rows import read_object
from prompts.errors import DataError
from tools.contract import Finding
from tools.encoders import Encoder
from tools.icd10 import load_icd10
from tools.knowledge_graph.building.build import build_graph
from tools.knowledge_graph.building.contract import Record
from tools.knowledge_graph.building.judges import local_judges
from tools.knowledge_graph.formats import write_folder
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.lookup import KnowledgeGraph, Mode
from tools.knowledge_graph.observations import surest
from tools.knowledge_graph.schema import slug
from tools.text.clauses import clauses
from tools.text.sentences import sentences

_NUMBER = re.compile(r"\b(\d{1,2}) out of 10\b")


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
    released = read_conditions()
    found = [
        Place("starter", STARTER_GRAPH, released, more=True),
        Place("records", folder / "records", {c: named.get(c, "") for c in released}),
        Place("medrag", folder / "medrag", of_medrag, modes=("paper",)),
        Place("conditions", folder / "conditions", of_conditions, modes=("ours",)),
    ]
    for place, graph in zip(found, (starter, records, medrag, conditions), strict=True):
        lacking = sorted(c for c, disease in place.diseases.items() if disease not in graph.disease)
        lacking += sorted(set(released) - set(place.diseases))
        if lacking:
            advice = "Mend the conditions' names in evals/datasets, or give the whole files."
            raise DataError(f"The graph {place.name} lacks {', '.join(lacking)}.", advice)
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


class CodeReader:
    """The evidences of a row as findings: each one's plain statement is read by itself, once a graph."""

    def __init__(self, data: Path, graph: KnowledgeGraph) -> None:
        self._templates = read_templates(data)
        self._graph = graph
        self._known: dict[str, tuple[Finding, ...]] = {}

    def findings(self, evidences: Sequence[str]) -> list[Finding]:
        """What the statements tell: all readings of one clause are one group, of which the best counts."""
        return [finding for code in evidences for finding in self._read(code)]

    def person(self, row: TextPatient) -> str:
        """The text's first sentence, which says age and sex."""
        return sentences(row.text)[0].of(row.text)

    def _read(self, code: str) -> tuple[Finding, ...]:
        if code not in self._known:
            statement, findings = statement_of(self._templates, code), self._graph.graph.findings
            seen = self._graph.read(statement).standing.seen if statement else ()
            self._known[code] = tuple(
                Finding(
                    id=findings[o.finding].id,
                    name=findings[o.finding].name,
                    clause=f"{code} {o.clause}",
                    present=o.present,
                    side=o.side,
                    score=o.score,
                    start=0,
                    end=len(statement),
                )
                for o in seen
            )
        return self._known[code]


class TextCodes:
    """The codes that a text tells: for each clause its surest findings of the graph of evidences, read back as codes.

    Of an evidence on a scale the number that the clause names is its value.
    """

    def __init__(self, data: Path, graph: KnowledgeGraph) -> None:
        self._graph = graph
        release, templates = read_object(data / EVIDENCES), read_templates(data)
        self._code = {slug(code): code for code in release}
        self._code |= {slug(f"{c}{AT}{v}"): f"{c}{AT}{v}" for c, e in release.items() for v in e["value_meaning"]}
        self._valued = {code for code in release if VALUE in str(templates[code])}

    def codes(self, text: str) -> Collection[str]:
        """The codes, with values."""
        read, told = self._graph.read(text), clauses(text)
        found: set[str] = set()
        for finding, match in surest(read.matches, assured=False).items():
            code = self._code[self._graph.graph.findings[finding].id]
            number = _NUMBER.search(told[match.clause].text)
            if match.present is False:
                continue
            if code in self._valued:
                found |= {f"{code}{AT}{number[1]}"} if number is not None else set()
            else:
                found.add(code)
        return found
