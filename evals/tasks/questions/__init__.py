"""`questions`: the index of answered questions beside direct retrieval (QB-RAG).

(a) ``qbrag``: 114 pages of MedQuAD; (b) ``answers``: its answers as documents without title; (c) ``liveqa``: consumers'
messages over judged answers; (d) ``rephrase`` and ``ood``: our own questions over the starter library, written from its
texts. ``short_way``: how often the tool answers directly, and how often from the right document; ``build`` and
``search``: documents a second when it is built, milliseconds a question among 100,000. docs/evaluations.md tells how
each is counted.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agent.models import open_models
from agent.questions import STARTER, build_questions, question_tool
from agent.sessions import Home
from evals.contract import Figure, Task, TaskContext
from evals.datasets import answered_questions as data
from evals.datasets.answered_questions import AskedQuestion, read_own
from evals.datasets.liveqa import LIVEQA, LIVEQA_ANSWERS
from evals.datasets.medquad import PAGES, QBRAG_PAGES, QBRAG_QUESTIONS
from evals.sessions import EvalEncoder, encoders, starter_library
from evals.statistics import (
    exact_mcnemar,
    mean,
    median,
    ndcg,
    paired_difference,
    paired_ratio,
    points,
    reciprocal_rank,
    recovered,
    share,
    wilcoxon,
)
from evals.tasks.questions.systems import (
    AHEAD,
    NO_MODEL,
    Rankings,
    build_index,
    by_meaning,
    embed_passages,
    search_directly,
    search_index,
    search_matrices,
    write_ahead,
)
from prompts.errors import InputError
from prompts.language_model import LanguageModel
from prompts.tool_arguments import FindAnsweredQuestion as Arguments
from tools.contract import ToolContext
from tools.embedding_cache import CachedEncoder
from tools.encoders import Encoder, Vectors
from tools.evidence import EvidenceId
from tools.library.collection import Library
from tools.questions import stored
from tools.questions.collection import bag, of_library, own_questions
from tools.questions.contract import Question, QuestionsReport, SourceDocument
from tools.questions.index import open_questions
from tools.questions.kinds import kinds_of
from tools.questions.round_trip import statement_words
from tools.text.definitions import definitions
from tools.text.tokens import stem, stems

KINDS = ("rephrase", "ood", "outside")
RECOVERY = (1, 3)  # paper: QB-RAG, exact recovery
CUT = 10  # ours: of reciprocal rank and of discounted gain
# Whom a system is compared with. The paper tests against naive retrieval; the others are asked for by the product.
COMPARED = (
    ("question_index", "dense"),
    ("question_index", "dense_passages"),
    ("question_index_hybrid", "hybrid"),
    ("question_index_hybrid", "dense_passages"),
)
ROWS = 100_000  # the size at which a time is asked for
NOISE = 0.02  # ours: standard deviation of each coordinate, so that copies of a question differ as rewordings do
WARMED = 5  # ours: questions asked before the clock counts
TIMED = 100  # ours: questions that are timed
HITS = 10  # ours: documents wanted of each


class Bench(NamedTuple):
    """What every set is measured with: context, data folder, both encoders, and what makes a model that writes ahead.

    A model belongs to the event loop in which it is asked, so each text is written by a fresh one.
    """

    context: TaskContext
    home: Home
    plain: CachedEncoder
    cached: EvalEncoder
    model: Callable[[], LanguageModel] | None = None


def run(context: TaskContext) -> list[Figure]:
    """Measure every set; what is quick comes first."""
    model = None if open_models(context.settings, context.home) is None else partial(writer, context, context.home)
    if model is None:
        context.not_run.update(NO_MODEL)
    with encoders(context.settings, context.home) as (plain, cached):
        library = starter_library(context, cached)
        bench = Bench(context, context.home, plain, cached, model)
        out = short_way(context, context.home, library, cached)
        out += speed_figures(context, library, plain)
        for name, questions, written in sets(context, library):
            out += set_figures(bench, name, questions, written)
        return out


def writer(context: TaskContext, home: Home) -> LanguageModel:
    """The model that writes what is searched for. Raises InputError when the settings name none."""
    models = open_models(context.settings, home)
    if models is None:
        raise InputError("No language model is named.", "Set ANAMNESIS_MODEL.")
    return models.of("background")


def sets(context: TaskContext, library: Library) -> Iterator[tuple[str, data.QuestionSet, Sequence[Question]]]:
    """Each set by its name, with the questions that its documents carry already."""
    given = context.data, context.limit, context.seed
    sources, written = of_library(library.documents), own_questions(library.documents)
    for kind in KINDS[:2]:
        yield kind, read_own(sources, kind, context.limit, context.seed), written
    yield "qbrag", data.read_qbrag(*given), ()
    yield "liveqa", data.read_liveqa(*given), ()
    yield "answers", data.read_segments(*given), ()


def set_figures(bench: Bench, name: str, questions: data.QuestionSet, written: Sequence[Question]) -> list[Figure]:
    """Every system on one set; the matrix is completed on the starter library alone."""
    context, plain, cached = bench.context, bench.plain, bench.cached
    kept = "library" if written else f"{name}-{len(questions.documents)}-{context.seed}"
    folder = bench.home.cache / "evaluations" / "questions" / kept
    report = build_index(questions.documents, folder, plain, context, name, written)
    texts = [question.text for question in questions.asked]
    passages = embed_passages(questions, plain, context, name)
    direct = search_directly(questions, cached.encode_queries(texts), passages, plain, context, name)
    systems = {**direct.by_name(), **search_index(questions, folder, cached, direct)}
    if written:
        systems |= search_matrices(questions, folder, cached, context, written)
    for system in AHEAD if bench.model is not None else ():
        ahead = cached.encode_queries(write_ahead(bench.model(), system, texts)) if bench.model else None
        if ahead is not None:
            systems[system] = by_meaning(*passages, ahead)
    out = [  # what was written: questions, their mean number a document, and the share that was kept, in percent
        Figure(name=f"index.{name}.questions", value=report.questions, n=report.documents),
        Figure(name=f"index.{name}.coverage", value=report.coverage, n=report.documents),
        Figure(name=f"index.{name}.share_kept", value=100 * report.share_kept, n=report.written),
        Figure(name=f"collection.{name}.left_out", value=questions.left_out, n=len(questions.asked)),
    ]
    for system, rankings in systems.items():
        out += system_figures(f"{system}.{name}", questions.asked, rankings, context.seed)
    return out + compared_figures(name, questions.asked, systems, context.seed)


def system_figures(name: str, asked: Sequence[AskedQuestion], rankings: Rankings, seed: int) -> list[Figure]:
    """Every figure of a system on a set; ``name`` is ``system.set``. ``hit@1`` is the same as ``recovery@1``."""
    out: list[Figure] = []
    for depth in RECOVERY:
        out += share(f"{name}.recovery@{depth}", _recovered(asked, rankings, depth))
    out += share(f"{name}.hit@1", _recovered(asked, rankings, 1))
    out += mean(f"{name}.mrr@{CUT}", _reciprocal(asked, rankings), seed)
    gains = [ndcg(ids, q.gains, CUT) for q, ids in zip(asked, rankings, strict=True)]
    return out + mean(f"{name}.ndcg@{CUT}", gains, seed)


def compared_figures(
    setting: str, asked: Sequence[AskedQuestion], systems: Mapping[str, Rankings], seed: int
) -> list[Figure]:
    """One system over another: differences with paired intervals, and p of the paper's one-sided tests.

    Recovery is tested by the exact binomial test on the questions that just one of both recovers, reciprocal rank by
    Wilcoxon's signed-rank test. ``recovery@1_ratio`` is in percent.
    """
    out: list[Figure] = []
    n = len(asked)
    for first, second in COMPARED:
        if first not in systems or second not in systems:
            continue
        name = f"{first}_over_{second}.{setting}"
        for depth in RECOVERY:
            ours, theirs = (_recovered(asked, systems[system], depth) for system in (first, second))
            difference = points(f"{name}.recovery@{depth}", ours, theirs, seed)
            out += difference
            p = exact_mcnemar(ours, theirs, "greater")
            out += [Figure(name=f"{name}.recovery@{depth}_p", value=p, n=n)] if n else []
            if depth == 1:
                out += [f.model_copy(update={"name": f"{name}.hit@1"}) for f in difference]
                out += paired_ratio(f"{name}.recovery@1_ratio", ours, theirs, seed)
        ranks, before = (_reciprocal(asked, systems[system]) for system in (first, second))
        out += paired_difference(f"{name}.mrr@{CUT}", ranks, before, seed)
        out += [Figure(name=f"{name}.mrr@{CUT}_p", value=wilcoxon(ranks, before), n=n)] if n else []
    return out


def _recovered(asked: Sequence[AskedQuestion], rankings: Rankings, depth: int) -> list[bool]:
    return [recovered(ids, q.gold, depth) for q, ids in zip(asked, rankings, strict=True)]


def _reciprocal(asked: Sequence[AskedQuestion], rankings: Rankings) -> list[float]:
    return [reciprocal_rank(ids, q.gold, CUT) for q, ids in zip(asked, rankings, strict=True)]


class DirectAnswer(NamedTuple):
    """A question's direct answer: the document of the first one, "" for none, and whether that document is gold."""

    kind: str
    document: str
    right: bool


def short_way(context: TaskContext, home: Home, library: Library, encoder: Encoder) -> list[Figure]:
    """Ask every question of ours, and those that no document answers, at the shipped threshold."""
    sources = of_library(library.documents)
    own = Home(home.cache / "evaluations" / "short_way").prepare()  # the user's index and notes stay as they are
    quiet = context.settings.questions.model_copy(update={"learn": False})
    settings = context.settings.model_copy(update={"questions": quiet})
    asyncio.run(build_questions(settings, own, STARTER, sources, encoder))
    tool = question_tool(settings, own, library, encoder)

    def document_of(question: str) -> str:
        told = ToolContext(question=question, kind="evidence")
        answered = asyncio.run(tool.run(Arguments(question=question, limit=3), told)).answered
        return EvidenceId.parse(answered[0].evidence.id).document_id if answered else ""

    found: list[DirectAnswer] = []
    for kind in KINDS:
        asked = read_own(sources, kind, context.limit, context.seed).asked
        for question in context.each(asked, f"short way: {kind}"):
            document = document_of(question.text)
            found.append(DirectAnswer(kind, document, document in question.gold))
    return short_way_figures(found)


def short_way_figures(found: Sequence[DirectAnswer]) -> list[Figure]:
    """Precision over all direct answers, those outside the library counting as wrong; the share answered by kind."""
    inside = [bool(direct.document) for direct in found if direct.kind != "outside"]
    out = share("short_way.library.precision", [direct.right for direct in found if direct.document])
    out += share("short_way.library.coverage", inside)
    for kind in KINDS:
        of_kind = [direct for direct in found if direct.kind == kind]
        out += share(f"short_way.{kind}.answered", [bool(direct.document) for direct in of_kind])
        if kind != "outside":
            out += share(f"short_way.{kind}.precision", [direct.right for direct in of_kind if direct.document])
    return out


class Remembering:
    """An encoder that computes what it was given once: the second time it takes no time."""

    def __init__(self, encoder: Encoder) -> None:
        self.name, self.dimension, self.limit = encoder.name, encoder.dimension, encoder.limit
        self._encoder = encoder
        self._vectors: dict[tuple[bool, str], Vectors] = {}
        self._counts: dict[str, int] = {}

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension)."""
        return self._known(texts, query=True)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension)."""
        return self._known(texts, query=False)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special tokens left out."""
        missing = [text for text in texts if text not in self._counts]
        self._counts.update(zip(missing, self._encoder.count_tokens(missing), strict=True))
        return [self._counts[text] for text in texts]

    def _known(self, texts: Sequence[str], *, query: bool) -> Vectors:
        missing = list(dict.fromkeys(text for text in texts if (query, text) not in self._vectors))
        if missing:
            vectors = self._encoder.encode_queries(missing) if query else self._encoder.encode_documents(missing)
            self._vectors.update(((query, text), vector) for text, vector in zip(missing, vectors, strict=True))
        rows = [self._vectors[query, text] for text in texts]
        return np.stack(rows) if rows else np.empty((0, self.dimension), dtype=np.float32)


def speed_figures(context: TaskContext, library: Library, encoder: Encoder) -> list[Figure]:
    """Build the starter library's index in an empty folder, then ask one of 100,000 questions made from it.

    It is built twice, and timed when every vector is known, and nothing else: what remains is the build's own time.

    Args:
        encoder: keeps no vector of a question, so that embedding one is timed too.
    """
    documents = of_library(library.documents)
    asked = [question.text for question in read_own(documents, "ood", WARMED + TIMED, context.seed).asked]
    remembering = Remembering(encoder)
    with tempfile.TemporaryDirectory() as temporary:
        folder, many = Path(temporary) / "library", Path(temporary) / "many"
        build_index(documents, Path(temporary) / "first", remembering, context, "speed")
        for remembered in (bag, kinds_of, statement_words, definitions, stems, stem):
            remembered.cache_clear()  # what a process remembers of texts, so that it is timed as in a fresh one
        started, used = time.perf_counter(), time.process_time()
        report = build_index(documents, folder, remembering, context, "speed")
        seconds = {"second": time.perf_counter() - started, "cpu_second": time.process_time() - used}
        count = len(documents)
        out = [Figure(name=f"build.local.documents_per_{k}", value=count / v, n=count) for k, v in seconds.items()]
        multiply(folder, many, documents, encoder, report, context.seed)
        index = open_questions(many, encoder)
        taken: list[tuple[float, float]] = []  # each question's embedding counted
        for question in asked:
            started, used = time.perf_counter(), time.process_time()
            index.search(question, HITS)
            taken.append((1000 * (time.perf_counter() - started), 1000 * (time.process_time() - used)))
        for at, name in enumerate(("p50_ms", "cpu_p50_ms")):
            out += median(f"search.rows_100000.{name}", [both[at] for both in taken[WARMED:]], context.seed)
        return out


def multiply(
    folder: Path, many: Path, documents: Sequence[SourceDocument], encoder: Encoder, report: QuestionsReport, seed: int
) -> None:
    """Write an index of 100,000 questions: those of ``folder`` over and over, each vector moved a little."""
    held = stored.read(folder, encoder)
    chance = np.random.default_rng(seed)
    rows = np.arange(ROWS) % len(held.lines)
    vectors = held.vectors[rows].astype(np.float32) + chance.normal(0, NOISE, (ROWS, encoder.dimension))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    known = [held.question(n) for n in range(len(held.lines))]
    places = np.concatenate([np.arange(held.first[row], held.first[row + 1]) for row in rows])
    questions = [
        Question(text=f"{known[row].text} {number}", answers=known[row].answers, writer=known[row].writer)
        for number, row in enumerate(rows)
    ]
    many.parent.mkdir(parents=True, exist_ok=True)
    stored.write(many, questions, vectors.astype(np.float32), held.spans[places], documents, encoder, report)


TASK = Task(
    name="questions",
    what="the index of answered questions beside words, meaning and passages; direct answers that are right",
    inputs=(QBRAG_PAGES, QBRAG_QUESTIONS, PAGES, LIVEQA, LIVEQA_ANSWERS),
    expected="30 minutes; hours the first time, which embeds 16,368 answers and the questions written for them",
    limit=2000,
    run=run,
    by_model=True,
)
