"""A rare disease's annotations as readable text, one sentence an annotation, so that each can be quoted exactly."""

from __future__ import annotations

import numpy as np

from tools.evidence import Evidence, Origin
from tools.knowledge_graph.hpo.arrays import Ontology

REFERENCES = 3  # ours: references named a sentence
WORDS = {
    "HP:0040280": "in all patients",
    "HP:0040281": "in 80 to 99 % of patients",
    "HP:0040282": "in 30 to 79 % of patients",
    "HP:0040283": "in 5 to 29 % of patients",
    "HP:0040284": "in 1 to 4 % of patients",
}
LEVEL = "annotations of the Human Phenotype Ontology"


def entry(ontology: Ontology, disease: int) -> tuple[str, dict[int, tuple[int, int]]]:
    """The text on a disease, and for each annotated term (position) the characters of its sentence."""
    title, release = ontology.titles[disease], ontology.release
    text = f"{title} ({ontology.diseases[disease]}) as annotated in the Human Phenotype Ontology, release {release}."
    where: dict[int, tuple[int, int]] = {}
    for row in _rows(ontology, disease):
        sentence = _sentence(ontology, row, title)
        term = int(ontology.annotations.term[row])
        if term not in where:
            where[term] = (len(text) + 1, len(text) + 1 + len(sentence))
            text += f" {sentence}"
    return text, where


def evidence_of(ontology: Ontology, disease: int) -> Evidence:
    """The entry as evidence that an answer may cite (``graph:hpo/OMIM:...``)."""
    return Evidence(
        id=evidence_id(ontology.diseases[disease]),
        text=entry(ontology, disease)[0],
        title=ontology.titles[disease],
        kind="graph_entry",
        origin=Origin.KNOWLEDGE_GRAPH,
        level=LEVEL,
        date=ontology.release or None,
    )


def sentence_of(entry: Evidence, finding: str) -> tuple[int, int] | None:
    """Characters of an entry's sentence on a present phenotype, by its name; None when there is none."""
    start = entry.text.find(f" {finding} is reported ") + 1
    if not start:
        return None
    end = entry.text.find(f" with {entry.title}", start) + len(f" with {entry.title}")
    if entry.text.startswith(" (", end):
        end = entry.text.find(")", end) + 1
    return start, end + 1


def evidence_id(disease: str) -> str:
    """The evidence id of a disease's entry."""
    return f"graph:hpo/{disease}"


def _rows(ontology: Ontology, disease: int) -> list[int]:
    """The stated annotations of a disease, the most frequent first, absent ones last."""
    table = ontology.annotations
    rows = np.flatnonzero((table.disease == disease) & ~table.named)
    return sorted(map(int, rows), key=lambda r: (bool(table.negated[r]), -float(table.rate[r]), int(table.term[r])))


def _sentence(ontology: Ontology, row: int, title: str) -> str:
    table = ontology.annotations
    name = ontology.names[int(table.term[row])]
    cited = [ontology.references[int(r)] for r in table.references[row]]
    cited = [c for c in cited if not c.startswith(("http", "ISBN"))][:REFERENCES]
    source = f" ({', '.join(cited)})" if cited else ""
    if table.negated[row]:
        return f"{name} is stated to be absent in {title}{source}."
    stated = _often(ontology.frequencies[int(table.frequency[row])])
    return f"{name} is reported {stated}with {title}{source}."


def _often(stated: str) -> str:
    if stated in WORDS:
        return f"{WORDS[stated]} "
    count, slash, total = stated.partition("/")
    if slash:
        return f"in {count} of {total} {'patient' if total == '1' else 'patients'} "
    return f"in {stated} of patients " if stated.endswith("%") else ""
