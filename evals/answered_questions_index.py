"""The index of answered questions as the evaluation builds and searches it: whole, and sampled down to coverages."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evals.answered_questions import DEPTH, Direct, Rankings
from evals.contract import Figure
from tools.questions.building import build
from tools.questions.index import fused, open_questions
from tools.questions.settings import MatrixSettings, SearchSettings
from tools.questions.stored import read_report

if TYPE_CHECKING:
    from evals.contract import TaskContext
    from evals.datasets.answered_questions import QuestionSet
    from tools.encoders import Encoder
    from tools.questions.contract import IndexedHit, Question, QuestionsReport, SourceDocument
    from tools.questions.local import Names

# paper: coverage 2, 8 and all. ``vanilla`` is the paper's form: the nearest question by cosine alone.
SEARCHES = {
    "question_index": SearchSettings(),
    "question_index_8": SearchSettings(coverage=8),
    "question_index_2": SearchSettings(coverage=2),
    "question_index_vanilla": SearchSettings.published(),
}
Form = Literal["vanilla", "thresholded", "completed_random", "completed_thresholded", "full"]
FORMS: tuple[Form, ...] = ("thresholded", "completed_random", "completed_thresholded", "full")
AFFORDED = 5_000_000  # ours: entries of a matrix that is judged in full, about a minute of a processor


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
    from agent.knowledge_graph import STARTER_GRAPH
    from agent.questions import other_names_of

    return other_names_of(STARTER_GRAPH)


def search_index(questions: QuestionSet, folder: Path, encoder: Encoder, direct: Direct) -> dict[str, Rankings]:
    """Rankings by the index at every coverage, and fused with direct retrieval.

    Args:
        encoder: of the questions asked. direct: rankings of the same questions.
    """
    out: dict[str, Rankings] = {}
    for name, settings in SEARCHES.items():
        found = hits_of(questions, folder, encoder, settings)
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
        found = hits_of(questions, own, encoder, SearchSettings())
        out[f"question_index_{form}"] = [[hit.document for hit in hits] for hits in found]
    return out


def hits_of(questions: QuestionSet, folder: Path, encoder: Encoder, settings: SearchSettings) -> list[list[IndexedHit]]:
    """What an index finds for each question of a set."""
    return open_questions(folder, encoder, settings).search_many([q.text for q in questions.asked], DEPTH)


def index_figures(name: str, report: QuestionsReport) -> list[Figure]:
    """What was written for a set: questions, their mean number a document, and the share that was kept, in percent."""
    return [
        Figure(name=f"index.{name}.questions", value=report.questions, n=report.documents),
        Figure(name=f"index.{name}.coverage", value=report.coverage, n=report.documents),
        Figure(name=f"index.{name}.share_kept", value=100 * report.share_kept, n=report.written),
    ]


class Bars:
    """The progress of a build as bars of the evaluation: one a stage."""

    def __init__(self, context: TaskContext, name: str) -> None:
        self._context, self._name = context, name
        self._stages: dict[str, tuple[Iterator[Any], int]] = {}

    def show(self, stage: str, done: int, total: int) -> None:
        """Move a stage's bar on to ``done``."""
        bar, shown = self._stages.get(stage) or (self._context.tick(range(total), f"{self._name}: {stage}", total), 0)
        for _ in range(done - shown):
            next(bar, None)
        if done >= total:
            next(bar, None)  # past the end, so that the bar is closed
        self._stages[stage] = (bar, done)
