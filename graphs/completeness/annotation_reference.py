"""The reference of a case: which diagnoses are it, and which units by themselves retrieve a document of it.

Before the search abbreviations are written out, and beside each name of a disease or a finding its other names are
searched for too, English for Chinese among them (ours: synonyms and abbreviations hamper BM25).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from tools.icd10 import ICD10
from tools.indexes.lexical import Lexicon
from tools.knowledge_graph.names import Names
from tools.knowledge_graph.record_diagnoses import DiagnosisNames
from tools.knowledge_graph.schema import Graph
from tools.text.abbreviations import expand

RETRIEVED = 5  # ours: documents that a unit retrieves; the paper's m is not published
KEPT = 4096  # ours: pairs of a diagnosis and a reference that are remembered


class Held(NamedTuple):
    """A document as it is searched. ``name``: the last part of its id, a disease's id in the starter collection."""

    name: str
    title: str
    text: str


class ReferenceByNames:
    """References by the names of a graph's diseases, and a library's documents about them.

    Args:
        graph, table: names of diseases, and of ICD-10 codes.
        codes: the codes that a diagnosis names (`tools.icd10.linking.Linker.codes`), for what the graph does not know.
        documents: what units are searched in.
    """

    def __init__(
        self,
        graph: Graph,
        table: ICD10 | None,
        codes: Callable[[str], frozenset[str]],
        documents: Sequence[Held],
    ) -> None:
        self._names, self._synonyms, self._codes = DiagnosisNames(graph, table), Names(graph), codes
        self._documents = tuple(documents)
        self._lexicon = Lexicon([f"{d.title}. {d.text}" for d in documents])
        self._same = lru_cache(KEPT)(self._compare)
        self._about = lru_cache(KEPT)(self._documents_of)

    def same(self, diagnosis: str, reference: str) -> bool:
        """Whether both name one disease of the graph, or else have an ICD-10 category in common."""
        return self._same(diagnosis.strip(), reference.strip())

    def documented(self, reference: str) -> bool:
        """Whether there is any document of the disease."""
        return bool(self._about(reference))

    def retrieved_by(self, unit: str, text: str, reference: str) -> str:
        """Title of the first document of the disease among the `RETRIEVED` best for the unit, "" for none."""
        about = self._about(reference)
        scores = self._lexicon.scores(self.query(unit, text))
        best = (-scores).argsort(kind="stable")[:RETRIEVED]
        return next((self._documents[i].title for i in best.tolist() if scores[i] > 0 and i in about), "")

    def query(self, unit: str, text: str) -> str:
        """What is searched for: the unit with its abbreviations written out, and other names of what it names."""
        written = expand(unit, text)
        others = [name for names in self._synonyms.found_in(written).values() for name in names]
        return " ".join([written, *dict.fromkeys(others)])

    def _compare(self, diagnosis: str, reference: str) -> bool:
        if not diagnosis or not reference:
            return False
        if diagnosis.casefold() == reference.casefold():
            return True
        first, second = self._names.disease(diagnosis), self._names.disease(reference)
        if first is not None and second is not None:
            return first == second
        return bool(self._codes(diagnosis) & self._codes(reference))

    def _documents_of(self, reference: str) -> frozenset[int]:
        """Positions of the documents whose title or name is the reference."""
        disease = self._names.disease(reference)
        return frozenset(
            i
            for i, document in enumerate(self._documents)
            if (disease is not None and document.name == disease) or self.same(document.title, reference)
        )
