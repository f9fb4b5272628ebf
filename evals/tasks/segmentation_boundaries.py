"""Part (b) of `segmentation`: where sections of articles end, without their headings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evals.baselines.registry import BASELINES, SEGMENTERS
from evals.boundaries import Agreement, agreement
from evals.contract import Figure, TaskContext
from evals.datasets.segmentation import read_articles
from evals.statistics import mean, paired_difference

if TYPE_CHECKING:
    from tools.encoders import Encoder

WITHOUT = ("paragraph",)  # the articles come as sentences: they have no paragraphs
NAMES = tuple(name for name in SEGMENTERS if name not in WITHOUT)


def figures(context: TaskContext, encoder: Encoder) -> list[Figure]:
    """Cut every article into its true number of sections, and again at each segmenter's own size (``_own``)."""
    articles = context.sample(read_articles(context.data))
    out: list[Figure] = []
    for counted, suffix in ((True, ""), (False, "_own")):
        found: dict[str, list[Agreement]] = {}
        for name in NAMES:
            rows = context.tick(articles, f"{name}{suffix}", len(articles))
            found[name] = [agreement(a, SEGMENTERS[name], encoder, counted=counted) for a in rows]
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
