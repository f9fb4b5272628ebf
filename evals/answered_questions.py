"""Systems that find the document which answers a question: by words, by meaning, by passages, and by questions.

Each gives the ids of documents, best first, for every question of a set. The question index comes in smaller coverages
too, sampled down from the whole, smaller within larger (QB-RAG).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evals.passage_coverage import vectors_of
from tools.fusion import reciprocal_rank_fusion
from tools.passages.batched_bm25 import BatchedBM25, best_rows
from tools.passages.contract import StoredDocument
from tools.passages.seos import SeosSettings, segment
from tools.text.tokens import tokens

if TYPE_CHECKING:
    from evals.contract import TaskContext
    from evals.datasets.answered_questions import QuestionSet
    from tools.encoders import Encoder, Vectors
    from tools.questions.contract import SourceDocument

DEPTH = 100  # ours: documents that a system gives to a fusion, as in the literature evaluation
BATCH = 100  # ours: questions compared at once

Rankings = list[list[str]]  # for each question, documents best first


class Direct(NamedTuple):
    """The direct ways, by which no question was prepared: rankings of one set of questions."""

    bm25: Rankings
    dense: Rankings
    dense_passages: Rankings

    @property
    def hybrid(self) -> Rankings:
        """Words and passages by reciprocal rank, as the library searches."""
        return fused(self.bm25, self.dense_passages)

    def by_name(self) -> dict[str, Rankings]:
        """Every system's rankings by its name."""
        return {**self._asdict(), "hybrid": self.hybrid}


class Passages(NamedTuple):
    """The passages of a set's documents: vectors (passages, dimension), and the document of each."""

    vectors: Vectors
    owners: list[str]


def embed_passages(questions: QuestionSet, plain: Encoder, context: TaskContext, name: str) -> Passages:
    """Cut every document by SEOS and embed its passages; ``plain`` keeps document vectors."""
    texts, owners = cut(questions.documents, plain, context, name)
    vectors = vectors_of(texts, plain, context, f"{name}: passages")
    return Passages(vectors, [questions.documents[place].id for place in owners])


def search_directly(
    questions: QuestionSet, asked: Vectors, passages: Passages, plain: Encoder, context: TaskContext, name: str
) -> Direct:
    """Search a set in every direct way.

    Args:
        asked: array (questions, dimension). plain: the encoder that keeps document vectors.
        name: of the set, for the progress bars.
    """
    ids = [document.id for document in questions.documents]
    documents = vectors_of([d.text for d in questions.documents], plain, context, f"{name}: documents")
    return Direct(by_words(questions, context, name), by_meaning(documents, ids, asked), by_meaning(*passages, asked))


def by_words(questions: QuestionSet, context: TaskContext, name: str) -> Rankings:
    """BM25 over whole documents; only those that share a word with the question."""
    index = BatchedBM25([tokens(document.text) for document in questions.documents])
    bags = [tokens(question.text) for question in questions.asked]
    rankings: Rankings = []
    starts = range(0, len(bags), BATCH)
    for at in context.tick(starts, f"{name}: bm25", len(starts)):
        hits = best_rows(index.scores(bags[at : at + BATCH]), DEPTH)
        found: Rankings = [[] for _ in bags[at : at + BATCH]]
        for query, row in zip(hits.query, hits.row, strict=True):
            found[query].append(questions.documents[row].id)
        rankings += found
    return rankings


def by_meaning(vectors: Vectors, owners: Sequence[str], asked: Vectors) -> Rankings:
    """Cosine with texts; a document's place is that of its best text.

    Args:
        vectors: array (texts, dimension). owners: the document of each text. asked: array (questions, dimension).
    """
    place = {key: n for n, key in enumerate(dict.fromkeys(owners))}
    ids, rows = list(place), np.array([place[key] for key in owners])
    order = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[order], np.arange(len(ids)))
    ordered = vectors[order]
    rankings: Rankings = []
    for at in range(0, len(asked), BATCH):
        similarity = np.maximum.reduceat(ordered @ asked[at : at + BATCH].T, starts, axis=0)
        best = np.argsort(-similarity, axis=0, kind="stable")[:DEPTH]
        rankings += [[ids[n] for n in column] for column in best.T]
    return rankings


def cut(
    documents: Sequence[SourceDocument], encoder: Encoder, context: TaskContext, name: str
) -> tuple[list[str], list[int]]:
    """Every document's passages as they are embedded, by SEOS, and the place of the document of each."""
    texts: list[str] = []
    owners: list[int] = []
    for place, source in enumerate(context.tick(documents, f"{name}: cutting", len(documents))):
        document = StoredDocument(id=source.id, title=source.title, text=source.text)
        for passage in segment(document, encoder, SeosSettings()):
            texts.append(passage.embedded_text(source.text))
            owners.append(place)
    return texts, owners


def fused(*systems: Rankings) -> Rankings:
    """Rankings of the same questions by reciprocal rank."""
    return [
        [item.id for item in reciprocal_rank_fusion({str(n): ids[:DEPTH] for n, ids in enumerate(row)})][:DEPTH]
        for row in zip(*systems, strict=True)
    ]
