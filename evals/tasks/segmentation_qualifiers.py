"""Part (c) of `segmentation`: conditions that stay with their statements, against the size of the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evals.baselines.registry import BASELINES, SEGMENTERS
from evals.contract import Figure, TaskContext
from evals.datasets.qualifiers import read_pairs, read_texts
from evals.qualifiers import Documents, Kept
from evals.statistics import paired_difference, share
from prompts.errors import DataError

if TYPE_CHECKING:
    from tools.encoders import Encoder


def figures(context: TaskContext, encoder: Encoder) -> list[Figure]:
    """Cut every document with a pair; then give each baseline SEOS's index size.

    Raises DataError when no pair stands in the data any more.
    """
    documents = Documents(read_texts(context.data), context.sample(read_pairs()), encoder)
    if not documents.pairs:
        raise DataError(
            "None of the pairs stands in these documents.", "Give the folder of the data that the pairs were found in."
        )
    cuts = {name: documents.cut(segmenter, context, name) for name, segmenter in SEGMENTERS.items()}
    kept = {name: documents.kept(cut, leads) for name, (cut, leads) in cuts.items()}
    out = [figure for name, one in kept.items() for figure in kept_figures(name, one, len(documents.texts))]
    size = kept["seos"].tokens
    for name in BASELINES:
        same = documents.kept(documents.widened(cuts[name][0], size))
        out += share(f"{name}.qualifiers.kept_at_size", same.pairs)
        out += paired_difference(
            f"seos_over_{name}.qualifiers.kept", _points(kept["seos"].pairs), _points(same.pairs), context.seed
        )
    return out


def kept_figures(name: str, kept: Kept, documents: int) -> list[Figure]:
    """What a segmenter keeps at its own size, and how large its index is."""
    return [
        *share(f"{name}.qualifiers.kept", kept.pairs),
        *share(f"{name}.qualifiers.stored", kept.stored),
        Figure(name=f"{name}.qualifiers.index_tokens", value=kept.tokens, n=documents),
        *share(f"{name}.qualifiers.cut", kept.cut),
    ]


def _points(pairs: list[bool]) -> list[float]:
    return [100.0 * kept for kept in pairs]
