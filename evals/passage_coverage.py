"""How much of a question's answer the best passages hold, within a fixed number of tokens handed on."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evals.baselines.contract import SPECIAL, pieces
from evals.baselines.ruler import Measured, Ruler
from tools.fusion import reciprocal_rank_fusion
from tools.literature.hybrid import best

if TYPE_CHECKING:
    from evals.baselines.contract import Segmenter
    from evals.contract import TaskContext
    from evals.datasets.medquad import Answer, Page
    from tools.encoders import Encoder, Vectors
    from tools.indexes.lexical import Lexicon
    from tools.text.sentences import Span

HANDED = 512  # paper: the tokens of CoMeta's fixed passages, so that a passage of theirs is handed on whole
DEPTH = 200  # ours: passages ranked; the shortest, sentences, fill the handed tokens well before
CHUNK = 1024  # ours: passages embedded between two steps of the progress bar


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
        self.measured: list[Measured] = [ruler.measure(page.text) for page in pages]
        self._subjects = [ruler.count(page.focus) for page in pages]

    def cut(self, segmenter: Segmenter, context: TaskContext, label: str) -> Passages:
        """Cut every page."""
        made = Passages([], [], [], [], [], [])
        room = self._encoder.limit - SPECIAL
        for place, page in enumerate(context.tick(self.pages, label, len(self.pages))):
            for span, lead in pieces(segmenter, page.text, page.focus, self._encoder):
                tokens = self.measured[place].tokens(span.start, span.end)
                read = tokens + (self.measured[place].tokens(lead.start, lead.end) if lead else 0)
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
            text = self.pages[place].text
            parts = [self.pages[place].focus, *([lead.of(text)] if lead else []), span.of(text)]
            out.append("\n".join(parts))
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


def by_words(lexicon: Lexicon, questions: Sequence[Question]) -> Iterator[list[int]]:
    """Places of the best passages by BM25; only those that share a word with the question."""
    for question in questions:
        scores = lexicon.scores(question.answer.question)
        yield [i for i in best(scores, DEPTH) if scores[i] > 0]


def by_meaning(vectors: Vectors, asked: Vectors) -> Iterator[list[int]]:
    """Places of the best passages by cosine; ``asked`` has a row a question."""
    for vector in asked:
        similarity: NDArray[np.float32] = vectors @ vector
        yield best(similarity, DEPTH)


def by_both(words: Sequence[int], meaning: Sequence[int]) -> list[int]:
    """The two rankings fused by reciprocal rank, as the passage tool fuses them."""
    streams = {"bm25": [str(i) for i in words], "dense": [str(i) for i in meaning]}
    return [int(fused.id) for fused in reciprocal_rank_fusion(streams)]


def vectors_of(texts: Sequence[str], encoder: Encoder, context: TaskContext, label: str) -> Vectors:
    """Array (len(texts), dimension); what was embedded before comes from the encoder's cache.

    Texts are embedded by length, because a batch is as slow as its longest text. A run that is cut off goes on where
    it was.
    """
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    vectors = np.empty((len(texts), encoder.dimension), dtype=np.float32)
    starts = range(0, len(order), CHUNK)
    for at in context.tick(starts, label, len(starts)):
        places = order[at : at + CHUNK]
        vectors[places] = encoder.encode_documents([texts[i] for i in places])
    return vectors
