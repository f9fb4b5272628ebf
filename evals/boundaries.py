"""Where a segmenter cuts, in the sentences of an article, and how well that agrees with its sections."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from evals.metrics.segmentation import boundary_similarity, pk, window_diff

if TYPE_CHECKING:
    from evals.baselines.contract import Segmenter
    from evals.datasets.segmentation import Article
    from tools.encoders import Encoder
    from tools.text.sentences import Span


class Agreement(NamedTuple):
    """Pk and WindowDiff (lower is better) and boundary similarity (higher), each 0..1."""

    pk: float
    windowdiff: float
    similarity: float


def agreement(article: Article, segmenter: Segmenter, encoder: Encoder, *, counted: bool) -> Agreement:
    """How well the cuts of an article agree with its sections.

    Args:
        counted: the segmenter is told the true number of sections; else it takes its own size.
    """
    gold = frozenset(list(accumulate(article.sections))[:-1])
    spans = segmenter(article.text, "", encoder, len(article.sections) if counted else None)
    found = cuts(spans, article.starts)
    n = len(article.starts)
    return Agreement(pk(n, gold, found), window_diff(n, gold, found), boundary_similarity(gold, found))


def cuts(spans: Sequence[Span], starts: Sequence[int]) -> frozenset[int]:
    """The sentence boundaries nearest to the cuts between spans.

    A cut lies where a span ends; the next may begin before that by its overlap. Cuts that fall on one boundary are
    one; those at the ends of the text are none.
    """
    return frozenset(_nearest(span.end, starts) for span in spans[:-1]) - {0, len(starts)}


def _nearest(end: int, starts: Sequence[int]) -> int:
    """The sentence that begins nearest to a place; a span that ends with its sentence is followed by the next."""
    after = bisect_right(starts, end)
    if after == len(starts):
        return after
    return after if starts[after] - end <= end - starts[after - 1] else after - 1
