"""Questions with the documents that answer them: MedQuAD by page and by answer, LiveQA-Med, and sets of our own.

Sources: MedQuAD (Ben Abacha and Demner-Fushman 2019), whose questions are made from templates; LiveQA-Med 2017 (Ben
Abacha et al. 2017), whose questions consumers sent and whose answers people judged. The rephrased and the
out-of-distribution questions were written for this project from the texts of the starter library.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evals.datasets.rows import read_jsonl
from prompts.errors import DataError
from tools.questions.contract import SourceDocument

QBRAG_PAGES = "medquad/qbrag_pages.jsonl"
QBRAG_QUESTIONS = "medquad/qbrag_questions.jsonl"
SEGMENTS = "medquad/pages.jsonl"
LIVEQA = "medquad/liveqa_dev.jsonl"
LIVEQA_ANSWERS = "medquad/liveqa_answers.jsonl"
OWN = Path(__file__).with_name("library_questions.jsonl")

Row = TypeVar("Row")
MOST_SEGMENTS = (
    5  # ours: a question that more segments carry asks for none of them ("Do you have information about ..")
)
GOOD = 3  # code: of LiveQA's grades 1 to 4, complete or incomplete but right answers
SEGMENTS_A_QUESTION = 10  # ours: segments searched for each question at most; 2,000 questions take all


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


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True)


class _Page(_Row):
    url: str
    text: str = Field(min_length=1)


class _PageQuestion(_Row):
    question: str = Field(min_length=1)
    gold_urls: tuple[str, ...] = Field(min_length=1)


class _Segment(_Row):
    question: str = Field(min_length=1)
    text: str = Field(min_length=1)


class _Segments(_Row):
    segments: tuple[_Segment, ...] = Field(min_length=1)


class _Judged(_Row):
    answer_id: str
    grade: int = Field(ge=1, le=4)


class _Consumer(_Row):
    subject: str = ""
    message: str = Field(min_length=1)
    qrels: tuple[_Judged, ...] = ()


class _Answer(_Row):
    answer_id: str
    answer: str


class OwnQuestion(_Row):
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
    pages = read_jsonl(data / QBRAG_PAGES, _Page)
    rows = _drawn(read_jsonl(data / QBRAG_QUESTIONS, _PageQuestion), limit, seed)
    documents = tuple(SourceDocument(id=page.url, text=page.text) for page in pages)
    return _checked(
        QuestionSet(documents, tuple(AskedQuestion.of(row.question, frozenset(row.gold_urls)) for row in rows)),
        QBRAG_QUESTIONS,
    )


def read_segments(data: Path, limit: int, seed: int) -> QuestionSet:
    """Answers of MedQuAD as documents of their own: no title, no focus, no question.

    A question's gold are all segments that carry its very words. With a small ``limit`` segments are drawn first.
    """
    segments = [segment for page in read_jsonl(data / SEGMENTS, _Segments) for segment in page.segments]
    kept = _drawn(list(enumerate(segments)), SEGMENTS_A_QUESTION * limit, seed)
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
    rows = _drawn(read_jsonl(data / LIVEQA, _Consumer), limit, seed)
    return QuestionSet(documents, tuple(_consumer(row, held) for row in rows))


def liveqa_documents(data: Path) -> tuple[SourceDocument, ...]:
    """The judged answers, each once: one that was judged for several messages stands in the file for each of them."""
    answers = {row.answer_id: row.answer for row in read_jsonl(data / LIVEQA_ANSWERS, _Answer) if row.answer.strip()}
    return tuple(SourceDocument(id=key, text=text) for key, text in answers.items())


def read_own(documents: Sequence[SourceDocument], kind: str, limit: int, seed: int, path: Path = OWN) -> QuestionSet:
    """The questions of a kind of ours over the starter library's documents."""
    rows = [row for row in read_jsonl(path, OwnQuestion) if row.kind == kind]
    asked = tuple(AskedQuestion.of(row.question, frozenset(row.documents)) for row in _drawn(rows, limit, seed))
    return _checked(QuestionSet(tuple(documents), asked), path.name)


def _consumer(row: _Consumer, held: set[str]) -> AskedQuestion:
    text = ". ".join(part.strip() for part in (row.subject, row.message) if part.strip())
    gains = {judged.answer_id: float(judged.grade - 1) for judged in row.qrels if judged.answer_id in held}
    gold = frozenset(j.answer_id for j in row.qrels if j.grade >= GOOD and j.answer_id in held)
    return AskedQuestion(text, gold, {key: gain for key, gain in gains.items() if gain})


def _drawn(rows: Sequence[Row], count: int, seed: int) -> list[Row]:
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
