"""Putting several rankings together: reciprocal rank fusion, and pools in which every source has its say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from tools.contract import unique
from tools.evidence import Frozen

RRF_K = 60  # ours: CoMeta fuses by RRF on PMIDs and does not publish its constant; 61 and 100 are in use elsewhere


class Fused(Frozen):
    """An id of a fused ranking: rank from 1, sum of 1 / (k + rank), and its rank in each stream that has it."""

    id: str
    rank: int
    score: float
    ranks: dict[str, int]


def reciprocal_rank_fusion(streams: Mapping[str, Sequence[str]], k: int = RRF_K) -> list[Fused]:
    """Fuse rankings (CoMeta, hybrid retrieval; Cormack et al. 2009 for the formula).

    Args:
        streams: for each stream its ids, best first. An id repeated in a stream counts at its first place.
        k: damping constant, 0 or more.

    Returns:
        Every id once, best first. Equal scores are ordered by the best single rank, then by id.
    """
    ranks: dict[str, dict[str, int]] = {}
    for stream, ids in streams.items():
        for rank, item in enumerate(unique(ids), 1):
            ranks.setdefault(item, {})[stream] = rank
    # Rounding lets sums that are equal on paper tie, whatever the order of the streams.
    scores = {item: round(sum(1 / (k + rank) for rank in places.values()), 12) for item, places in ranks.items()}
    order = sorted(ranks, key=lambda item: (-scores[item], min(ranks[item].values()), item))
    return [Fused(id=item, rank=n, score=scores[item], ranks=ranks[item]) for n, item in enumerate(order, 1)]


def balanced_pool(sources: Mapping[str, Sequence[str]], per_source: int) -> list[str]:
    """A pool from several collections, none of which can crowd out another (MedRGAG, source-balanced retrieval).

    Each source gives its own first ``per_source`` ids; the pool takes them in turn: all firsts, all seconds, and
    so on, in the order of the sources. An id that several sources give appears once.
    """
    columns = [unique(ids)[:per_source] for ids in sources.values()]
    return unique([item for row in zip_longest(*columns) for item in row if item is not None])
