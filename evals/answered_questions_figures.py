"""Figures of the question evaluation: each system on each set, and one system over another on the same questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evals.contract import Figure
from evals.metrics.ranking import ndcg, reciprocal_rank, recovered
from evals.statistics import exact_mcnemar, mean, paired_difference, paired_ratio, share, wilcoxon

if TYPE_CHECKING:
    from evals.answered_questions import Rankings
    from evals.datasets.answered_questions import AskedQuestion

RECOVERY = (1, 3)  # paper: QB-RAG, exact recovery
CUT = 10  # ours: of reciprocal rank and of discounted gain
# Whom a system is compared with. The paper tests against naive retrieval; the others are asked for by the product.
COMPARED = (
    ("question_index", "dense"),
    ("question_index", "dense_passages"),
    ("question_index_hybrid", "hybrid"),
    ("question_index_hybrid", "dense_passages"),
)


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
    for first, second in COMPARED:
        if first in systems and second in systems:
            out += _compared(f"{first}_over_{second}.{setting}", asked, systems[first], systems[second], seed)
    return out


def _compared(name: str, asked: Sequence[AskedQuestion], first: Rankings, second: Rankings, seed: int) -> list[Figure]:
    out: list[Figure] = []
    for depth in RECOVERY:
        ours, theirs = _recovered(asked, first, depth), _recovered(asked, second, depth)
        points, over = [100.0 * hit for hit in ours], [100.0 * hit for hit in theirs]
        out += paired_difference(f"{name}.recovery@{depth}", points, over, seed)
        out += _p(f"{name}.recovery@{depth}_p", exact_mcnemar(ours, theirs, "greater"), len(asked))
        if depth == 1:
            out += paired_difference(f"{name}.hit@1", points, over, seed)
            out += paired_ratio(f"{name}.recovery@1_ratio", points, over, seed)
    ranks, before = _reciprocal(asked, first), _reciprocal(asked, second)
    out += paired_difference(f"{name}.mrr@{CUT}", ranks, before, seed)
    return out + _p(f"{name}.mrr@{CUT}_p", wilcoxon(ranks, before), len(asked))


def _recovered(asked: Sequence[AskedQuestion], rankings: Rankings, depth: int) -> list[bool]:
    return [recovered(ids, q.gold, depth) for q, ids in zip(asked, rankings, strict=True)]


def _reciprocal(asked: Sequence[AskedQuestion], rankings: Rankings) -> list[float]:
    return [reciprocal_rank(ids, q.gold, CUT) for q, ids in zip(asked, rankings, strict=True)]


def _p(name: str, value: float, n: int) -> list[Figure]:
    return [Figure(name=name, value=value, n=n)] if n else []
