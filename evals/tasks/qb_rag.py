"""`qb_rag`: QB-RAG's tables by local means: retrieval (1, 2, appendix A), answers (3, 4, appendix A), nearness (6), the
matrices that it leaves to future work; and the local judges beside people's grades.

Sets: ``rephrase`` and ``ood``, our own questions over the starter library; ``medquad``, MedQuAD's over 114 pages.
Systems: ``question_index_N``, the nearest prepared question by cosine out of so many a page, as published (2 and 8 are
sampled out of all; 27 are what was kept of 27 a page that the local writer was asked for); ``question_index``, out of
all; ``naive``: pages as one vector each for retrieval, and passages for answers; ``question_index_FORM``: our search
with a matrix judged further, the full one among them. ``relevant_document@K``: one of the first K pages answers, whole
or in part, by the judge of answerability that the index is filtered by, which is no person and here no model.
An answer is the five sentences from where the nearest question is answered, or of the nearest passage; the index
declines below the similarity at which the product takes two questions for one. Golden is the page's own answer on
MedQuAD; nobody wrote one for ours: there it is the paragraph of a right page that BM25 (rank-bm25) likes best, by which
neither system searches. ``nearness.COLLECTION``: mean cosines, as the build reports them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from evals.contract import Figure, Task, TaskContext
from evals.datasets.answered_questions import (
    AnswerSet,
    AskedQuestion,
    GoldQuestion,
    QuestionSet,
    read_medquad,
    read_own,
    read_qbrag,
)
from evals.datasets.liveqa import LIVEQA, LIVEQA_ANSWERS, read_graded
from evals.datasets.medquad import QBRAG_PAGES, QBRAG_QUESTIONS
from evals.judges.by_model import open_judge
from evals.judges.contract import AnswerJudge, GivenAnswer
from evals.judges.validation import liveqa_figures
from evals.sessions import EvalEncoder, encoders, starter_library
from evals.statistics import share
from evals.tasks.answer_quality import (
    NAIVE,
    SENTENCES,
    Answering,
    JudgedAnswer,
    PassageSearch,
    compared_figures,
    judged,
    naive,
    piece,
    quoting,
)
from evals.tasks.answer_quality import system_figures as answer_figures
from evals.tasks.literature import vectors_of
from evals.tasks.questions import system_figures as retrieval_figures
from evals.tasks.questions.systems import Rankings, build_index, by_meaning, search_matrices
from tools.embedding_cache import CachedEncoder
from tools.encoders import Vectors
from tools.questions.collection import Collection, of_library, own_questions
from tools.questions.contract import (
    AnswerabilityJudge,
    Question,
    QuestionIndex,
    QuestionsReport,
    SourceDocument,
    Verdict,
)
from tools.questions.index import open_questions
from tools.questions.round_trip import RoundTrip
from tools.questions.settings import SearchSettings
from tools.questions.tool import SAME_QUESTION
from tools.text.tokens import tokens

KINDS = ("rephrase", "ood")
ASKED_FOR = 27  # paper: questions a page that were kept on MedQuAD
COVERAGES = {  # paper: 8 and 2 questions a page, 27 and 8 on MedQuAD; None for all of an index
    "library": {"question_index_8": 8, "question_index_2": 2, "question_index": None},
    "medquad": {"question_index_27": None, "question_index_8": 8},
}
DEPTHS = (1, 3)  # paper
RANKED = 10  # of the reciprocal rank and the gain that the retrieval's figures have beside
READ = 2000  # ours: characters from where a question is answered, more than five sentences have


@dataclass(frozen=True)
class Prepared:
    """A collection with its index of prepared questions.

    Attributes:
        written: questions that the documents carry already. folder, report: of the index. pages: array (documents,
            dimension), each read to the encoder's limit. systems: the index at each coverage.
        judge: says whether a page answers a question.
    """

    name: str
    documents: tuple[SourceDocument, ...]
    written: tuple[Question, ...]
    folder: Path
    report: QuestionsReport
    pages: Vectors
    systems: dict[str, QuestionIndex]
    judge: AnswerabilityJudge


def run(context: TaskContext) -> list[Figure]:
    """Every table, a collection after the other."""
    with encoders(context.settings, context.home) as (plain, cached):
        library = starter_library(context, cached)
        documents, written = of_library(library.documents), own_questions(library.documents)
        asked_for = {"per_document": ASKED_FOR, "longest": ASKED_FOR}
        fixed = context.settings.model_copy(
            update={"question_index": context.settings.question_index.model_copy(update=asked_for)}
        )
        held = prepare("library", documents, context, plain, cached, written)
        collections = [held]
        if with_medquad := context.has(QBRAG_PAGES, QBRAG_QUESTIONS):
            medquad, golden = read_qbrag(context.data, context.limit, context.seed), read_medquad(context).asked
            collections.append(prepare("medquad", medquad.documents, replace(context, settings=fixed), plain, cached))
        judge = open_judge(context.settings, context.home, cached)

        async def every() -> list[Figure]:  # in one event loop, because a model belongs to one
            out = [figure for one in collections for figure in written_figures(one)]
            for kind in KINDS:
                own = read_own(documents, kind, context.limit, context.seed)
                out += await set_figures(
                    kind, held, own, golden_answers(own.asked, documents), judge, context, plain, cached
                )
            if with_medquad:
                out += await set_figures("medquad", collections[-1], medquad, golden, judge, context, plain, cached)
            if context.has(LIVEQA, LIVEQA_ANSWERS):
                out += await liveqa_figures(context.sample(read_graded(context.data)), judge, context)
            return out

        figures = asyncio.run(every())
        for kind in KINDS:
            own = read_own(documents, kind, context.limit, context.seed)
            for system, ranked in search_matrices(own, held.folder, cached, context, written).items():
                figures += retrieval_figures(f"{system}.{kind}", own.asked, ranked, context.seed)
        return figures


def prepare(
    name: str,
    documents: Sequence[SourceDocument],
    context: TaskContext,
    plain: CachedEncoder,
    cached: EvalEncoder,
    written: Sequence[Question] = (),
) -> Prepared:
    """Build the index of a collection, as ``question_index`` of the settings says, and what it is compared with."""
    folder = context.home.cache / "evaluations" / "questions" / (name if written else f"{name}-{ASKED_FOR}")
    report = build_index(documents, folder, plain, context, name, written)
    collection = Collection(documents)
    collection.embed(plain)
    systems: dict[str, QuestionIndex] = {
        system: open_questions(folder, cached, SearchSettings.published().model_copy(update={"coverage": coverage}))
        for system, coverage in COVERAGES[name].items()
    }
    pages = vectors_of([d.text for d in documents], plain, context, f"{name}: pages")
    judge = RoundTrip(collection, cached)
    return Prepared(name, tuple(documents), tuple(written), folder, report, pages, systems, judge)


def written_figures(held: Prepared) -> list[Figure]:
    """What the build wrote and kept, and table 6."""
    report, near = held.report, held.report.nearness
    cosines = {
        "same_page": near.question_question_same_document,
        "different_pages": near.question_question_other_document,
        "own_page": near.question_own_document,
        "other_pages": near.question_other_document,
    }
    return [
        Figure(name=f"index.{held.name}.written", value=report.written, n=report.documents),
        Figure(name=f"index.{held.name}.kept", value=report.kept, n=report.documents),
        Figure(name=f"index.{held.name}.share_kept", value=100 * report.share_kept, n=report.written),
        Figure(name=f"index.{held.name}.coverage", value=report.coverage, n=report.documents),
        *(
            Figure(name=f"nearness.{held.name}.{what}", value=value, n=report.questions)
            for what, value in cosines.items()
            if value is not None
        ),
    ]


async def set_figures(
    name: str,
    held: Prepared,
    questions: QuestionSet,
    golden: Sequence[GoldQuestion],
    judge: AnswerJudge,
    context: TaskContext,
    plain: CachedEncoder,
    cached: EvalEncoder,
) -> list[Figure]:
    """Retrieval and answers of every system on one set."""
    texts = [question.text for question in questions.asked]
    ids = [document.id for document in held.documents]
    rankings = {NAIVE: by_meaning(held.pages, ids, cached.encode_queries(texts))}
    rankings |= {system: documents_of(index, texts) for system, index in held.systems.items()}
    search = PassageSearch(AnswerSet(name, held.documents, tuple(golden)), plain, cached, context)
    answering = {NAIVE: naive(search)} | {s: leading(index, held.documents) for s, index in held.systems.items()}
    out: list[Figure] = []
    rows: dict[str, list[JudgedAnswer]] = {}
    for system, ranked in rankings.items():
        out += retrieval_figures(f"{system}.{name}", questions.asked, ranked, context.seed)
        out += await relevancy_figures(f"{system}.{name}", texts, ranked, held.documents, held.judge)
        told = [answering[system](text) for text in context.each(texts, f"{name}: {system}")]
        rows[system] = await judged(f"{system}.{name}", golden, told, judge, context)
        out += answer_figures(f"{system}.{name}", rows[system], context.seed)
        if system != NAIVE:
            out += compared_figures(f"{system}_over_{NAIVE}.{name}", rows[system], rows[NAIVE], context.seed)
    return out


async def relevancy_figures(
    name: str, texts: Sequence[str], rankings: Rankings, documents: Sequence[SourceDocument], judge: AnswerabilityJudge
) -> list[Figure]:
    """The share of questions that one of the first pages answers, in full or in part, by the judge of answerability."""
    by_id = {document.id: document for document in documents}
    pairs = [
        (Question(text=text, answers=(), writer="people"), by_id[document])
        for text, ranked in zip(texts, rankings, strict=True)
        for document in ranked[: max(DEPTHS)]
    ]
    verdicts = iter(await judge.judge(pairs))
    answered = [[next(verdicts).verdict is not Verdict.NO for _ in ranked[: max(DEPTHS)]] for ranked in rankings]
    return [
        figure
        for depth in DEPTHS
        for figure in share(f"{name}.relevant_document@{depth}", [any(row[:depth]) for row in answered])
    ]


def documents_of(index: QuestionIndex, texts: Sequence[str]) -> Rankings:
    """The documents of each question, best first."""
    return [[hit.document for hit in hits] for hits in index.search_many(texts, RANKED)]


def golden_answers(asked: Sequence[AskedQuestion], documents: Sequence[SourceDocument]) -> tuple[GoldQuestion, ...]:
    """Each question with the best paragraph of a page that answers it, by BM25 over all paragraphs."""
    from rank_bm25 import BM25Okapi

    paragraphs = [(d.id, text.strip()) for d in documents for text in d.text.split("\n\n") if tokens(text)]
    scores: Callable[[list[str]], np.ndarray] = BM25Okapi([tokens(text) for _, text in paragraphs]).get_scores
    owner = np.array([document for document, _ in paragraphs])
    out = []
    for question in asked:
        held = np.isin(owner, list(question.gold))
        best = int(np.argmax(np.where(held, scores(tokens(question.text)), -np.inf)))
        out.append(GoldQuestion(question.text, paragraphs[best][1]))
    return tuple(out)


def leading(index: QuestionIndex, documents: Sequence[SourceDocument]) -> Answering:
    """Gives the sentences from where the nearest prepared question is answered, where that asks the same."""
    texts = {document.id: document.text for document in documents}

    def answer(question: str) -> GivenAnswer:
        hits = index.search(question, 1)
        if not hits or hits[0].similarity < SAME_QUESTION:
            return GivenAnswer()
        found = texts[hits[0].document][hits[0].start :][:READ].strip()
        return quoting(piece(found), [piece(found)], SENTENCES) if found else GivenAnswer()

    return answer


TASK = Task(
    name="qb_rag",
    what="QB-RAG's tables by local means: retrieval, answers, nearness, matrices; the judges beside people's grades",
    inputs=(QBRAG_PAGES, QBRAG_QUESTIONS, LIVEQA, LIVEQA_ANSWERS),
    expected="8 minutes; 25 the first time",
    limit=300,
    run=run,
    by_model=True,
    any_of=True,
)
