"""PubMed records and questions with gold documents: BioASQ, PubMedQA, and narratives around their questions.

The narratives were written from the questions alone; those around PubMedQA's are the project's own. A PubMedQA record's
title is its question, so those rows are read without title. BioASQ's documents are there as merged snippets, chosen
because they answer: search over them flatters.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from evals.datasets.bioasq import SNIPPETS
from evals.datasets.rows import RESOURCES, Row, read_jsonl
from tools.reading.corpus import BIOASQ, PUBMEDQA

ABSTRACTS = "literature/abstracts.jsonl"
NARRATIVES = "literature/narratives_dev.jsonl"
PUBMEDQA_NARRATIVES = RESOURCES / "pubmedqa_narratives.jsonl"  # around 100 of its questions that were drawn by chance
PUBMEDQA_SOURCE = "pubmedqa"  # the source of the rows whose title is the question


class LiteratureDocument(Row):
    """A document of the collection. ``whole`` tells a full abstract from merged snippets."""

    pmid: str = Field(pattern=r"^\d+$")
    title: str = ""
    abstract: str
    year: int | None = None
    publication_types: tuple[str, ...] = ()
    mesh: tuple[str, ...] = ()
    journal: str = ""
    whole: bool = True

    @model_validator(mode="before")
    @classmethod
    def _of_row(cls, values: Any) -> Any:
        """What a row of the file leaves empty is empty; a title that is the question is left out."""
        if not isinstance(values, dict):
            return values
        told = {key: value for key, value in values.items() if value is not None}
        return told | {"title": ""} if values.get("source") == PUBMEDQA_SOURCE else told


class LiteratureQuestion(Row):
    """A question and the PMIDs of its gold documents that the collection holds."""

    id: str
    text: str = Field(min_length=1)
    gold: frozenset[str] = Field(min_length=1)


class _Span(Row):
    text: str


class _Snippets(Row):
    pmid: str
    title_snippets: tuple[_Span, ...]
    abstract_snippets: tuple[_Span, ...]
    other_snippets: tuple[_Span, ...] = ()


class _Question(Row):
    id: str
    question: str
    documents: tuple[str, ...] = ()
    pmid: str = ""


class _Narrative(Row):
    id: str
    narrative: str


def read_collection(data: Path) -> list[LiteratureDocument]:
    """The documents by PMID: full abstracts first, then those that are known by their snippets only."""
    whole = {document.pmid: document for document in read_abstracts(data)}
    pieces = {row.pmid: _of_snippets(row) for row in read_jsonl(data / SNIPPETS, _Snippets)}
    return list((pieces | whole).values())


def read_abstracts(data: Path) -> list[LiteratureDocument]:
    """The full abstracts, each PMID once."""
    return list({row.pmid: row for row in read_jsonl(data / ABSTRACTS, LiteratureDocument)}.values())


def read_bioasq(data: Path, held: frozenset[str]) -> list[LiteratureQuestion]:
    """BioASQ's questions with at least one gold document among ``held``."""
    return _with_gold(read_jsonl(data / BIOASQ, _Question), held)


def read_pubmedqa(data: Path, held: frozenset[str]) -> list[LiteratureQuestion]:
    """PubMedQA's questions, each with the article that it was made of."""
    return _with_gold(read_jsonl(data / PUBMEDQA, _Question), held)


def read_narratives(path: Path, questions: list[LiteratureQuestion]) -> list[LiteratureQuestion]:
    """The narratives of a file, with the gold documents of the questions that they stand around."""
    known = {q.id: q for q in questions}
    rows = [row for row in read_jsonl(path, _Narrative) if row.id in known]
    return [LiteratureQuestion(id=r.id, text=r.narrative, gold=known[r.id].gold) for r in rows]


def _with_gold(rows: Iterable[_Question], held: frozenset[str]) -> list[LiteratureQuestion]:
    found = ((row, held.intersection((*row.documents, row.pmid))) for row in rows)
    return [LiteratureQuestion(id=row.id, text=row.question, gold=gold) for row, gold in found if gold]


def _of_snippets(row: _Snippets) -> LiteratureDocument:
    return LiteratureDocument(
        pmid=row.pmid,
        title=" ".join(s.text for s in row.title_snippets),
        abstract=" ".join(s.text for s in (*row.abstract_snippets, *row.other_snippets)),
        whole=False,
    )
