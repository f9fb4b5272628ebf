"""Part (a) of `segmentation`: the share of an answer that the best passages of all pages hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from evals.baselines.registry import BASELINES, FIXED, SEGMENTERS
from evals.contract import Figure, TaskContext
from evals.datasets.medquad import read_pages
from evals.passage_coverage import Library, Passages, by_both, by_meaning, by_words, draw_questions, vectors_of
from evals.statistics import mean, paired_difference, share

if TYPE_CHECKING:
    from evals.encoder import EvalEncoder
    from evals.passage_coverage import Question
    from tools.encoders import Encoder

RETRIEVERS = ("bm25", "dense", "hybrid")
PAGES_A_QUESTION = 10  # ours: pages indexed for each question at most, so that a small run is small; 600 take all
HALF = 0.5  # of an answer: the second figure of the issue
Shares = dict[str, dict[str, list[float]]]  # retriever -> segmenter -> a share of the answer, 0..1, a question


def figures(context: TaskContext, plain: Encoder, cached: EvalEncoder) -> list[Figure]:
    """Cut and search every page in every way.

    Args:
        plain: keeps its document vectors; cached: keeps the vectors of questions too.
    """
    pages = context.sample_of(read_pages(context.data), PAGES_A_QUESTION * context.limit)
    library = Library(pages, plain)
    questions = draw_questions(pages, context.limit, context.seed)
    cuts = {name: library.cut(segmenter, context, name) for name, segmenter in SEGMENTERS.items()}
    shares = searched(library, questions, cuts, context, plain, cached)
    return sizes(cuts) + coverage_figures(shares, context.seed)


def searched(
    library: Library,
    questions: Sequence[Question],
    cuts: dict[str, Passages],
    context: TaskContext,
    plain: Encoder,
    cached: EvalEncoder,
) -> Shares:
    """The share of each answer by each retriever; what is quick comes first, the embedding of passages last."""
    from tools.indexes.lexical import Lexicon

    asked = cached.encode_queries([q.answer.question for q in questions])
    shares: Shares = {retriever: {} for retriever in RETRIEVERS}
    words: dict[str, list[list[int]]] = {}

    def covered(name: str, ranked: Sequence[Sequence[int]]) -> list[float]:
        return [library.covered(q, found, cuts[name]) for q, found in zip(questions, ranked, strict=True)]

    for name in context.tick(list(cuts), "bm25", len(cuts)):
        words[name] = list(by_words(Lexicon(library.texts(cuts[name])), questions))
        shares["bm25"][name] = covered(name, words[name])
    for name in cuts:
        vectors = vectors_of(library.texts(cuts[name]), plain, context, f"vectors of {name}")
        dense = list(by_meaning(vectors, asked))
        shares["dense"][name] = covered(name, dense)
        shares["hybrid"][name] = covered(name, [by_both(w, d) for w, d in zip(words[name], dense, strict=True)])
    return shares


def sizes(cuts: dict[str, Passages]) -> list[Figure]:
    """Tokens of each index, and the share of passages that the encoder does not read whole."""
    out: list[Figure] = []
    for name, passages in cuts.items():
        out.append(Figure(name=f"{name}.bm25.index_tokens", value=sum(passages.read), n=len(passages.spans)))
        out += share(f"{name}.dense.cut", passages.cut)
    return out


def coverage_figures(shares: Shares, seed: int) -> list[Figure]:
    """Coverage in percent, the share of questions with at least half, and SEOS against every baseline in points."""
    out: list[Figure] = []
    for retriever, by_name in shares.items():
        percent = {name: [100 * value for value in values] for name, values in by_name.items()}
        for name, values in by_name.items():
            out += mean(f"{name}.{retriever}.coverage", percent[name], seed)
            out += share(f"{name}.{retriever}.half", [value >= HALF for value in values])
        for name in BASELINES:
            figure = f"seos_over_{name}.{retriever}.coverage"
            out += paired_difference(figure, percent["seos"], percent[name], seed)
        best = max(FIXED, key=lambda name: float(np.mean(percent[name])))
        figure = f"seos_over_best_fixed.{retriever}.coverage"
        out += paired_difference(figure, percent["seos"], percent[best], seed)
    return out
