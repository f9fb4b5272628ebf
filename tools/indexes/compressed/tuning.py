"""How many lists to search and how many candidates to score: the least that gives the recall asked, as measured."""

from __future__ import annotations

import time

import numpy as np

from tools.encoders import Vectors
from tools.indexes.compressed.plan import BuildSettings, Measured
from tools.indexes.compressed.rows import Rows
from tools.indexes.compressed.searching import Effort, Searcher, exact

K = 10  # ours: recall@10 is what is tuned
CANDIDATES = (100, 200, 400, 800)  # ours: scored again on the stored vectors; each costs one read of a row
SLACK = 0.01  # ours: a number of candidates is enough when searching widely leaves this much above the target
WIDE = 4  # ours: "widely" is a quarter of all lists
TIMED = 200  # ours: queries timed one at a time


def tune(searcher: Searcher, settings: BuildSettings, questions: Vectors | None = None) -> tuple[Effort, Measured]:
    """Choose the effort and measure it.

    Args:
        searcher: over the finished lists.
        questions: (n, dimension) unit vectors of real questions; else rows of the collection are asked, each
            left out of its own result.
    """
    queries, own = _queries(searcher, settings, questions)
    truth = _truth(searcher, queries, own, settings)
    flat = searcher.plan.kind == "flat"
    effort = Effort(1, 2 * K) if flat else _least(searcher, queries, own, truth, settings)
    found, seconds = _timed(searcher, queries[:TIMED], own[:TIMED], effort)
    rest = _found(searcher, queries[TIMED:], own[TIMED:], effort)
    return effort, Measured(
        queries=len(queries),
        of="rows of the collection" if questions is None else "questions given",
        recall=round(recall(truth, found + rest), 4),
        target=settings.recall,
        p50_ms=round(float(np.median(seconds)) * 1000, 3) if seconds else 0.0,
        p95_ms=round(float(np.percentile(seconds, 95)) * 1000, 3) if seconds else 0.0,
    )


def lower_recall(truth: list[Rows], found: list[Rows]) -> float:
    """The recall less its sampling error: the lower end of a one-sided 95 % normal interval of the mean."""
    shares = _shares(truth, found)
    return float(np.mean(shares) - 1.645 * np.std(shares) / np.sqrt(len(shares))) if shares else 1.0


def recall(truth: list[Rows], found: list[Rows]) -> float:
    """Mean share of the true rows that were found; 1 where there is nothing to find."""
    shares = _shares(truth, found)
    return float(np.mean(shares)) if shares else 1.0


def _shares(truth: list[Rows], found: list[Rows]) -> list[float]:
    return [float(np.isin(t, f).mean()) for t, f in zip(truth, found, strict=True) if len(t)]


def _queries(searcher: Searcher, settings: BuildSettings, questions: Vectors | None) -> tuple[Vectors, Rows]:
    """The queries, and for each the row that it is itself (-1: none)."""
    if questions is not None:
        return questions, np.full(len(questions), -1, dtype=np.int64)
    alive = np.setdiff1d(np.arange(len(searcher.rows)), searcher.rows.dead)
    chosen = np.random.default_rng(settings.seed + 2).permutation(alive)[: settings.sample]
    vectors = searcher.rows.gather(chosen)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12), chosen


def _truth(searcher: Searcher, queries: Vectors, own: Rows, settings: BuildSettings) -> list[Rows]:
    nearest = exact(searcher.rows, queries, K + 1, settings.block)
    return [row[(row >= 0) & (row != self)][:K] for row, self in zip(nearest, own, strict=True)]


def _least(searcher: Searcher, queries: Vectors, own: Rows, truth: list[Rows], settings: BuildSettings) -> Effort:
    """The fewest lists for the target, with the fewest candidates that can reach it."""
    nlist = searcher.plan.nlist

    def reached(effort: Effort) -> float:
        return lower_recall(truth, _found(searcher, queries, own, effort))

    wide = max(1, nlist // WIDE)
    candidates = next(
        (c for c in CANDIDATES if reached(Effort(wide, c)) >= min(settings.recall + SLACK, 1)), CANDIDATES[-1]
    )
    low, high = 0, 1
    while high < nlist and reached(Effort(high, candidates)) < settings.recall:
        low, high = high, min(2 * high, nlist)
    while high - low > max(1, high // 16):  # ours: within a sixteenth
        middle = (low + high) // 2
        enough = reached(Effort(middle, candidates)) >= settings.recall
        low, high = (low, middle) if enough else (middle, high)
    return Effort(high, candidates)


def _found(searcher: Searcher, queries: Vectors, own: Rows, effort: Effort) -> list[Rows]:
    return [_one(searcher, query, self, effort) for query, self in zip(queries, own, strict=True)]


def _timed(searcher: Searcher, queries: Vectors, own: Rows, effort: Effort) -> tuple[list[Rows], list[float]]:
    found, seconds = [], []
    for query, self in zip(queries, own, strict=True):
        started = time.perf_counter()
        found.append(_one(searcher, query, self, effort))
        seconds.append(time.perf_counter() - started)
    return found, seconds


def _one(searcher: Searcher, query: Vectors, self: int, effort: Effort) -> Rows:
    rows, _ = searcher.search(query, K + 1, effort)
    others: Rows = rows[rows != self][:K]
    return others
