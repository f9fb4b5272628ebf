"""Systems that find the document which answers a question: by words, by meaning, by passages, and by questions.

Each gives the ids of documents, best first, for every question of a set. The question index comes in smaller coverages
too, sampled down from the whole, smaller within larger (QB-RAG).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from agent.knowledge_graph import STARTER_GRAPH
from agent.questions import other_names_of
from evals.contract import TaskContext
from evals.datasets.answered_questions import QuestionSet
from evals.tasks.literature import vectors_of
from prompts.language_model import LanguageModel
from prompts.questions import AheadReply
from prompts.shown import one_line
from tools.encoders import Encoder, Vectors
from tools.fusion import reciprocal_rank_fusion
from tools.passages.batched_bm25 import BatchedBM25, best_rows
from tools.passages.contract import StoredDocument
from tools.passages.seos import SeosSettings, segment
from tools.questions.building import build
from tools.questions.by_model import SHOWN_QUESTION, TEMPLATES
from tools.questions.contract import IndexedHit, Question, QuestionsReport, SourceDocument
from tools.questions.index import fused, open_questions
from tools.questions.local import Names
from tools.questions.settings import MatrixSettings, SearchSettings
from tools.questions.stored import read_report
from tools.text.tokens import tokens

DEPTH = 100  # ours: documents that a system gives to a fusion, as in the literature evaluation
BATCH = 100  # ours: questions compared at once
# paper: coverage 2 and 8. By our scorer, and so under names of ours; ``vanilla`` is the paper's form: the nearest
# question by cosine alone.
SEARCHES = {
    "question_index": SearchSettings(),
    "question_index_ours_8": SearchSettings(coverage=8),
    "question_index_ours_2": SearchSettings(coverage=2),
    "question_index_vanilla": SearchSettings.published(),
}
Form = Literal["vanilla", "thresholded", "completed_random", "completed_thresholded", "full"]
FORMS: tuple[Form, ...] = ("thresholded", "completed_random", "completed_thresholded", "full")
AFFORDED = 40_000_000  # ours: entries of a matrix that is judged in full, a few minutes of a processor
AHEAD: dict[str, Literal["document", "answer"]] = {"hyde": "document", "qa_rag": "answer"}
NO_MODEL = {
    "hyde": "a language model writes the hypothetical document; set ANAMNESIS_MODEL",
    "qa_rag": "a language model writes the pseudo-answer; set ANAMNESIS_MODEL",
}
Rankings = list[list[str]]  # for each question, documents best first


class Direct(NamedTuple):
    """The direct ways, by which no question was prepared: rankings of one set of questions."""

    bm25: Rankings
    dense: Rankings
    dense_passages: Rankings

    def by_name(self) -> dict[str, Rankings]:
        """Every system's rankings by its name; words and passages by reciprocal rank, as the library searches."""
        return {**self._asdict(), "hybrid": fused_rankings(self.bm25, self.dense_passages)}


class Passages(NamedTuple):
    """The passages of a set's documents: vectors (passages, dimension), and the document of each."""

    vectors: Vectors
    owners: list[str]


def embed_passages(questions: QuestionSet, plain: Encoder, context: TaskContext, name: str) -> Passages:
    """Cut every document by SEOS and embed its passages; ``plain`` keeps document vectors."""
    texts: list[str] = []
    owners: list[str] = []
    for source in context.each(questions.documents, f"{name}: cutting"):
        document = StoredDocument(id=source.id, title=source.title, text=source.text)
        found = [passage.embedded_text(source.text) for passage in segment(document, plain, SeosSettings())]
        texts += found
        owners += [source.id] * len(found)
    return Passages(vectors_of(texts, plain, context, f"{name}: passages"), owners)


def search_directly(
    questions: QuestionSet, asked: Vectors, passages: Passages, plain: Encoder, context: TaskContext, name: str
) -> Direct:
    """Search a set in every direct way: BM25 over whole documents gives only those that share a word.

    Args:
        asked: array (questions, dimension). plain: the encoder that keeps document vectors.
        name: of the set, for the progress bars.
    """
    ids = [document.id for document in questions.documents]
    index = BatchedBM25([tokens(document.text) for document in questions.documents])
    bags = [tokens(question.text) for question in questions.asked]
    words: Rankings = [[] for _ in bags]
    for at in context.each(range(0, len(bags), BATCH), f"{name}: bm25"):
        hits = best_rows(index.scores(bags[at : at + BATCH]), DEPTH)
        for query, row in zip(hits.query, hits.row, strict=True):
            words[at + query].append(ids[row])
    documents = vectors_of([d.text for d in questions.documents], plain, context, f"{name}: documents")
    return Direct(words, by_meaning(documents, ids, asked), by_meaning(*passages, asked))


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


def fused_rankings(*systems: Rankings) -> Rankings:
    """Rankings of the same questions by reciprocal rank."""
    return [
        [item.id for item in reciprocal_rank_fusion({str(n): ids[:DEPTH] for n, ids in enumerate(row)})][:DEPTH]
        for row in zip(*systems, strict=True)
    ]


def build_index(
    documents: Sequence[SourceDocument],
    folder: Path,
    encoder: Encoder,
    context: TaskContext,
    name: str,
    given: Sequence[Question] = (),
    form: Form = "vanilla",
) -> QuestionsReport:
    """Build an index as `anamnesis questions build` does without a model; what was built before is taken over.

    Args:
        name: of the set, for the progress bars. given: questions that the documents carry already.
        form: of the answerability matrix.
    """
    bars = Bars(context, name)
    chosen = context.settings.question_index.model_copy(update={"matrix": MatrixSettings(form=form)})
    return asyncio.run(build(documents, folder, encoder, chosen, names=other_names(), given=given, progress=bars.show))


@lru_cache(maxsize=1)
def other_names() -> Names:
    """Everyday and clinical names for the local writer, as the product gives them to it; the graph is read once."""
    return other_names_of(STARTER_GRAPH)


def search_index(questions: QuestionSet, folder: Path, encoder: Encoder, direct: Direct) -> dict[str, Rankings]:
    """Rankings by the index at every coverage, and fused with direct retrieval.

    Args:
        encoder: of the questions asked. direct: rankings of the same questions.
    """
    out: dict[str, Rankings] = {}
    for name, settings in SEARCHES.items():
        found = _hits(questions, folder, encoder, settings)
        out[name] = [[hit.document for hit in hits] for hits in found]
        if name == "question_index":
            rows = zip(found, direct.bm25, direct.dense_passages, strict=True)
            pairs = ((hits, {"bm25": words, "passages": meaning}) for hits, words, meaning in rows)
            out["question_index_hybrid"] = [fused(hits, ways)[:DEPTH] for hits, ways in pairs]
    return out


def search_matrices(
    questions: QuestionSet, folder: Path, encoder: Encoder, context: TaskContext, given: Sequence[Question]
) -> dict[str, Rankings]:
    """Rankings by the index under every form of the answerability matrix (QB-RAG, the authors' future work).

    Args:
        folder: of the index without further documents; it tells how many entries the full matrix has.
    """
    out: dict[str, Rankings] = {}
    entries = read_report(folder).count * len(questions.documents)
    for form in FORMS:
        if form == "full" and entries > AFFORDED:
            reason = f"the matrix has {entries:,} entries; at most {AFFORDED:,} are judged"
            context.not_run["question_index_full"] = reason
            continue
        own = folder.with_name(f"{folder.name}-{form}")
        build_index(questions.documents, own, encoder, context, form, given, form)
        found = _hits(questions, own, encoder, SearchSettings())
        out[f"question_index_{form}"] = [[hit.document for hit in hits] for hits in found]
    return out


def _hits(questions: QuestionSet, folder: Path, encoder: Encoder, settings: SearchSettings) -> list[list[IndexedHit]]:
    return open_questions(folder, encoder, settings).search_many([q.text for q in questions.asked], DEPTH)


class Bars:
    """The progress of a build as bars of the evaluation: one a stage."""

    def __init__(self, context: TaskContext, name: str) -> None:
        self._context, self._name = context, name
        self._stages: dict[str, tuple[Iterator[Any], int]] = {}

    def show(self, stage: str, done: int, total: int) -> None:
        """Move a stage's bar on to ``done``."""
        bar, shown = self._stages.get(stage) or (self._context.each(range(total), f"{self._name}: {stage}"), 0)
        for _ in range(done - shown + (done >= total)):  # past the end, so that the bar is closed
            next(bar, None)
        self._stages[stage] = (bar, done)


def write_ahead(model: LanguageModel, system: str, asked: Sequence[str]) -> list[str]:
    """HyDE and QA-RAG search for a text that a language model writes first: one for each question.

    Where the model writes none, the question stands for it, as in the product.

    Raises:
        ServiceError: the model failed. No figure then rests on part of the questions.
    """
    template = TEMPLATES[AHEAD[system]]

    async def one(question: str) -> str:
        reply, _ = await model.structured(template, AheadReply, question=one_line(question, SHOWN_QUESTION))
        return reply.text.strip() or question

    async def every() -> list[str]:
        return list(await asyncio.gather(*(one(question) for question in asked)))

    return asyncio.run(every())
