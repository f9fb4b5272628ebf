"""`questions`: the index of answered questions beside direct retrieval (QB-RAG).

(a) ``qbrag``: 114 pages of MedQuAD; (b) ``answers``: its answers as documents without title; (c) ``liveqa``: consumers'
messages over judged answers; (d) ``rephrase`` and ``ood``: our own questions over the starter library, written from its
texts. ``short_way`` is the tool's direct answer, ``build`` and ``search`` are times. docs/evaluations.md tells how each
is counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from evals.contract import Figure, Task, TaskContext
from evals.datasets import answered_questions as data
from evals.datasets.liveqa import LIVEQA, LIVEQA_ANSWERS
from evals.datasets.medquad import PAGES, QBRAG_PAGES, QBRAG_QUESTIONS
from prompts.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from agent.sessions import Home
    from evals.answered_questions import Rankings
    from evals.encoder import EvalEncoder
    from prompts.language_model import LanguageModel
    from tools.embedding_cache import CachedEncoder
    from tools.library.collection import Library
    from tools.questions.contract import Question

INPUTS = (QBRAG_PAGES, QBRAG_QUESTIONS, PAGES, LIVEQA, LIVEQA_ANSWERS)


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
    from agent.assembly import build
    from agent.models import open_models
    from agent.sessions import Home
    from evals import answered_questions_short_way, answered_questions_speed
    from evals.agent_runs import evaluation_encoders
    from evals.answered_questions_ahead import NO_MODEL
    from tools.library.collection import Library

    home = Home(context.settings.home).prepare()
    if not (home.indexes / "library").exists():
        build(context.settings, home, rebuild=False, say=lambda _: None)
    model = None if open_models(context.settings, home) is None else partial(writer, context, home)
    if model is None:
        context.not_run.update(NO_MODEL)
    plain, cached = evaluation_encoders(context.settings, home)
    bench = Bench(context, home, plain, cached, model)
    try:
        library = Library.open(home.indexes / "library", cached)
        out = answered_questions_short_way.figures(context, home, library, cached)
        out += answered_questions_speed.figures(context, library, plain)
        for name, questions, written in sets(context, library):
            out += set_figures(bench, name, questions, written)
        return out
    finally:
        cached.close()
        plain.close()


def writer(context: TaskContext, home: Home) -> LanguageModel:
    """The model that writes what is searched for. Raises InputError when the settings name none."""
    from agent.models import open_models

    models = open_models(context.settings, home)
    if models is None:
        raise InputError("No language model is named.", "Set ANAMNESIS_MODEL.")
    return models.of("background")


def sets(context: TaskContext, library: Library) -> Iterator[tuple[str, data.QuestionSet, Sequence[Question]]]:
    """Each set by its name, with the questions that its documents carry already."""
    from tools.questions.collection import of_library, own_questions

    given = context.data, context.limit, context.seed
    sources, written = of_library(library.documents), own_questions(library.documents)
    for kind in ("rephrase", "ood"):
        yield kind, data.read_own(sources, kind, context.limit, context.seed), written
    yield "qbrag", data.read_qbrag(*given), ()
    yield "liveqa", data.read_liveqa(*given), ()
    yield "answers", data.read_segments(*given), ()


def set_figures(bench: Bench, name: str, questions: data.QuestionSet, written: Sequence[Question]) -> list[Figure]:
    """Every system on one set."""
    from evals.answered_questions_figures import compared_figures, system_figures
    from evals.answered_questions_index import build_index, index_figures

    context = bench.context
    kept = "library" if written else f"{name}-{len(questions.documents)}-{context.seed}"
    folder = bench.home.cache / "evaluations" / "questions" / kept
    report = build_index(questions.documents, folder, bench.plain, context, name, written)
    systems = systems_of(bench, name, questions, written, folder)
    out = index_figures(name, report)
    out.append(Figure(name=f"collection.{name}.left_out", value=questions.left_out, n=len(questions.asked)))
    for system, rankings in systems.items():
        out += system_figures(f"{system}.{name}", questions.asked, rankings, context.seed)
    return out + compared_figures(name, questions.asked, systems, context.seed)


def systems_of(
    bench: Bench, name: str, questions: data.QuestionSet, written: Sequence[Question], folder: Path
) -> dict[str, Rankings]:
    """The rankings of a set by every system; the matrix is completed on the starter library alone."""
    from evals.answered_questions import by_meaning, embed_passages, search_directly
    from evals.answered_questions_ahead import AHEAD, write_ahead
    from evals.answered_questions_index import search_index, search_matrices

    texts = [question.text for question in questions.asked]
    passages = embed_passages(questions, bench.plain, bench.context, name)
    asked = bench.cached.encode_queries(texts)
    direct = search_directly(questions, asked, passages, bench.plain, bench.context, name)
    systems = {**direct.by_name(), **search_index(questions, folder, bench.cached, direct)}
    if written:
        systems |= search_matrices(questions, folder, bench.cached, bench.context, written)
    if bench.model is not None:
        for system in AHEAD:
            ahead = bench.cached.encode_queries(write_ahead(bench.model(), system, texts))
            systems[system] = by_meaning(*passages, ahead)
    return systems


TASK = Task(
    name="questions",
    what="the index of answered questions beside words, meaning and passages; direct answers that are right",
    inputs=INPUTS,
    expected="30 minutes; hours the first time, which embeds 16,368 answers and the questions written for them",
    limit=2000,
    run=run,
    by_model=True,
)
