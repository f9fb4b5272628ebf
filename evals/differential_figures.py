"""The counting of `differential`: rank of the right disease, and agreement with the gold differential."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evals.contract import Figure
from evals.statistics import mean, share

TOPS = (1, 3, 5)  # ours: with the published top 1 and top 3
AGREED = 5  # ours: of how many diseases the gold differential and ours are compared


@dataclass(frozen=True)
class Ranked:
    """A patient's right disease and category, and what was ranked.

    Attributes:
        ranking: (disease, category), best first. shares: of belief, one for each of ``ranking``; () when not kept.
        gold: (disease, probability) of the release's own differential; () when not given.
    """

    disease: str
    l2: str
    ranking: tuple[tuple[str, str], ...]
    names_gold: bool
    shares: tuple[float, ...] = ()
    gold: tuple[tuple[str, float], ...] = ()


def figures_of(
    ranked: Sequence[Ranked],
    conditions: frozenset[str],
    seed: int,
    *,
    graph: str = "starter",
    given: str = "text",
    more: bool = True,
    above: Mapping[str, str] | None = None,
) -> list[Figure]:
    """Every figure of ranked patients but the time.

    Args:
        conditions: the diseases that are conditions of the release. graph, given: the first parts of the names.
        more: the graph has other diseases too, so that ``<graph>_all`` is reported beside.
        above: the first-level node (L1) of each category; None where the graph has no such level.
    """
    parts = {given: list(ranked)}
    if given == "text":
        parts["text_clean"] = [r for r in ranked if not r.names_gold]
        parts["text_named"] = [r for r in ranked if r.names_gold]
    out: list[Figure] = []
    for setting, rows in parts.items():
        out += _metrics(f"{graph}.{setting}", [_among(r, conditions) for r in rows], seed, above)
        if more:
            out += _metrics(f"{graph}_all.{setting}", rows, seed, above)
    return out


def _metrics(name: str, rows: Sequence[Ranked], seed: int, above: Mapping[str, str] | None) -> list[Figure]:
    ranks = [rank_of(r) for r in rows]
    out = [f for k in TOPS for f in share(f"{name}.l3_top{k}", [0 < rank <= k for rank in ranks])]
    out += mean(f"{name}.mrr", [1 / rank if rank else 0.0 for rank in ranks], seed)
    out += share(f"{name}.l2", [bool(r.ranking) and r.ranking[0][1] == r.l2 for r in rows])
    if above and rows:
        right = [above[r.l2] for r in rows]
        out += share(f"{name}.l1", [bool(r.ranking) and above[r.ranking[0][1]] == above[r.l2] for r in rows])
        commonest = 100 * Counter(right).most_common(1)[0][1] / len(rows)
        out.append(Figure(name=f"{name}.l1_majority", value=commonest, n=len(rows)))
    agreed = [agreement(r) for r in rows if r.gold]
    for at, metric in enumerate((f"ddx_recall@{AGREED}", f"ddx_precision@{AGREED}", "ddx_overlap")):
        out += mean(f"{name}.{metric}", [a[at] for a in agreed], seed)
    return out


def rank_of(row: Ranked) -> int:
    """Rank of the right disease from 1; 0 when it is not ranked."""
    return next((n for n, (disease, _) in enumerate(row.ranking, start=1) if disease == row.disease), 0)


def agreement(row: Ranked) -> tuple[float, float, float]:
    """Agreement with the gold differential, each in 0..1.

    Returns:
        Recall: share of gold's `AGREED` most probable diseases among our first `AGREED` (of fewer when gold has fewer).
        Precision: share of our first `AGREED` that stand anywhere in the gold differential.
        Overlap: sum over diseases of the lesser of gold's probability and our share, both over what is ranked.
    """
    first = [disease for disease, _ in row.ranking[:AGREED]]
    gold = dict(row.gold)
    leading = [d for d, _ in sorted(row.gold, key=lambda g: -g[1])[:AGREED]]
    recall = sum(d in first for d in leading) / len(leading)
    precision = sum(d in gold for d in first) / len(first) if first else 0.0
    total, ours = sum(gold.values()), sum(row.shares)
    overlap = 0.0
    if total > 0 and ours > 0:
        shares = {d: s / ours for (d, _), s in zip(row.ranking, row.shares, strict=True)}
        overlap = sum(min(p / total, shares.get(d, 0.0)) for d, p in gold.items())
    return recall, precision, overlap


def _among(row: Ranked, diseases: frozenset[str]) -> Ranked:
    kept = [i for i, (disease, _) in enumerate(row.ranking) if disease in diseases]
    return replace(
        row,
        ranking=tuple(row.ranking[i] for i in kept),
        shares=tuple(row.shares[i] for i in kept) if row.shares else (),
    )
