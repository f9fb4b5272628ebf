"""Pairs of a condition and the statement that it governs: places in documents, found in the data and read one by one.

Five patterns proposed them and a reader decided. No text is kept: a row has a document's id, four offsets and a
checksum of the two sentences, so that a changed document is noticed.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from evals.datasets.literature import ABSTRACTS
from evals.datasets.rows import RESOURCES, Row, read_jsonl
from tools.text.sentences import Span

ARTICLES = "fulltext/nxml/*"
PAIRS = RESOURCES / "qualifier_pairs.jsonl"
CHECK = 12  # ours: hexadecimal digits of a pair's checksum


class Text(Row):
    """A document with its id, title and text as the readers give them."""

    id: str
    title: str
    text: str


class Pair(Row):
    """A condition and its statement, as characters of a document."""

    document: str
    qualifier: tuple[int, int]
    statement: tuple[int, int]
    check: str

    @classmethod
    def of(cls, document: str, text: str, qualifier: Span, statement: Span) -> Pair:
        """The pair of two sentences of a document."""
        check = _check(text, qualifier, statement)
        places = {"qualifier": (qualifier.start, qualifier.end), "statement": (statement.start, statement.end)}
        return cls(document=document, check=check, **places)

    def stands_in(self, text: str) -> bool:
        """Whether the document still has these two sentences at these places."""
        return _check(text, Span(*self.qualifier), Span(*self.statement)) == self.check


class _Abstract(Row):
    pmid: str
    title: str | None
    abstract: str


def read_texts(data: Path) -> list[Text]:
    """Articles as their reader gives them, and abstracts, by id; what no reader can read is left out."""
    from tools.readers.contract import Record
    from tools.readers.reading import read

    texts: dict[str, Text] = {}
    for path in sorted(data.glob(ARTICLES)):
        for record in read(path):
            if isinstance(record, Record):
                texts.setdefault(record.id, Text(id=record.id, title=record.title, text=record.text))
    for row in read_jsonl(data / ABSTRACTS, _Abstract):
        key = f"pubmed:{row.pmid}"
        texts.setdefault(key, Text(id=key, title=row.title or "", text=row.abstract))
    return list(texts.values())


def read_pairs(path: Path = PAIRS) -> list[Pair]:
    """The pairs that the project keeps."""
    return read_jsonl(path, Pair)


def _check(text: str, qualifier: Span, statement: Span) -> str:
    digest = hashlib.sha256(f"{qualifier.of(text)}\n{statement.of(text)}".encode())
    return digest.hexdigest()[:CHECK]
