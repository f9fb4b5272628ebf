"""Times of the question index: documents a second when it is built, milliseconds a question among 100,000."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evals.contract import Figure
from evals.datasets.answered_questions import read_own
from evals.statistics import median
from tools.questions import stored
from tools.questions.contract import Question
from tools.questions.index import open_questions
from tools.questions.sources import of_library

if TYPE_CHECKING:
    from evals.contract import TaskContext
    from tools.encoders import Encoder
    from tools.library.collection import Library
    from tools.questions.contract import QuestionsReport, SourceDocument

ROWS = 100_000  # the size at which a time is asked for
NOISE = 0.02  # ours: standard deviation of each coordinate, so that copies of a question differ as rewordings do
WARMED = 5  # ours: questions asked before the clock counts
TIMED = 100  # ours: questions that are timed
HITS = 10  # ours: documents wanted of each


def figures(context: TaskContext, library: Library, encoder: Encoder) -> list[Figure]:
    """Build the starter library's index in an empty folder, then ask one of 100,000 questions made from it.

    Args:
        encoder: keeps no vector of a question, so that embedding one is timed too.
    """
    from evals.answered_questions_index import build_index

    documents = of_library(library.documents)
    asked = [question.text for question in read_own(documents, "ood", WARMED + TIMED, context.seed).asked]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "library"
        report = build_index(documents, folder, encoder, context, "speed")
        own = report.seconds - report.encoder_seconds
        out = [Figure(name="build.local.documents_per_second", value=len(documents) / own, n=len(documents))]
        many = Path(temporary) / "many"
        multiply(folder, many, documents, encoder, report, context.seed)
        return out + median("search.rows_100000.p50_ms", times(many, asked, encoder), context.seed)


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
    questions = [
        Question(text=f"{known[row].text} {number}", answers=known[row].answers, writer=known[row].writer)
        for number, row in enumerate(rows)
    ]
    many.parent.mkdir(parents=True, exist_ok=True)
    stored.write(many, questions, vectors.astype(np.float32), documents, encoder, report)


def times(folder: Path, asked: Sequence[str], encoder: Encoder) -> list[float]:
    """Milliseconds of each question but the first few, its embedding counted."""
    index = open_questions(folder, encoder)
    taken: list[float] = []
    for question in asked:
        started = time.perf_counter()
        index.search(question, HITS)
        taken.append(1000 * (time.perf_counter() - started))
    return taken[WARMED:]
