"""What the index of answered questions is made of: documents in, questions with their answering spans, hits out.

It is built by `tools.questions.building.build` (documents, folder, encoder, settings) and opened again by
`tools.questions.index.open_questions` (folder, encoder, coverage).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from tools.evidence import Frozen
from tools.library.document import Window


class SourceDocument(Frozen):
    """A document that questions are written for; every span counts characters of ``text``. ``date`` is ISO or "".

    ``windows`` are its pieces as a library embeds them; without any it is cut when it is embedded.
    """

    id: str
    title: str = ""
    text: str
    date: str = ""
    language: str = "en"
    windows: tuple[Window, ...] = ()


class Answer(Frozen):
    """Where a document answers a question: ``text[start:end]`` of the document.

    ``support`` is how well, 0..1: of the documents of one question a search gives the better supported first.
    ``judged`` is false where nobody judged it and a matrix was only completed: then nothing is answered from there.
    """

    document: str
    start: int
    end: int
    support: float = 1.0
    judged: bool = True


class QuotedAnswer(Answer):
    """An answer with the words that stood there when it was noted; the document may have changed since."""

    quote: str


class Question(Frozen):
    """A question that documents answer.

    Attributes:
        answers: the documents that answer it, each with its span; the one it was written for comes first.
        writer: who wrote it: ``local@<version>``, ``<model> questions@<prompt version>``, ``learnt``.
    """

    text: str
    answers: tuple[Answer, ...]
    writer: str

    @property
    def documents(self) -> tuple[str, ...]:
        """Ids of the documents that answer it."""
        return tuple(a.document for a in self.answers)


class QuestionWriter(Protocol):
    """Writes questions that a document answers, from its own text."""

    @property
    def name(self) -> str:
        """Who writes, for `Question.writer` and for the hash by which work is kept."""

    async def write(self, document: SourceDocument, wanted: int) -> list[Question]:
        """At most ``wanted`` questions, most important first; each with one answer, the span it was written from."""


class Verdict(StrEnum):
    """How far a document answers a question."""

    FULL = "full"
    PART = "part"
    NO = "no"


class Judgement(Frozen):
    """A verdict on one pair, with the supporting span where there is one (``end`` > ``start``)."""

    verdict: Verdict
    start: int = 0
    end: int = 0


class AnswerabilityJudge(Protocol):
    """Judges whether documents answer questions."""

    @property
    def name(self) -> str:
        """Who judges."""

    @property
    def of_pair(self) -> bool:
        """Whether a judgement rests on the pair alone, not on the collection: then it is kept for the next build."""

    async def judge(self, pairs: Sequence[tuple[Question, SourceDocument]]) -> list[Judgement]:
        """One judgement a pair, in order."""


class IndexedHit(Frozen):
    """A document found by a question of the index: the question, where it is answered, and how near it is.

    Attributes:
        score: what the order is made by (`tools.questions.settings.SearchSettings`).
        similarity: cosine of both questions, whatever the order was made by.
        words: BM25 as a share of the best question's, 0..1; 0 where words do not count.
        judged: whether the answer was written or judged, and not only completed.
    """

    document: str
    question: Question
    start: int
    end: int
    score: float
    similarity: float
    words: float = 0.0
    judged: bool = True


class QuestionIndex(Protocol):
    """Questions searched by question."""

    def __len__(self) -> int:
        """Number of questions."""

    def search(self, question: str, k: int) -> list[IndexedHit]:
        """At most k documents, each once with its nearest question, best first."""

    def search_many(self, questions: Sequence[str], k: int) -> list[list[IndexedHit]]:
        """The same for each of many questions, embedded and compared in batches."""


class Nearness(Frozen):
    """How alike the questions are (appendix E): mean cosines, None where there is nothing to compare."""

    question_own_document: float | None = None
    question_other_document: float | None = None
    question_question_same_document: float | None = None
    question_question_other_document: float | None = None


class QuestionsReport(Frozen):
    """What a build did.

    Attributes:
        documents, empty: documents in all, and those without any question.
        written, kept, given: questions that were written, kept as answered, and given as known to be answered.
        merged: of the kept and the given, those merged into another's wording. questions: rows of the index.
        share_kept: kept / written. coverage: mean number of kept questions a document.
        diversity: different content words over all content words of a document's questions, mean over documents.
        reused: documents taken over unchanged from the build before.
        seconds, encoder_seconds: of the whole build, and of these the encoder's.
        warnings: what the reader must know, low coverage for one.
    """

    documents: int
    empty: int
    written: int
    kept: int
    merged: int
    given: int = 0
    questions: int
    share_kept: float
    coverage: float
    diversity: float
    nearness: Nearness
    reused: int = 0
    writer: str = ""
    judge: str = ""
    seconds: float = 0.0
    encoder_seconds: float = 0.0
    warnings: tuple[str, ...] = ()
