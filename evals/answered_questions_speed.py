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
from tools.questions.collection import bag, of_library
from tools.questions.contract import Question
from tools.questions.index import open_questions
from tools.questions.kinds import kinds_of
from tools.questions.round_trip import statement_words
from tools.text.definitions import definitions
from tools.text.tokens import stem, stems

if TYPE_CHECKING:
    from evals.contract import TaskContext
    from tools.encoders import Encoder, Vectors
    from tools.library.collection import Library
    from tools.questions.contract import QuestionsReport, SourceDocument

ROWS = 100_000  # the size at which a time is asked for
NOISE = 0.02  # ours: standard deviation of each coordinate, so that copies of a question differ as rewordings do
WARMED = 5  # ours: questions asked before the clock counts
TIMED = 100  # ours: questions that are timed
HITS = 10  # ours: documents wanted of each


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


def figures(context: TaskContext, library: Library, encoder: Encoder) -> list[Figure]:
    """Build the starter library's index in an empty folder, then ask one of 100,000 questions made from it.

    It is built twice, and timed when every vector is known, and nothing else: what remains is the build's own time.

    Args:
        encoder: keeps no vector of a question, so that embedding one is timed too.
    """
    from evals.answered_questions_index import build_index

    documents = of_library(library.documents)
    asked = [question.text for question in read_own(documents, "ood", WARMED + TIMED, context.seed).asked]
    remembering = Remembering(encoder)
    with tempfile.TemporaryDirectory() as temporary:
        folder, many = Path(temporary) / "library", Path(temporary) / "many"
        build_index(documents, Path(temporary) / "first", remembering, context, "speed")
        forget()
        started, used = time.perf_counter(), time.process_time()
        report = build_index(documents, folder, remembering, context, "speed")
        seconds = {"second": time.perf_counter() - started, "cpu_second": time.process_time() - used}
        count = len(documents)
        out = [Figure(name=f"build.local.documents_per_{k}", value=count / v, n=count) for k, v in seconds.items()]
        multiply(folder, many, documents, encoder, report, context.seed)
        taken = times(many, asked, encoder)
        out += median("search.rows_100000.p50_ms", [wall for wall, _ in taken], context.seed)
        return out + median("search.rows_100000.cpu_p50_ms", [cpu for _, cpu in taken], context.seed)


def forget() -> None:
    """Empty what a process remembers of texts that it has read, so that a build is timed as in a fresh one."""
    for remembered in (bag, kinds_of, statement_words, definitions, stems, stem):
        remembered.cache_clear()


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


def times(folder: Path, asked: Sequence[str], encoder: Encoder) -> list[tuple[float, float]]:
    """Milliseconds of each question but the first few, its embedding counted: on the clock, and of all processors."""
    index = open_questions(folder, encoder)
    taken: list[tuple[float, float]] = []
    for question in asked:
        started, used = time.perf_counter(), time.process_time()
        index.search(question, HITS)
        taken.append((1000 * (time.perf_counter() - started), 1000 * (time.process_time() - used)))
    return taken[WARMED:]
