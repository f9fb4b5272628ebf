"""The index of answered questions, online: question to question, by meaning and by words, each document once."""

from __future__ import annotations

import math
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prompts.errors import DataError, InputError
from tools.encoders import Encoder, Vectors
from tools.evidence import content_key
from tools.fusion import reciprocal_rank_fusion
from tools.indexes.generations import MANIFEST
from tools.indexes.lexical import Lexicon
from tools.library.contract import QuestionHit, SearchableLibrary
from tools.library.document import LibraryQuestion
from tools.library.monograph import paragraphs
from tools.library.search import lexical, wordings
from tools.questions import stored
from tools.questions.contract import IndexedHit
from tools.questions.settings import SearchSettings
from tools.text.tokens import tokens

POOL = 200  # ours: answers compared in full for each search; a question has some ten near ones in a document
SEVERAL = 5  # ours: questions of a document that count, the best and the next ones; 3 to 10 do as well
EQUAL = 4  # ours: decimals of a score beyond which documents are equal; half precision is good for no more
BATCH = 256  # ours: questions embedded at once
FEW = 50_000  # ours: rows (77 MB) up to which a product is as quick as FAISS, which takes 0.3 s to import
Rows = NDArray[np.int64]


class Candidates(NamedTuple):
    """Answers that are near a question by meaning or by words: their places, and for each the cosine of its question,
    the share of words, and the score. ``least`` is the lowest score.
    """

    places: Rows
    similarity: Vectors
    shared: Vectors
    score: Vectors

    @property
    def least(self) -> float:
        """The lowest score: what is no candidate has none above it."""
        return float(self.score.min()) if len(self.score) else 0.0


class HalfVectors:
    """Rows of unit length as 16-bit floats, which move a cosine by less than 0.0005; searched flat, many by FAISS.

    Args:
        rows: (n, dimension), any float type.
    """

    def __init__(self, rows: NDArray[Any]) -> None:
        self._count = len(rows)
        self._few = rows.astype(np.float16).astype(np.float32) if self._count <= FEW else None
        if self._few is None:
            import faiss

            kind = faiss.ScalarQuantizer.QT_fp16
            self._index: Any = faiss.IndexScalarQuantizer(rows.shape[1], kind, faiss.METRIC_INNER_PRODUCT)
            self._index.add(np.ascontiguousarray(rows, dtype=np.float32))

    def __len__(self) -> int:
        """Number of rows."""
        return self._count

    def search(self, vectors: Vectors, k: int) -> tuple[NDArray[np.int64], Vectors]:
        """Rows and cosines, each (len(vectors), min(k, rows)), best first."""
        wanted = min(k, self._count)
        if not wanted or not len(vectors):
            shape = (len(vectors), 0)
            return np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.float32)
        if self._few is None:
            scores, rows = self._index.search(np.ascontiguousarray(vectors, dtype=np.float32), wanted)
            return rows, scores
        near = np.asarray(vectors, dtype=np.float32) @ self._few.T
        rows = np.argsort(-near, axis=1, kind="stable")[:, :wanted]
        return rows, np.take_along_axis(near, rows, axis=1)


class AnsweredQuestions:
    """A `tools.questions.contract.QuestionIndex` over what `tools.questions.building.build` wrote.

    Of equal documents the newer stands first, then the one that answers more questions (QB-RAG).
    """

    def __init__(self, held: stored.Stored, encoder: Encoder, settings: SearchSettings) -> None:
        self.manifest = held.manifest
        self._held, self._encoder, self._settings = held, encoder, settings
        self._rows = _drawn(held, settings.coverage)
        whole = len(self._rows) == len(held.lines)
        self._lexicon = held.lexicon if whole else Lexicon([held.question(int(row)).text for row in self._rows])
        counts = held.first[self._rows + 1] - held.first[self._rows]
        self._line = np.repeat(np.arange(len(self._rows)), counts)  # the line of each answer among those that count
        row = np.repeat(np.arange(len(held.lines)), np.diff(held.first))
        self._places = np.flatnonzero(np.isin(row, self._rows))
        self._vectors = HalfVectors(self._mixed(np.arange(len(self._places))))
        self._numbers = {document: number for number, document in enumerate(held.documents)}
        self._answered = Counter(held.answers[:, 0].tolist())

    def __len__(self) -> int:
        """Number of questions."""
        return len(self._rows)

    @property
    def lexicon(self) -> Lexicon:
        """The words of the questions."""
        return self._lexicon

    def answered(self, document: str) -> int:
        """How many questions a document answers: how general it is."""
        number = self._numbers.get(document)
        return 0 if number is None else self._answered[number]

    def text_of(self, document: str) -> str:
        """sha256 of the text that a document had when its questions were written; "" for one that is not here."""
        number = self._numbers.get(document)
        return "" if number is None else self._held.texts[number]

    def date_of(self, document: str) -> str:
        """ISO date of a document, "" where it has none or is not here."""
        number = self._numbers.get(document)
        return "" if number is None else self._held.dates[number]

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
        asked = [self.forms(q) for q in questions]
        vectors = self._encoder.encode_queries([form for forms in asked for form in forms])
        near = self._near(vectors, k)
        hits, at = [], 0
        for question, forms in zip(questions, asked, strict=True):
            mine = slice(at, at + len(forms))
            at += len(forms)
            words = self._lexicon.scores(lexical(question)) if self._settings.words and forms else None
            found = self._candidates(vectors[mine], near[mine], words, k) if forms else None
            hits.append([] if found is None else self.documents(found, k, found.least))
        return hits

    def forms(self, question: str) -> list[str]:
        """The wordings in which a question is compared; none for an empty one."""
        if not question.strip():
            return []
        return wordings(question) if self._settings.wordings else [question]

    def candidates(self, vectors: Vectors, words: Vectors, most: float, k: int) -> Candidates:
        """What `search` looks at, where several indexes are searched together (`prepared.py`).

        Args:
            vectors: of the wordings of the question, (wordings, dimension).
            words: BM25 of all questions of this index, (questions,). most: the largest of any of the indexes.
        """
        return self._candidates(vectors, self._near(vectors, k), words if self._settings.words else None, k, most)

    def _near(self, vectors: Vectors, k: int) -> Rows:
        return self._vectors.search(vectors, max(POOL, 4 * k))[0]

    def _candidates(
        self, vectors: Vectors, near: Rows, words: Vectors | None, k: int, most: float | None = None
    ) -> Candidates:
        """The answers that are near by meaning or by words.

        Args:
            words: BM25 of all questions, (questions,). most: what they are a share of; None for the largest of them.
        """
        pool = max(POOL, 4 * k)
        chosen = np.unique(near)
        shared = np.zeros(len(self._line), dtype=np.float32)
        if words is not None and len(words):
            shared = (words / np.float32(max(most or float(words.max()), 1e-9)))[self._line]
            top = np.argpartition(-shared, min(pool, len(shared)) - 1)[:pool]
            chosen = np.union1d(chosen, top[shared[top] > 0])
        own = self._held.vectors[self._rows[self._line[chosen]]].astype(np.float32)
        meaning = (self._mixed(chosen) @ vectors.T).max(axis=1)
        score = (1 - self._settings.words) * meaning + self._settings.words * shared[chosen]
        score += self._settings.support * self._held.support[self._places[chosen]]
        similarity = (own @ vectors.T).max(axis=1)
        return Candidates(self._places[chosen], similarity, shared[chosen], np.asarray(score, dtype=np.float32))

    def _mixed(self, chosen: Rows) -> Vectors:
        """Vectors of questions and of what answers them, in their shares, (len(chosen), dimension)."""
        questions = self._held.vectors[self._rows[self._line[chosen]]].astype(np.float32)
        share = np.float32(self._settings.spans)
        if not share:
            return questions
        return (1 - share) * questions + share * self._held.spans[self._places[chosen]].astype(np.float32)

    def documents(self, found: Candidates, k: int, least: float) -> list[IndexedHit]:
        """At most k documents, best first: by the best of their questions, and by the next best ones.

        Args:
            least: score of a question that is no candidate.
        """
        of: dict[int, list[int]] = defaultdict(list)  # document: its candidates, best first
        for at in np.argsort(-found.score, kind="stable").tolist():
            of[int(self._held.answers[found.places[at], 0])].append(at)
        totals = {document: self._total(found.score[places[:SEVERAL]], least) for document, places in of.items()}
        order = sorted(of, key=lambda d: (totals[d], self._held.dates[d], self._answered[d]), reverse=True)
        return [self._hit(found, of[document][0], totals[document]) for document in order[:k]]

    def _total(self, scores: Vectors, least: float) -> float:
        """Score of a document with these best questions, in decimals that half precision is good for."""
        weight = self._settings.several
        further = np.maximum(scores[1:], least).sum() + (SEVERAL - len(scores)) * least
        return round((float(scores[0]) + weight * float(further) / (SEVERAL - 1)) / (1 + weight), EQUAL)

    def _hit(self, found: Candidates, at: int, score: float) -> IndexedHit:
        place = int(found.places[at])
        answer = self._held.answer(place)
        row = int(np.searchsorted(self._held.first, place, side="right")) - 1
        return IndexedHit(
            document=answer.document,
            question=self._held.question(row),
            start=answer.start,
            end=answer.end,
            score=score,
            similarity=min(1.0, float(found.similarity[at])),
            words=min(1.0, float(found.shared[at])),
            judged=answer.judged,
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


# Generated questions beside those that were written with the library's documents, as its search gives them.


# Several indexes of answered questions searched as one: their words weigh alike, and each document comes once.
class FoundIn(NamedTuple):
    """A hit, and the index that it is from."""

    source: AnsweredQuestions
    hit: IndexedHit


def search_together(indexes: Sequence[AnsweredQuestions], encoder: Encoder, question: str, k: int) -> list[FoundIn]:
    """At most k hits of each index, best first; of equal ones the newer, then the one that answers more questions.

    A document comes once, with its best hit. BM25 counts a word as rare as it is in all indexes together, and is a
    share of the best question of them all, so that scores of a small index and of a large one can be compared.

    Args:
        encoder: that of the indexes, which have one way of searching.
    """
    if not question.strip() or not indexes:
        return []
    vectors = encoder.encode_queries(indexes[0].forms(question))
    asked = Counter(tokens(lexical(question)))
    every = [index.lexicon for index in indexes]
    words = [own.weighted(_weights(asked, own, every)) for own in every]
    most = max(float(of.max(initial=0.0)) for of in words)
    pairs = zip(indexes, words, strict=True)
    near = [index.candidates(vectors, of, most, k) for index, of in pairs]
    least = max((part.least for part in near if len(part.score)), default=0.0)
    found = [
        FoundIn(index, hit)
        for index, part in zip(indexes, near, strict=True)
        for hit in index.documents(part, k, least)
    ]
    found.sort(key=_order, reverse=True)  # stable: equal in all of it, they stay in the order of the indexes
    once: dict[str, FoundIn] = {}
    for each in found:
        once.setdefault(each.hit.document, each)
    return list(once.values())


def _order(found: FoundIn) -> tuple[float, str, int]:
    document = found.hit.document
    return found.hit.score, found.source.date_of(document), found.source.answered(document)


def _weights(asked: Counter[str], own: Lexicon, every: Sequence[Lexicon]) -> dict[str, float]:
    """For each token the factor by which its BM25 in one index becomes that of all of them."""
    count = sum(map(len, every))
    out = {}
    for token, times in asked.items():
        held = own.holding(token)
        if held:
            together = _rarity(sum(lexicon.holding(token) for lexicon in every), count)
            out[token] = times * together / _rarity(held, len(own))
    return out


def _rarity(held: int, count: int) -> float:
    """The weight of a token in BM25 (Robertson; Lucene's form, as `Lexicon` has it)."""
    return math.log(1 + (count - held + 0.5) / (held + 0.5))


class PreparedQuestions:
    """The indexes of generated questions of a library's collections. Those that are not built are left out.

    What another process builds is found by the next search. A question of a document that is gone, or whose text has
    changed since, is left out.

    Args:
        folders: one index a collection.
        ensure: is called before each search: it builds what is not built yet.

    An index that is damaged, or was made with another encoder, is left out too; `problems` names it.
    """

    def __init__(
        self,
        library: SearchableLibrary,
        folders: Sequence[Path],
        encoder: Encoder,
        settings: SearchSettings | None = None,
        ensure: Callable[[], None] = lambda: None,
    ) -> None:
        self._library, self._folders, self._encoder, self._ensure = library, tuple(folders), encoder, ensure
        self._settings = settings or SearchSettings()
        self._lock = threading.Lock()
        self._opened: dict[Path, tuple[int, AnsweredQuestions | None]] = {}
        self.problems: dict[Path, str] = {}

    def search(self, question: str, limit: int) -> list[QuestionHit]:
        """The nearest generated questions, one a document, best first."""
        if limit < 1:
            return []
        self._ensure()
        found = search_together(list(self._indexes()), self._encoder, question, limit)
        hits = (self._hit(each.source, each.hit) for each in found)
        return list(islice((hit for hit in hits if hit is not None), limit))

    def answered(self, document: str) -> int:
        """How many generated questions a document answers."""
        return sum(index.answered(document) for index in self._indexes())

    def __len__(self) -> int:
        """Number of questions."""
        return sum(len(index) for index in self._indexes())

    def _indexes(self) -> Iterator[AnsweredQuestions]:
        for folder in self._folders:
            try:
                changed = (folder / MANIFEST).stat().st_mtime_ns
            except OSError:  # it is not built
                continue
            with self._lock:
                held = self._opened.get(folder)
                if held is None or held[0] != changed:
                    held = self._opened[folder] = (changed, self._open(folder))
            if held[1] is not None:
                yield held[1]

    def _open(self, folder: Path) -> AnsweredQuestions | None:
        self.problems.pop(folder, None)
        try:
            return open_questions(folder, self._encoder, self._settings)
        except DataError as error:
            self.problems[folder] = str(error)
            return None

    def _hit(self, index: AnsweredQuestions, found: IndexedHit) -> QuestionHit | None:
        try:
            document = self._library.document(found.document)
        except InputError:  # it was removed since
            return None
        if content_key(document.text) != index.text_of(found.document):
            return None
        lines = (p for p in paragraphs(document.text) if p.start <= found.start and found.end <= p.end)
        paragraph = next(lines, None)
        known = LibraryQuestion(
            text=found.question.text,
            start=found.start,
            end=found.end,
            paragraph_start=paragraph.start if paragraph else found.start,
            paragraph_end=paragraph.end if paragraph else found.end,
        )
        return QuestionHit(
            document=document,
            question=known,
            similarity=found.similarity,
            lexical=found.words,
            generated=True,
            judged=found.judged,
        )
