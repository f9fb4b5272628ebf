"""Every segmenter by the name that the figures carry."""

from __future__ import annotations

from evals.baselines.contract import Segmenter
from evals.baselines.fixed import Fixed
from evals.baselines.plain import by_paragraph, by_sentence
from evals.baselines.recursive import Recursive
from evals.baselines.semantic import Semantic
from evals.baselines.seos import Seos
from evals.baselines.texttiling import by_texttiling
from tools.passages.seos import BUDGET, SeosSettings

WIDE = 512  # paper: CoMeta's fixed baselines have 512 tokens
SEOS = ("seos", "seos_paper")
FIXED = ("fixed512_0", "fixed512_32", "fixed512_128", "fixed_budget")

SEGMENTERS: dict[str, Segmenter] = {  # in the order in which their passages are embedded: what is asked for first
    "seos": Seos(SeosSettings(method="seos")),
    "fixed512_0": Fixed(WIDE, 0),
    "fixed512_32": Fixed(WIDE, 32),  # paper: overlaps of CoMeta's fixed baselines
    "fixed512_128": Fixed(WIDE, 128),
    "fixed_budget": Fixed(BUDGET),
    "recursive": Recursive(BUDGET),
    "paragraph": by_paragraph,
    "seos_paper": Seos(SeosSettings(method="seos_paper")),
    "sentence": by_sentence,
    "semantic": Semantic(BUDGET),
    "texttiling": by_texttiling,
}
BASELINES = tuple(name for name in SEGMENTERS if name not in SEOS)
