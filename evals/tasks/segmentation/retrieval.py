"""Part (a) of `segmentation`: the share of an answer that the best passages of all pages hold, within a fixed number
of tokens handed on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evals.contract import Figure, TaskContext
from evals.datasets.medquad import Answer, Page, read_pages
from evals.sessions import EvalEncoder
from evals.statistics import mean, paired_difference, share
from evals.tasks.literature import vectors_of
from evals.tasks.segmentation.segmenters import BASELINES, FIXED, SEGMENTERS, SPECIAL, Ruler, Segmenter, pieces
from tools.encoders import Encoder
from tools.fusion import reciprocal_rank_fusion
from tools.indexes.lexical import Lexicon
from tools.literature.hybrid import best
from tools.text.sentences import Span

RETRIEVERS = ("bm25", "dense", "hybrid")
PAGES_A_QUESTION = 10  # ours: pages indexed for each question at most, so that a small run is small; 600 take all
HALF = 0.5  # of an answer: the second figure of the issue
HANDED = 512  # paper: the tokens of CoMeta's fixed passages, so that a passage of theirs is handed on whole
DEPTH = 200  # ours: passages ranked; the shortest, sentences, fill the handed tokens well before
Shares = dict[str, dict[str, list[float]]]  # retriever -> segmenter -> a share of the answer, 0..1, a question


def figures(context: TaskContext, plain: Encoder, cached: EvalEncoder) -> list[Figure]:
    """Cut and search every page in every way; what is quick comes first, the embedding of passages last.

    Args:
        plain: keeps its document vectors; cached: keeps the vectors of questions too.
    """
    pages = context.sample_of(read_pages(context.data), PAGES_A_QUESTION * context.limit)
    library = Library(pages, plain)
    questions = draw_questions(pages, context.limit, context.seed)
    cut = {name: library.cut(segmenter, context, name) for name, segmenter in SEGMENTERS.items()}
    texts = [q.answer.question for q in questions]
    asked = cached.encode_queries(texts)
    shares: Shares = {retriever: {} for retriever in RETRIEVERS}
    words: dict[str, list[list[int]]] = {}

    def covered(name: str, ranked: Sequence[Sequence[int]]) -> list[float]:
        return [library.covered(q, found, cut[name]) for q, found in zip(questions, ranked, strict=True)]

    for name in context.each(list(cut), "bm25"):
        lexicon = Lexicon(library.texts(cut[name]))
        scored = [lexicon.scores(text) for text in texts]
        words[name] = [[i for i in best(scores, DEPTH) if scores[i] > 0] for scores in scored]  # that share a word
        shares["bm25"][name] = covered(name, words[name])
    for name in cut:
        vectors = vectors_of(library.texts(cut[name]), plain, context, f"vectors of {name}")
        dense = [best(np.asarray(vectors @ vector), DEPTH) for vector in asked]
        shares["dense"][name] = covered(name, dense)
        shares["hybrid"][name] = covered(name, [by_both(w, d) for w, d in zip(words[name], dense, strict=True)])
    out: list[Figure] = []
    for name, passages in cut.items():
        out.append(Figure(name=f"{name}.bm25.index_tokens", value=sum(passages.read), n=len(passages.spans)))
        out += share(f"{name}.dense.cut", passages.cut)  # the encoder does not read them whole
    return out + coverage_figures(shares, context.seed)


def coverage_figures(shares: Shares, seed: int) -> list[Figure]:
    """Coverage in percent, the share of questions with at least half, and SEOS against every baseline in points."""
    out: list[Figure] = []
    for retriever, by_name in shares.items():
        percent = {name: [100 * value for value in values] for name, values in by_name.items()}
        for name, values in by_name.items():
            out += mean(f"{name}.{retriever}.coverage", percent[name], seed)
            out += share(f"{name}.{retriever}.half", [value >= HALF for value in values])
        others = {name: name for name in BASELINES}
        others["best_fixed"] = max(FIXED, key=lambda name: float(np.mean(percent[name])))
        for name, other in others.items():
            figure = f"seos_over_{name}.{retriever}.coverage"
            out += paired_difference(figure, percent["seos"], percent[other], seed)
    return out


class Question(NamedTuple):
    """A question, the place of its page among the pages, and what answers it there."""

    page: int
    answer: Answer


class Passages(NamedTuple):
    """Every passage of all pages, in order.

    Attributes:
        pages: the place of each passage's page.
        spans: its characters there.
        leads: the sentence of the page that is searched before it, or None.
        tokens: its own tokens, the subject and the sentence before it left out.
        read: its tokens with the sentence before it.
        cut: whether the encoder reads less of it than there is, what stands before it counted.
    """

    pages: list[int]
    spans: list[Span]
    leads: list[Span | None]
    tokens: list[int]
    read: list[int]
    cut: list[bool]


class Library:
    """The pages with the places of their tokens."""

    def __init__(self, pages: Sequence[Page], encoder: Encoder) -> None:
        self.pages, self._encoder = pages, encoder
        ruler = Ruler(encoder)
        self.measured = [ruler.measure(page.text) for page in pages]
        self._subjects = [ruler.count(page.focus) for page in pages]

    def cut(self, segmenter: Segmenter, context: TaskContext, label: str) -> Passages:
        """Cut every page."""
        made = Passages([], [], [], [], [], [])
        room = self._encoder.limit - SPECIAL
        for place, page in enumerate(context.each(self.pages, label)):
            measured = self.measured[place]
            for span, lead in pieces(segmenter, page.text, page.focus, self._encoder):
                tokens = measured.tokens(span.start, span.end)
                read = tokens + (measured.tokens(lead.start, lead.end) if lead else 0)
                made.pages.append(place)
                made.spans.append(span)
                made.leads.append(lead)
                made.tokens.append(tokens)
                made.read.append(read)
                made.cut.append(read + self._subjects[place] > room)
        return made

    def texts(self, passages: Passages) -> list[str]:
        """What is searched: the page's subject, which every segmenter gets, the sentence before it, the passage."""
        out = []
        for place, span, lead in zip(passages.pages, passages.spans, passages.leads, strict=True):
            page = self.pages[place]
            out.append("\n".join([page.focus, *([lead.of(page.text)] if lead else []), span.of(page.text)]))
        return out

    def covered(self, question: Question, ranked: Sequence[int], passages: Passages) -> float:
        """The share, 0..1, of the answer's characters inside the handed tokens; white space does not count.

        The best passages are handed on in order and the last is cut; a token that comes twice is handed on twice,
        a character counts once.
        """
        page, answer = self.pages[question.page], question.answer
        inside = np.zeros(answer.end - answer.start, dtype=np.bool_)
        left = HANDED
        for place in ranked:
            of, span = passages.pages[place], passages.spans[place]
            end, tokens = self.measured[of].cut(span.start, span.end, left)
            if of == question.page:
                inside[max(0, span.start - answer.start) : max(0, end - answer.start)] = True
            left -= tokens
            if end < span.end or left <= 0:
                break
        written = np.array([not c.isspace() for c in page.text[answer.start : answer.end]], dtype=np.bool_)
        return float((inside & written).sum() / max(1, written.sum()))


def draw_questions(pages: Sequence[Page], count: int, seed: int) -> list[Question]:
    """Questions, at most one a page: the pages and their questions are drawn by the seed."""
    rng = random.Random(seed)  # noqa: S311
    places = sorted(rng.sample(range(len(pages)), min(count, len(pages))))
    return [Question(place, rng.choice(pages[place].answers)) for place in places]


def by_both(words: Sequence[int], meaning: Sequence[int]) -> list[int]:
    """The two rankings fused by reciprocal rank, as the passage tool fuses them."""
    streams = {"bm25": [str(i) for i in words], "dense": [str(i) for i in meaning]}
    return [int(fused.id) for fused in reciprocal_rank_fusion(streams)]
