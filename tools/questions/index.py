"""The index of answered questions, online: question to question, by meaning and by words; each document once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.encoders import Encoder, Vectors
from tools.evidence import content_key
from tools.fusion import reciprocal_rank_fusion
from tools.indexes.half import HalfVectors
from tools.indexes.lexical import Lexicon
from tools.library.search import lexical, wordings
from tools.questions import stored
from tools.questions.contract import IndexedHit
from tools.questions.settings import SearchSettings

POOL = 200  # ours: questions compared in full for each search; a question has some ten near ones in a document
EQUAL = 4  # ours: decimals of a score beyond which documents are equal; half precision is good for no more
BATCH = 256  # ours: questions embedded at once
Rows = NDArray[np.int64]


class _Best(NamedTuple):
    """The best question of a document: its score, cosine and share of words, its row, and the place of its answer."""

    score: float
    similarity: float
    words: float
    row: int
    place: int


class AnsweredQuestions:
    """A `tools.questions.contract.QuestionIndex` over what `tools.questions.building.build` wrote.

    Of equal documents the newer stands first, then the one that answers more questions (QB-RAG).
    """

    def __init__(self, held: stored.Stored, encoder: Encoder, settings: SearchSettings) -> None:
        self.manifest = held.manifest
        self._held, self._encoder, self._settings = held, encoder, settings
        self._rows = _drawn(held, settings.coverage)
        whole = len(self._rows) == len(held.lines)
        self._vectors = HalfVectors(held.vectors if whole else held.vectors[self._rows])
        self._lexicon = held.lexicon if whole else Lexicon([held.question(int(row)).text for row in self._rows])
        self._texts = dict(zip(held.documents, held.texts, strict=True))
        self._answered = Counter(held.answers[:, 0].tolist())

    def __len__(self) -> int:
        """Number of questions."""
        return len(self._rows)

    def text_of(self, document: str) -> str:
        """sha256 of the text that a document had when its questions were written; "" for one that is not here."""
        return self._texts.get(document, "")

    def search(self, question: str, k: int) -> list[IndexedHit]:
        """At most k documents, each once with its nearest question, best first."""
        return self.search_many([question], k)[0]

    def search_many(self, questions: Sequence[str], k: int) -> list[list[IndexedHit]]:
        """The same for each of many questions, embedded and compared in batches."""
        found: list[list[IndexedHit]] = []
        for at in range(0, len(questions), BATCH):
            found += self._search_batch(questions[at : at + BATCH], k)
        return found

    def _search_batch(self, questions: Sequence[str], k: int) -> list[list[IndexedHit]]:
        if not len(self) or k < 1:
            return [[] for _ in questions]
        asked = [wordings(q) if q.strip() else [] for q in questions]
        vectors = self._encoder.encode_queries([form for forms in asked for form in forms])
        pool = max(POOL, 4 * k)
        near = self._vectors.search(vectors, pool)[0]
        hits, at = [], 0
        for question, forms in zip(questions, asked, strict=True):
            mine = slice(at, at + len(forms))
            at += len(forms)
            hits.append(self._best(question, vectors[mine], near[mine], pool, k) if forms else [])
        return hits

    def _best(self, question: str, vectors: Vectors, near: Rows, pool: int, k: int) -> list[IndexedHit]:
        """The best documents of the questions that are near by meaning or by words."""
        words = self._lexicon.scores(lexical(question)) if self._settings.words else None
        rows = np.unique(near)
        if words is not None:
            top = np.argpartition(-words, min(pool, len(words)) - 1)[:pool]
            rows = np.union1d(rows, top[words[top] > 0])
        held = self._held.vectors[self._rows[rows]].astype(np.float32)
        similarity = (held @ vectors.T).max(axis=1)
        shared = np.zeros_like(similarity) if words is None else words[rows] / max(float(words.max()), 1e-9)
        return self._documents(rows, similarity, shared, k)

    def _documents(self, rows: Rows, similarity: Vectors, shared: Vectors, k: int) -> list[IndexedHit]:
        """Each document with its best question."""
        best: dict[int, _Best] = {}
        score = (1 - self._settings.words) * similarity + self._settings.words * shared
        enough = -np.inf  # what k documents reach at least
        for at in np.argsort(-score, kind="stable").tolist():
            row, value = int(self._rows[rows[at]]), float(score[at])
            if value + self._settings.support < enough:
                break
            for place in range(int(self._held.first[row]), int(self._held.first[row + 1])):
                document = int(self._held.answers[place, 0])
                total = round(value + self._settings.support * float(self._held.support[place]), EQUAL)
                if document not in best or total > best[document].score:
                    best[document] = _Best(total, float(similarity[at]), float(shared[at]), row, place)
            if len(best) >= k and enough == -np.inf:
                enough = min(found.score for found in best.values())
        order = sorted(best, key=lambda d: (best[d].score, self._held.dates[d], self._answered[d]), reverse=True)
        return [self._hit(best[document]) for document in order[:k]]

    def _hit(self, best: _Best) -> IndexedHit:
        answer = self._held.answer(best.place)
        return IndexedHit(
            document=answer.document,
            question=self._held.question(best.row),
            start=answer.start,
            end=answer.end,
            score=best.score,
            similarity=min(1.0, best.similarity),
            words=min(1.0, best.words),
        )


def open_questions(folder: Path, encoder: Encoder, settings: SearchSettings | None = None) -> AnsweredQuestions:
    """Open an index.

    Raises:
        DataError: there is none, it is damaged, of another format, or made with another encoder.
    """
    return AnsweredQuestions(stored.read(folder, encoder), encoder, settings or SearchSettings())


def fused(hits: Sequence[IndexedHit], direct: Mapping[str, Sequence[str]], weight: int = 2) -> list[str]:
    """Documents of the question index and of direct retrieval by RRF, best first.

    Args:
        direct: for each way of direct retrieval (words, meaning) the ids of its documents, best first.
        weight: how often the question index counts (ours: twice, as much as words and meaning together).
    """
    own = [hit.document for hit in hits]
    streams = {f"questions {n}": own for n in range(weight)} | {name: list(ids) for name, ids in direct.items()}
    return [item.id for item in reciprocal_rank_fusion(streams)]


def _drawn(held: stored.Stored, coverage: float | None) -> Rows:
    """The rows that count: all, or a sample drawn by the words of the questions; smaller ones lie within larger."""
    count = len(held.lines)
    wanted = count if coverage is None else min(count, round(coverage * len(held.documents)))
    if wanted == count:
        return np.arange(count)
    order = sorted(range(count), key=lambda row: content_key(held.lines[row].decode()))
    return np.array(sorted(order[:wanted]), dtype=np.int64)
