"""Questions with the documents that answer them, and with golden answers: MedQuAD, LiveQA-Med, and sets of our own.

MedQuAD's questions are made from templates; LiveQA's were sent by consumers, and people judged its answers. The
rephrased and the out-of-distribution questions were written for this project from the texts of the starter library.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from pydantic import Field, model_validator

from evals.datasets.liveqa import GOOD, LiveQuestion, read_answers, read_live
from evals.datasets.medquad import QBRAG_PAGES, QBRAG_QUESTIONS, QbragPage, QbragQuestion
from evals.datasets.medquad import read_segments as segments_of
from evals.datasets.rows import Row, read_jsonl
from prompts.errors import DataError
from tools.questions.contract import SourceDocument

if TYPE_CHECKING:
    from evals.contract import TaskContext

OWN = Path(__file__).with_name("library_questions.jsonl")
MOST_SEGMENTS = (
    5  # ours: a question that more segments carry asks for none of them ("Do you have information about ..")
)
SEGMENTS_A_QUESTION = 10  # ours: segments searched for each question at most; 2,000 questions take all
Item = TypeVar("Item")


class AskedQuestion(NamedTuple):
    """A question, the documents that answer it, and what each is worth where answers were graded."""

    text: str
    gold: frozenset[str]
    gains: Mapping[str, float]

    @classmethod
    def of(cls, text: str, gold: frozenset[str]) -> AskedQuestion:
        """A question whose documents are all worth the same."""
        return cls(text, gold, dict.fromkeys(gold, 1.0))


class QuestionSet(NamedTuple):
    """A collection with the questions asked of it; ``left_out`` questions were not taken."""

    documents: tuple[SourceDocument, ...]
    asked: tuple[AskedQuestion, ...]
    left_out: int = 0


class GoldQuestion(NamedTuple):
    """A question, and its golden answer; "" where nobody wrote one."""

    text: str
    golden: str = ""


class AnswerSet(NamedTuple):
    """The questions of a set whose answers are judged, and the documents that they are asked of."""

    name: str
    documents: tuple[SourceDocument, ...]
    asked: tuple[GoldQuestion, ...]


class OwnQuestion(Row):
    """A question of our own.

    Attributes:
        kind: ``rephrase`` words anew what a document is there to answer; ``ood`` comes at it from elsewhere; no
            document answers ``outside``.
        documents: the starter documents that answer it.
    """

    kind: Literal["rephrase", "ood", "outside"]
    question: str = Field(min_length=1)
    documents: tuple[str, ...]

    @model_validator(mode="after")
    def _answered(self) -> OwnQuestion:
        if (self.kind == "outside") is bool(self.documents):
            raise ValueError("a question is answered by a document, or it is outside")
        return self


def read_qbrag(data: Path, limit: int, seed: int) -> QuestionSet:
    """The 114 pages, without their titles, and at most ``limit`` of the 998 questions; DataError for a damaged row."""
    rows = _drawn(read_jsonl(data / QBRAG_QUESTIONS, QbragQuestion), limit, seed)
    asked = tuple(AskedQuestion.of(row.question, frozenset(row.gold_urls)) for row in rows)
    return _checked(QuestionSet(_qbrag_documents(data), asked), QBRAG_QUESTIONS)


def read_segments(data: Path, limit: int, seed: int) -> QuestionSet:
    """Answers of MedQuAD as documents of their own: no title, no focus, no question.

    A question's gold are all segments that carry its very words. With a small ``limit`` segments are drawn first.
    """
    kept = _drawn(list(enumerate(segments_of(data))), SEGMENTS_A_QUESTION * limit, seed)
    carried: dict[str, set[str]] = defaultdict(set)
    for place, segment in kept:
        carried[segment.question].add(f"segment:{place}")
    askable = sorted(text for text, ids in carried.items() if len(ids) <= MOST_SEGMENTS)
    asked = tuple(AskedQuestion.of(text, frozenset(carried[text])) for text in _drawn(askable, limit, seed))
    documents = tuple(SourceDocument(id=f"segment:{place}", text=segment.text) for place, segment in kept)
    return QuestionSet(documents, asked, left_out=len(carried) - len(askable))


def read_liveqa(data: Path, limit: int, seed: int) -> QuestionSet:
    """Consumers' messages over the answers that were judged for any of them.

    An answer is worth its grade above the lowest. A message that no answer answers stays, and counts as not recovered.
    """
    documents = liveqa_documents(data)
    held = {document.id for document in documents}
    return QuestionSet(documents, tuple(_consumer(row, held) for row in _drawn(read_live(data), limit, seed)))


def liveqa_documents(data: Path) -> tuple[SourceDocument, ...]:
    """The judged answers, each once."""
    return tuple(SourceDocument(id=key, text=text) for key, text in read_answers(data).items())


def read_own(documents: Sequence[SourceDocument], kind: str, limit: int, seed: int, path: Path = OWN) -> QuestionSet:
    """The questions of a kind of ours over the starter library's documents."""
    rows = [row for row in read_jsonl(path, OwnQuestion) if row.kind == kind]
    asked = tuple(AskedQuestion.of(row.question, frozenset(row.documents)) for row in _drawn(rows, limit, seed))
    return _checked(QuestionSet(tuple(documents), asked), path.name)


def read_medquad(context: TaskContext) -> AnswerSet:
    """At most ``limit`` of MedQuAD's questions over their 114 pages; golden is the page's own answer to the question.

    Raises:
        DataError: a row is damaged, or a question has no answer on its page.
    """
    pages = read_jsonl(context.data / QBRAG_PAGES, QbragPage)
    answers = {(page.url, segment.question): segment.text for page in pages for segment in page.segments}
    rows = context.sample(read_jsonl(context.data / QBRAG_QUESTIONS, QbragQuestion))
    for row in rows:
        if (row.url, row.question) not in answers:
            what = f"{Path(QBRAG_QUESTIONS).name}: {row.question!r} has no answer on its page."
            raise DataError(what, "Restore the file.")
    asked = tuple(GoldQuestion(row.question, answers[row.url, row.question]) for row in rows)
    return AnswerSet("medquad", _qbrag_documents(context.data), asked)


def read_liveqa_answers(context: TaskContext) -> AnswerSet:
    """At most ``limit`` messages of LiveQA over all judged answers; golden is the first reference answer."""
    asked = tuple(GoldQuestion(row.text, row.golden) for row in context.sample(read_live(context.data)))
    return AnswerSet("liveqa", liveqa_documents(context.data), asked)


def read_library_questions(context: TaskContext, documents: Sequence[SourceDocument]) -> AnswerSet:
    """At most ``limit`` of our own questions that the starter library answers; none has a golden answer."""
    rows = [row for row in read_jsonl(OWN, OwnQuestion) if row.kind != "outside"]
    return AnswerSet("library", tuple(documents), tuple(GoldQuestion(row.question) for row in context.sample(rows)))


def _qbrag_documents(data: Path) -> tuple[SourceDocument, ...]:
    return tuple(SourceDocument(id=page.url, text=page.text) for page in read_jsonl(data / QBRAG_PAGES, QbragPage))


def _consumer(row: LiveQuestion, held: set[str]) -> AskedQuestion:
    gains = {judged.answer_id: float(judged.grade - 1) for judged in row.qrels if judged.answer_id in held}
    gold = frozenset(j.answer_id for j in row.qrels if j.grade >= GOOD and j.answer_id in held)
    return AskedQuestion(row.text, gold, {key: gain for key, gain in gains.items() if gain})


def _drawn(rows: Sequence[Item], count: int, seed: int) -> list[Item]:
    """At most ``count`` rows, drawn by the seed, in their own order."""
    if len(rows) <= count:
        return list(rows)
    return [rows[n] for n in sorted(random.Random(seed).sample(range(len(rows)), count))]  # noqa: S311


def _checked(questions: QuestionSet, name: str) -> QuestionSet:
    """The same; DataError when a question's document is not among the documents."""
    held = {document.id for document in questions.documents}
    for question in questions.asked:
        if not question.gold <= held:
            what = f"{name}: {sorted(question.gold - held)[0]} answers {question.text!r} and is not in the collection."
            raise DataError(what, "Restore the file, or build the library again with `anamnesis setup`.")
    return questions
