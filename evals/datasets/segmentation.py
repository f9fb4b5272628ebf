"""Texts to cut: web pages with their questions, articles with their sections, and pairs that belong together.

Sources: MedQuAD (Ben Abacha and Demner-Fushman 2019), whose pages are put together again from their answers, a blank
line between two; articles of PubMed Central as sentences in top-level sections. Headings are left out of both.
"""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from evals.datasets.rows import read_jsonl

PAGES = "medquad/pages.jsonl"
ARTICLES = "segmentation/pmc_articles_dev.jsonl"
BLANK_LINE = "\n\n"


class Answer(BaseModel):
    """A question and the characters of its page that answer it."""

    model_config = ConfigDict(frozen=True)

    question: str
    start: int
    end: int


class Page(BaseModel):
    """A web page about one subject."""

    model_config = ConfigDict(frozen=True)

    url: str
    focus: str
    text: str
    answers: tuple[Answer, ...]


class Article(BaseModel):
    """An article as a line a sentence, without headings.

    Attributes:
        starts: character at which each sentence begins.
        sections: number of sentences in each top-level section that has any.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    text: str
    starts: tuple[int, ...]
    sections: tuple[int, ...]


class _Segment(BaseModel):
    question: str = Field(min_length=1)
    text: str = Field(min_length=1)


class _Page(BaseModel):
    url: str
    focus: str
    segments: tuple[_Segment, ...] = Field(min_length=1)


class _Section(BaseModel):
    sentences: tuple[str, ...]


class _Article(BaseModel):
    id: str
    segments: tuple[_Section, ...] = Field(min_length=1)


def read_pages(data: Path) -> list[Page]:
    """MedQuAD's pages; raises DataError for a damaged row."""
    return [_page(row) for row in read_jsonl(data / PAGES, _Page)]


def read_articles(data: Path) -> list[Article]:
    """The articles with two sections or more; raises DataError for a damaged row."""
    articles = [_article(row) for row in read_jsonl(data / ARTICLES, _Article)]
    return [article for article in articles if len(article.sections) > 1]


def _page(row: _Page) -> Page:
    starts = list(accumulate((len(s.text) + len(BLANK_LINE) for s in row.segments), initial=0))
    answers = tuple(
        Answer(question=segment.question, start=start, end=start + len(segment.text))
        for segment, start in zip(row.segments, starts, strict=False)
    )
    text = BLANK_LINE.join(segment.text for segment in row.segments)
    return Page(url=row.url, focus=row.focus, text=text, answers=answers)


def _article(row: _Article) -> Article:
    sections = [[" ".join(s.split()) for s in section.sentences] for section in row.segments]
    sections = [kept for kept in ([s for s in section if s] for section in sections) if kept]
    lines = [sentence for section in sections for sentence in section]
    starts = tuple(accumulate((len(line) + 1 for line in lines[:-1]), initial=0)) if lines else ()
    return Article(id=row.id, text="\n".join(lines), starts=starts, sections=tuple(map(len, sections)))
