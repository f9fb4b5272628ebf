"""What a reader gives: records, and for what cannot be read a problem in words, never the end of the run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from pydantic import Field

from tools.evidence import Frozen, Status


class Section(Frozen):
    """A section: its heading, and the characters of its content in the document, the heading left out."""

    title: str
    start: int
    end: int


class QuestionSpan(Frozen):
    """A question as people ask it, and the words of the text that answer it."""

    q: str = Field(min_length=5)
    span: str = Field(min_length=5)


class Record(Frozen):
    """A document as it was read. ``text`` is the stored document: every offset counts its characters.

    Attributes:
        id: document id: ``pubmed:12345678``, ``pmc:PMC123``, or ``own:<name>-<hash of title and text>`` for all else.
        kind: ``abstract``, ``article``, ``document`` or ``monograph``.
        sections: in order, not overlapping; a text without headings is one section without a title.
        date, review_by: ISO, as precise as known; "" when unknown.
        level: the level of evidence in words (`tools.literature.publications.level_of`); None when nothing tells.
        questions: what the document is known to answer (a monograph's front matter).
        source, licence: the published set that an imported document belongs to, and its terms; "" for any other.
        reference: how a publication is cited, in a line, where its file tells.
    """

    id: str
    title: str
    text: str = Field(min_length=1)
    kind: str
    sections: tuple[Section, ...] = ()
    language: str = "en"
    date: str = ""
    review_by: str = ""
    publication_types: tuple[str, ...] = ()
    status: Status = Status.OK
    level: str | None = None
    questions: tuple[QuestionSpan, ...] = ()
    source: str = ""
    licence: str = ""
    reference: str = ""


class Problem(Frozen):
    """What could not be read: where in the file ("" for the whole of it, else a line or a record), why, what to do."""

    where: str
    what: str
    advice: str


class Reader(Protocol):
    """Reads one format, one record at a time, in bounded memory."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """What the names of its files end in, in lower case."""

    def read(self, path: Path) -> Iterator[Record | Problem]:
        """The records of a file and its problems, in order. Never raises for what a file holds, or for a file that
        cannot be opened: that is a `Problem`."""
