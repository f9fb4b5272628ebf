"""ICA-RAG's search of a case of 30 sentences over all passages of MedQuAD, against a BM25 pass of the same queries."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from evals.bench.figures import Figure
from evals.datasets.segmentation import read_pages
from prompts.errors import DataError
from tools.encoders import Encoder
from tools.passages.chunk_counted import ChunkIndex
from tools.passages.contract import StoredDocument
from tools.text.sentences import split_sentences

UNITS = 30  # sentences of the case, as the figure is asked for
ROUNDS = 31  # of each search, in turn; the median counts
LENGTHS = range(40, 300)  # characters of a sentence that may stand in the case


def counted(data: Path, encoder: Encoder) -> list[Figure]:
    """The ratio, and both times; warm, with the sentences' words stemmed once before.

    One pass is `BatchedBM25.scores` of the same queries, their words included, without choosing the best: the least
    that any search must do.
    """
    pages = [StoredDocument(id=f"medquad:{n}", title=p.focus, text=p.text) for n, p in enumerate(read_pages(data))]
    index = ChunkIndex.of(pages, encoder)
    queries = _case(pages)
    units = [(query, "AB"[n % 2]) for n, query in enumerate(queries)]
    text = " ".join(queries)
    whole, one_pass = _medians(
        lambda: index.search(units, text), lambda: index.bm25.scores(index.query_tokens(queries))
    )
    n = len(index.chunks)
    return [
        Figure(name="chunk_counted.over_one_pass", value=whole / one_pass, unit="times", n=ROUNDS, asked="at most 2"),
        Figure(name="chunk_counted.search", value=whole * 1000, unit="ms", n=ROUNDS),
        Figure(name="chunk_counted.one_pass", value=one_pass * 1000, unit="ms", n=ROUNDS),
        Figure(name="chunk_counted.chunks", value=n, unit="chunks", n=len(pages)),
    ]


def _case(pages: list[StoredDocument]) -> list[str]:
    """Sentences of as many pages, drawn by a seed."""
    drawn = random.Random(0).sample(pages, len(pages))  # noqa: S311 (a sample, not a secret)
    sentences: list[str] = []
    for page in drawn:
        own = [s.of(page.text) for s in split_sentences(page.text) if s.end - s.start in LENGTHS]
        sentences += own[:1]
        if len(sentences) == UNITS:
            return sentences
    raise DataError(f"The pages have fewer than {UNITS} sentences for a case.", "Restore medquad/pages.jsonl.")


def _medians(*searches: Callable[[], object]) -> list[float]:
    """Median seconds of each search, the rounds taken in turn so that a busy machine touches all alike."""
    seconds: list[list[float]] = [[] for _ in searches]
    for _ in range(ROUNDS + 1):
        for search, own in zip(searches, seconds, strict=True):
            started = time.perf_counter()
            search()
            own.append(time.perf_counter() - started)
    return [statistics.median(own[1:]) for own in seconds]
