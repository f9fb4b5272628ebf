"""Questions whose answers are judged, each with its golden answer where there is one, over the documents of its set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from evals.datasets.answered_questions import OWN, QBRAG_PAGES, QBRAG_QUESTIONS, OwnQuestion, liveqa_documents
from evals.datasets.judged_labels import read_live
from evals.datasets.rows import read_jsonl
from prompts.errors import DataError
from tools.questions.contract import SourceDocument

if TYPE_CHECKING:
    from evals.contract import TaskContext


class GoldQuestion(NamedTuple):
    """A question, and its golden answer; "" where nobody wrote one."""

    text: str
    golden: str = ""


class AnswerSet(NamedTuple):
    """The questions of a set, and the documents that they are asked of."""

    name: str
    documents: tuple[SourceDocument, ...]
    asked: tuple[GoldQuestion, ...]


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True)


class _Segment(_Row):
    question: str
    text: str


class _Page(_Row):
    url: str
    text: str = Field(min_length=1)
    segments: tuple[_Segment, ...]


class _Question(_Row):
    question: str = Field(min_length=1)
    url: str


def read_medquad(context: TaskContext) -> AnswerSet:
    """At most ``limit`` of MedQuAD's questions over their 114 pages; golden is the page's own answer to the question.

    Raises:
        DataError: a row is damaged, or a question has no answer on its page.
    """
    pages = read_jsonl(context.data / QBRAG_PAGES, _Page)
    answers = {(page.url, segment.question): segment.text for page in pages for segment in page.segments}
    asked = context.sample(read_jsonl(context.data / QBRAG_QUESTIONS, _Question))
    for row in asked:
        if (row.url, row.question) not in answers:
            what = f"{Path(QBRAG_QUESTIONS).name}: {row.question!r} has no answer on its page."
            raise DataError(what, "Restore the file.")
    documents = tuple(SourceDocument(id=page.url, text=page.text) for page in pages)
    return AnswerSet("medquad", documents, tuple(GoldQuestion(r.question, answers[r.url, r.question]) for r in asked))


def read_liveqa_answers(context: TaskContext) -> AnswerSet:
    """At most ``limit`` messages of LiveQA over all judged answers; golden is the first reference answer."""
    asked = tuple(GoldQuestion(row.text, row.golden) for row in context.sample(read_live(context.data)))
    return AnswerSet("liveqa", liveqa_documents(context.data), asked)


def read_library_questions(context: TaskContext, documents: Sequence[SourceDocument]) -> AnswerSet:
    """At most ``limit`` of our own questions that the starter library answers; none has a golden answer."""
    rows = [row for row in read_jsonl(OWN, OwnQuestion) if row.kind != "outside"]
    return AnswerSet("library", tuple(documents), tuple(GoldQuestion(row.question) for row in context.sample(rows)))
