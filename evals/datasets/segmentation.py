"""Articles of PubMed Central to cut: sentences in top-level sections, headings left out."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

from pydantic import Field

from evals.datasets.rows import Row, read_jsonl

ARTICLES = "segmentation/pmc_articles_dev.jsonl"


class Article(Row):
    """An article as a line a sentence, without headings.

    Attributes:
        starts: character at which each sentence begins.
        sections: number of sentences in each top-level section that has any.
    """

    id: str
    text: str
    starts: tuple[int, ...]
    sections: tuple[int, ...]


class _Section(Row):
    sentences: tuple[str, ...]


class _Article(Row):
    id: str
    segments: tuple[_Section, ...] = Field(min_length=1)


def read_articles(data: Path) -> list[Article]:
    """The articles with two sections or more; raises DataError for a damaged row."""
    articles = [_article(row) for row in read_jsonl(data / ARTICLES, _Article)]
    return [article for article in articles if len(article.sections) > 1]


def _article(row: _Article) -> Article:
    sections = [[" ".join(s.split()) for s in section.sentences] for section in row.segments]
    sections = [kept for kept in ([s for s in section if s] for section in sections) if kept]
    lines = [sentence for section in sections for sentence in section]
    starts = tuple(accumulate((len(line) + 1 for line in lines[:-1]), initial=0)) if lines else ()
    return Article(id=row.id, text="\n".join(lines), starts=starts, sections=tuple(map(len, sections)))
