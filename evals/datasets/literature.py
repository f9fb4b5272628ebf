"""PubMed records and questions with gold documents: BioASQ, PubMedQA, and narratives around BioASQ's questions.

Sources: BioASQ Task B, batches 7-8 (Tsatsaronis et al. 2015); Jin et al. 2019 (PubMedQA, expert-labelled part); the
narratives were written from the questions alone. A PubMedQA record's title is its question, so those rows are read
without title. BioASQ's documents are there as merged snippets, chosen because they answer: search over them flatters.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from evals.datasets.rows import read_jsonl
from tools.reading.corpus import BIOASQ, PUBMEDQA

ABSTRACTS = "literature/abstracts.jsonl"
SNIPPETS = "literature/bioasq_documents.jsonl"
NARRATIVES = "literature/narratives_dev.jsonl"
PUBMEDQA_SOURCE = "pubmedqa"  # the source of the rows whose title is the question


class LiteratureDocument(BaseModel):
    """A document of the collection. ``whole`` tells a full abstract from merged snippets."""

    model_config = ConfigDict(frozen=True)

    pmid: str = Field(pattern=r"^\d+$")
    title: str
    abstract: str
    year: int | None = None
    publication_types: tuple[str, ...] = ()
    mesh: tuple[str, ...] = ()
    journal: str = ""
    whole: bool = True


class LiteratureQuestion(BaseModel):
    """A question and the PMIDs of its gold documents that the collection holds."""

    model_config = ConfigDict(frozen=True)

    id: str
    text: str = Field(min_length=1)
    gold: frozenset[str] = Field(min_length=1)


class _Abstract(BaseModel):
    pmid: str
    title: str | None
    abstract: str
    year: int | None = None
    publication_types: tuple[str, ...] | None = None
    mesh: tuple[str, ...] | None = None
    journal: str | None = None
    source: str


class _Span(BaseModel):
    text: str


class _Snippets(BaseModel):
    pmid: str
    title_snippets: tuple[_Span, ...]
    abstract_snippets: tuple[_Span, ...]
    other_snippets: tuple[_Span, ...] = ()


class _BioasqQuestion(BaseModel):
    id: str
    question: str
    documents: tuple[str, ...]


class _PubmedQuestion(BaseModel):
    id: str
    question: str
    pmid: str


class _Narrative(BaseModel):
    id: str
    narrative: str


def read_collection(data: Path) -> list[LiteratureDocument]:
    """The documents by PMID: full abstracts first, then those that are known by their snippets only."""
    whole = {document.pmid: document for document in read_abstracts(data)}
    pieces = {row.pmid: _of_snippets(row) for row in read_jsonl(data / SNIPPETS, _Snippets)}
    return list((pieces | whole).values())


def read_abstracts(data: Path) -> list[LiteratureDocument]:
    """The full abstracts, each PMID once."""
    return list({row.pmid: _of_abstract(row) for row in read_jsonl(data / ABSTRACTS, _Abstract)}.values())


def read_bioasq(data: Path, held: frozenset[str]) -> list[LiteratureQuestion]:
    """BioASQ's questions with at least one gold document among ``held``."""
    rows = read_jsonl(data / BIOASQ, _BioasqQuestion)
    return list(_with_gold(((r.id, r.question, r.documents) for r in rows), held))


def read_pubmedqa(data: Path, held: frozenset[str]) -> list[LiteratureQuestion]:
    """PubMedQA's questions, each with the article that it was made of."""
    rows = read_jsonl(data / PUBMEDQA, _PubmedQuestion)
    return list(_with_gold(((r.id, r.question, (r.pmid,)) for r in rows), held))


def read_narratives(data: Path, questions: list[LiteratureQuestion]) -> list[LiteratureQuestion]:
    """The narratives, with the gold documents of the questions that they stand around."""
    known = {q.id: q for q in questions}
    rows = [row for row in read_jsonl(data / NARRATIVES, _Narrative) if row.id in known]
    return [LiteratureQuestion(id=r.id, text=r.narrative, gold=known[r.id].gold) for r in rows]


def _with_gold(rows: Iterator[tuple[str, str, tuple[str, ...]]], held: frozenset[str]) -> Iterator[LiteratureQuestion]:
    for key, text, documents in rows:
        gold = held.intersection(documents)
        if gold:
            yield LiteratureQuestion(id=key, text=text, gold=gold)


def _of_abstract(row: _Abstract) -> LiteratureDocument:
    return LiteratureDocument(
        pmid=row.pmid,
        title="" if row.source == PUBMEDQA_SOURCE else row.title or "",
        abstract=row.abstract,
        year=row.year,
        publication_types=row.publication_types or (),
        mesh=row.mesh or (),
        journal=row.journal or "",
    )


def _of_snippets(row: _Snippets) -> LiteratureDocument:
    return LiteratureDocument(
        pmid=row.pmid,
        title=" ".join(s.text for s in row.title_snippets),
        abstract=" ".join(s.text for s in (*row.abstract_snippets, *row.other_snippets)),
        whole=False,
    )
