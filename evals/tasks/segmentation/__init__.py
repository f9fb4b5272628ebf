"""`segmentation`: SEOS beside nine other ways to cut a text (CoMeta, passages).

(a) `retrieval`: passages over MedQuAD's pages, (b) boundaries of articles' sections, without their headings, (c)
`qualifiers`: conditions that stay with the statement that they govern. docs/evaluations.md tells how each is counted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from evals.contract import Figure, Task, TaskContext
from evals.datasets.literature import ABSTRACTS
from evals.datasets.medquad import PAGES
from evals.datasets.qualifiers import ARTICLES as FULL_TEXTS
from evals.datasets.segmentation import ARTICLES, Article, read_articles
from evals.sessions import encoders
from evals.statistics import mean, paired_difference
from evals.tasks.segmentation import qualifiers, retrieval
from evals.tasks.segmentation.segmenters import BASELINES, SEGMENTERS, Segmenter
from prompts.errors import InputError
from tools.encoders import Encoder
from tools.text.sentences import Span

WITHOUT = ("paragraph",)  # the articles come as sentences: they have no paragraphs
NEAR = 1  # code: segeval's default (n_t = 2): a boundary one unit off is a near miss


def run(context: TaskContext) -> list[Figure]:
    """Measure all three; what is quick comes first."""
    with encoders(context.settings, context.home) as (plain, cached):
        return [
            *qualifiers.figures(context, plain),
            *boundary_figures(context, plain),
            *retrieval.figures(context, plain, cached),
        ]


class Agreement(NamedTuple):
    """Pk and WindowDiff (lower is better) and boundary similarity (higher), each 0..1."""

    pk: float
    windowdiff: float
    similarity: float


def boundary_figures(context: TaskContext, encoder: Encoder) -> list[Figure]:
    """Cut every article into its true number of sections, and again at each segmenter's own size (``_own``)."""
    articles = context.sample(read_articles(context.data))
    out: list[Figure] = []
    for counted, suffix in ((True, ""), (False, "_own")):
        found = {
            name: [agreement(a, segmenter, encoder, counted=counted) for a in context.each(articles, f"{name}{suffix}")]
            for name, segmenter in SEGMENTERS.items()
            if name not in WITHOUT
        }
        out += agreement_figures(found, suffix, context.seed)
    return out


def agreement_figures(found: Mapping[str, Sequence[Agreement]], suffix: str, seed: int) -> list[Figure]:
    """Means over articles, and for Pk the paired difference of SEOS and every baseline (below 0 is better)."""
    out: list[Figure] = []
    for name, values in found.items():
        for metric in Agreement._fields:
            out += mean(f"{name}.boundaries.{metric}{suffix}", [getattr(a, metric) for a in values], seed)
    for name in BASELINES:
        if name in found:
            first, second = ([a.pk for a in found[which]] for which in ("seos", name))
            out += paired_difference(f"seos_over_{name}.boundaries.pk{suffix}", first, second, seed)
    return out


def agreement(article: Article, segmenter: Segmenter, encoder: Encoder, *, counted: bool) -> Agreement:
    """How well the cuts of an article agree with its sections.

    Args:
        counted: the segmenter is told the true number of sections; else it takes its own size.
    """
    gold = frozenset(list(accumulate(article.sections))[:-1])
    spans = segmenter(article.text, "", encoder, len(article.sections) if counted else None)
    found, n = cuts(spans, article.starts), len(article.starts)
    return Agreement(pk(n, gold, found), window_diff(n, gold, found), boundary_similarity(gold, found))


def cuts(spans: Sequence[Span], starts: Sequence[int]) -> frozenset[int]:
    """The sentence boundaries nearest to the cuts between spans.

    A cut lies where a span ends; the next may begin before that by its overlap. Cuts that fall on one boundary are
    one; those at the ends of the text are none.
    """

    def nearest(end: int) -> int:  # a span that ends with its sentence is followed by the next
        after = bisect_right(starts, end)
        if after == len(starts):
            return after
        return after if starts[after] - end <= end - starts[after - 1] else after - 1

    return frozenset(nearest(span.end) for span in spans[:-1]) - {0, len(starts)}


# Agreement of two segmentations of the same units. A segmentation is the set of its boundaries: b in 1..n - 1 is the
# first unit of a segment.


def window(n: int, reference: AbstractSet[int]) -> int:
    """Half the mean length of the reference's segments, rounded, at least 1 (Beeferman et al. 1999)."""
    return max(1, round(n / (len(reference) + 1) / 2))


def _windows(n: int, reference: AbstractSet[int], found: AbstractSet[int]) -> tuple[np.ndarray, np.ndarray]:
    """The boundaries in each window of `window` units, of what was found and of the reference."""
    size = window(n, reference)
    if n <= size:
        raise InputError(f"{n} units are too few to compare.", "Give texts of two sentences or more.")
    seen = (np.cumsum([unit in boundaries for unit in range(n)]) for boundaries in (found, reference))
    ours, gold = (counts[size:] - counts[:-size] for counts in seen)
    return ours, gold


def pk(n: int, reference: AbstractSet[int], found: AbstractSet[int]) -> float:
    """Pk, 0..1, lower is better (Beeferman, Berger and Lafferty 1999).

    The share of windows of `window` units whose two ends are held to be in one segment by one segmentation and in
    two by the other.
    """
    ours, gold = _windows(n, reference, found)
    return float(np.mean((ours == 0) != (gold == 0)))


def window_diff(n: int, reference: AbstractSet[int], found: AbstractSet[int]) -> float:
    """WindowDiff, 0..1, lower is better (Pevzner and Hearst 2002): the windows whose numbers of boundaries differ."""
    ours, gold = _windows(n, reference, found)
    return float(np.mean(ours != gold))


def boundary_similarity(reference: AbstractSet[int], found: AbstractSet[int]) -> float:
    """Boundary similarity B, 0..1, higher is better (Fournier 2013).

    A boundary one unit off counts half; a boundary of one segmentation alone counts nothing. Two segmentations
    without any boundary agree wholly.
    """
    matches = reference & found
    missed, extra = sorted(reference - found), sorted(found - reference)
    near = 0
    for boundary in missed:
        close = next((other for other in extra if abs(other - boundary) <= NEAR), None)
        if close is not None:
            extra.remove(close)
            near += 1
    pairs = len(matches) + len(missed) + len(extra)
    return (len(matches) + near / 2) / pairs if pairs else 1.0


TASK = Task(
    name="segmentation",
    what="passages: SEOS beside nine baselines: answers found, section boundaries, severed conditions",
    inputs=(PAGES, ARTICLES, FULL_TEXTS, ABSTRACTS),
    expected="30 minutes; hours the first time, which embeds the passages of eleven segmenters",
    limit=600,
    run=run,
)
