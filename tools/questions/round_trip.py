"""Answerability without a model: a question goes back to the collection, and must find its own document (QB-RAG).

The own document must answer it as well as any other, by words, by meaning, and by how much of what is asked for it
says; and a statement of it must hold what is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tools.encoders import Encoder, Vectors
from tools.questions.collection import Collection, Scores, bag
from tools.questions.contract import Judgement, Question, SourceDocument, Verdict
from tools.questions.kinds import kinds, kinds_of, shares, weigh
from tools.questions.outline import Piece, PieceKind, in_full, outline
from tools.text.tokens import tokens

BLOCK = 256  # ours: questions compared with all documents at once
# ours: what the share of a document that speaks of the kind of thing asked (cause, treatment, ...) adds to words and
# meaning. Without it an overview, which names everything, wins over the page that tells of the one thing asked.
SAYS = 0.2
EQUAL = 0.08  # ours: scores nearer than this are equal: two pages on one disease answer one question
PART = 10  # ours: among the first ten it answers in part
CONTEXT = 400  # ours: characters before a statement in which what it speaks of may be named
HELD = 0.5  # ours: share of the question's words, by rarity, that the statement and what stands over it must hold


class RoundTrip:
    """Judges by search over the whole collection.

    Args:
        collection: embedded already. rank: how many documents may answer better, and one.
    """

    name = "round trip@1"  # raised with every change of what is judged: an index is then built anew
    of_pair = False

    def __init__(self, collection: Collection, encoder: Encoder, rank: int = 1) -> None:
        self._collection, self._encoder, self._rank = collection, encoder, rank
        self._columns = {kind.name: n for n, kind in enumerate(kinds())}
        self._says = np.zeros((len(collection.documents), len(self._columns)), dtype=np.float32)
        for number, document in enumerate(collection.documents):
            for name, share in _profile(document).items():
                self._says[number, self._columns[name]] = share

    async def judge(self, pairs: Sequence[tuple[Question, SourceDocument]]) -> list[Judgement]:
        """One judgement a pair, in order. A question that stands in several pairs is embedded and compared once."""
        rows = {text: n for n, text in enumerate(dict.fromkeys(question.text for question, _ in pairs))}
        scores = self.scores(list(rows), self._encoder.encode_queries(list(rows)))
        found = []
        for question, document in pairs:
            column = scores[:, rows[question.text]]
            own = column[self._collection.number[document.id]]
            found.append(self._judged(question, document, int(1 + (column > own + np.float32(EQUAL)).sum())))
        return found

    def judge_embedded(self, pairs: Sequence[tuple[Question, SourceDocument]], vectors: Vectors) -> list[Judgement]:
        """The same with the questions' vectors, (pairs, dimension)."""
        found: list[Judgement] = []
        for at in range(0, len(pairs), BLOCK):
            block = pairs[at : at + BLOCK]
            for (question, document), rank in zip(block, self._ranks(block, vectors[at : at + BLOCK]), strict=True):
                found.append(self._judged(question, document, int(rank)))
        return found

    def judge_entries(
        self, questions: Sequence[Question], vectors: Vectors, wanted: NDArray[np.bool_]
    ) -> list[tuple[int, int, Judgement]]:
        """(question, document, judgement) by number, of the wanted entries that are not "not answered".

        Args:
            vectors: (questions, dimension). wanted: (questions, documents).
        """
        scores = self.scores([question.text for question in questions], vectors)
        found = []
        for row, question in enumerate(questions):
            column = scores[:, row]
            order = np.sort(column)
            better = len(column) - np.searchsorted(order, column + np.float32(EQUAL), side="right")
            near = wanted[row] & (better < max(PART, self._rank))
            for number in np.flatnonzero(near).tolist():
                judgement = self._judged(question, self._collection.documents[number], int(1 + better[number]))
                if judgement.verdict is not Verdict.NO:
                    found.append((row, number, judgement))
        return found

    def scores(self, questions: Sequence[str], vectors: Vectors) -> Scores:
        """Array (documents, questions): how well each document answers each question."""
        scores = self._collection.answering(questions, vectors)
        for column, question in enumerate(questions):
            asked = [self._columns[kind.name] for kind in kinds_of(question)]
            if asked:
                scores[:, column] += SAYS * self._says[:, asked].max(axis=1)
        return scores

    def _ranks(self, pairs: Sequence[tuple[Question, SourceDocument]], vectors: Vectors) -> NDArray[np.int64]:
        scores = self.scores([question.text for question, _ in pairs], vectors)
        own = [self._collection.number[document.id] for _, document in pairs]
        better = scores > scores[own, np.arange(len(pairs))] + np.float32(EQUAL)
        return np.asarray(1 + better.sum(axis=0), dtype=np.int64)

    def _judged(self, question: Question, document: SourceDocument, rank: int) -> Judgement:
        span = self.supporting(question, document) if rank <= max(PART, self._rank) else None
        if span is None:
            return Judgement(verdict=Verdict.NO)
        verdict = Verdict.FULL if rank <= self._rank else Verdict.PART
        return Judgement(verdict=verdict, start=span[0], end=span[1])

    def supporting(self, question: Question, document: SourceDocument) -> tuple[int, int] | None:
        """The statement that holds what is asked: the one it was written from, else the best; None when none does."""
        wanted = set(bag(question.text))
        weights = {token: self._collection.rarity(token) for token in wanted}
        whole = sum(weights.values())
        if not whole:
            return None
        title = set(bag(document.title))

        def held(words: str) -> float:
            return sum(weights[t] for t in wanted & (title | set(bag(words)))) / whole

        answer = question.answers[0] if question.answers else None
        if answer is not None and answer.document == document.id:
            for before in (0, CONTEXT):
                if held(document.text[max(0, answer.start - before) : answer.end]) >= HELD:
                    return answer.start, answer.end
        best, share = None, 0.0
        for piece, words in statement_words(document.text):
            now = sum(weights[t] for t in wanted & (title | words)) / whole
            if best is None or now > share:
                best, share = piece, now
        return None if best is None or share < HELD else (best.start, best.end)


@lru_cache(maxsize=4096)  # ours: some thousand documents; a matrix asks each for many questions
def statement_words(text: str) -> tuple[tuple[Piece, frozenset[str]], ...]:
    """The statements of a text, each with its words and those over it."""
    return tuple((piece, frozenset(tokens(in_full(piece)))) for piece in _statements(text))


def _statements(text: str) -> list[Piece]:
    return [piece for piece in outline(text) if piece.kind is PieceKind.STATEMENT]


def _profile(document: SourceDocument) -> dict[str, float]:
    """How much of a document is of each kind, as shares of the most."""
    found = weigh(enumerate(in_full(p) for p in _statements(document.text)))
    return shares({name: weight for name, (weight, _) in found.items()})
