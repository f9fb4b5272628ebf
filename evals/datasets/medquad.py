"""MedQuAD: a folder a source, an XML file a web page, with the page's subject and its questions and answers.

Format: the repository abachaa/MedQuAD (readme.txt, and files such as 5_NIDDK_QA/0000004.xml): Document with id, source
and url; Focus; QAPairs with pid, qid, qtype; Ben Abacha and Demner-Fushman 2019. The answers of three sources were
removed from the release for their copyright. In the project's form pages are put together again from their answers, a
blank line between two; 114 of them, with 998 questions, are QB-RAG's collection.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

from pydantic import Field

from evals.datasets.releases import (
    Conversion,
    Converted,
    Entry,
    Found,
    Member,
    Original,
    Record,
    below,
    named,
    read_files,
    said,
    xml_root,
)
from evals.datasets.rows import Row, read_jsonl

PAGES = "medquad/pages.jsonl"
QBRAG_PAGES = "medquad/qbrag_pages.jsonl"
QBRAG_QUESTIONS = "medquad/qbrag_questions.jsonl"
BLANK_LINE = "\n\n"


class Answer(Row):
    """A question and the characters of its page that answer it."""

    question: str
    start: int
    end: int


class Page(Row):
    """A web page about one subject."""

    url: str
    focus: str
    text: str
    answers: tuple[Answer, ...]


class Segment(Row):
    """A question of a page and its answer there."""

    qid: str = ""
    question: str = Field(min_length=1)
    question_type: str = ""
    text: str = Field(min_length=1)


class PageOfSegments(Row):
    """A row of ``medquad/pages.jsonl``."""

    url: str
    focus: str
    segments: tuple[Segment, ...] = Field(min_length=1)


class QbragPage(Row):
    """A page of QB-RAG's collection: its whole text, and its answers by question."""

    url: str
    text: str = Field(min_length=1)
    segments: tuple[Segment, ...] = ()


class QbragQuestion(Row):
    """A question of QB-RAG's collection: the page that it is from, and all pages that answer it."""

    question: str = Field(min_length=1)
    url: str = ""
    gold_urls: tuple[str, ...] = Field(min_length=1)


def read_segments(data: Path) -> list[Segment]:
    """The answers of all pages; raises DataError for a damaged row."""
    return [segment for page in read_jsonl(data / PAGES, PageOfSegments) for segment in page.segments]


def read_pages(data: Path) -> list[Page]:
    """MedQuAD's pages; raises DataError for a damaged row."""
    return [_page(row) for row in read_jsonl(data / PAGES, PageOfSegments)]


def _page(row: PageOfSegments) -> Page:
    starts = accumulate((len(s.text) + len(BLANK_LINE) for s in row.segments), initial=0)
    answers = tuple(
        Answer(question=segment.question, start=start, end=start + len(segment.text))
        for segment, start in zip(row.segments, starts, strict=False)
    )
    return Page(url=row.url, focus=row.focus, text=BLANK_LINE.join(s.text for s in row.segments), answers=answers)


class Pair(Row):
    """A question of a page of the release; ``answer`` is "" where the release has none."""

    qid: str = Field(min_length=1)
    type: str
    question: str = Field(min_length=1)
    answer: str


class MedquadPage(Record):
    """A web page of the release; ``id`` is its folder and number, which alone is not unique. Some have no focus."""

    collection: str
    url: str = Field(min_length=1)
    focus: str
    pairs: tuple[Pair, ...]


def read(path: Path) -> Found:
    """The pages of the release's folder, of one of its folders, or of a file."""
    folder = path.resolve().name if path.is_dir() else path.parent.name
    return read_files(path, named(".xml"), lambda m: _pages(m, m.folder or folder))


def convert(records: Iterator[MedquadPage], conversion: Conversion) -> Converted:
    """Pages of the same address as one, its distinct answers in order, as `segmentation` and `questions` read them."""
    pages: dict[str, list[MedquadPage]] = {}
    for row in records:
        pages.setdefault(row.url, []).append(row)
    for url, rows in pages.items():
        pairs = [pair for row in rows for pair in row.pairs]
        asked = [pair for pair in pairs if pair.answer]
        distinct = {pair.answer: pair for pair in reversed(asked)}
        segments = [
            {"qid": pair.qid, "question": pair.question, "question_type": pair.type, "text": pair.answer}
            for pair in asked
            if distinct[pair.answer] is pair
        ]
        conversion.leave_out("a question whose answer is not in the release", len(pairs) - len(asked))
        conversion.leave_out("an answer that its page has already", len(asked) - len(segments))
        conversion.leave_out("a page without any answer", int(not segments))
        if segments:
            page = {"url": url, "source_collection": rows[0].collection, "focus": rows[0].focus, "segments": segments}
            yield PAGES, page | {"n_questions": len(asked), "n_answers": len(segments)}


def _pages(member: Member, collection: str) -> Found:
    root = xml_root(member)
    if root.tag != "Document":
        yield Entry(member, root.sourceline, (), root).problem(f"The root is {root.tag}, not Document.")
        return
    pairs = []
    for element in below(root, "QAPair"):
        pair = _pair(element)
        if pair["question"] and pair["qid"]:
            pairs.append(pair)
        else:
            found = Entry(member, element.sourceline, (), element)
            yield found.problem("A pair without a question or without its qid.")
    page = {"url": root.get("url", ""), "focus": said(root, "Focus"), "collection": collection, "pairs": pairs}
    yield Entry(member, root.sourceline, (), page).placed(MedquadPage, id=f"{collection}/{root.get('id', '')}")


def _pair(element: Any) -> dict[str, str]:
    asked = below(element, "Question", deep=False)
    qid, kind = (asked[0].get("qid", ""), asked[0].get("qtype", "")) if asked else ("", "")
    return {"qid": qid, "type": kind, "question": said(element, "Question"), "answer": said(element, "Answer")}


ORIGINAL = Original("medquad", "the folder of the release, with a folder a source", read, convert)
