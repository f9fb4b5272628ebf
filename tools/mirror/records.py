"""The record that the mirror stores: what PubMed's XML says of an article, as far as searches and answers need it."""

from __future__ import annotations

import re

from pydantic import Field

from tools.evidence import Frozen, Status
from tools.literature.article import Article, Author, Availability, Qualifier, level_of
from tools.literature.article import MeshHeading as ArticleHeading
from tools.literature.publications import LANGUAGES

MARC = {short: code for code, short in LANGUAGES.items()}  # the contract's language codes back to PubMed's

SUFFIX = re.compile(r"(?:Jr|Sr|2nd|3rd|4th|II|III|IV)\.?")
INITIALS = re.compile(r"[^\W\d_a-z]{1,4}", re.UNICODE)  # as PubMed's index has them: capitals, few
ISO = r"^(\d{4}(-\d{2}(-\d{2})?)?)?$"


class MeshHeading(Frozen):
    """A MeSH heading of a record: name, whether it is a major topic, its subheadings and which of them are major."""

    name: str
    major: bool = False
    subheadings: tuple[str, ...] = ()
    major_subheadings: tuple[str, ...] = ()


class MirrorRecord(Frozen):
    """A PubMed record as stored.

    Attributes:
        abstract: one line a part, with its label, as `Article.abstract`.
        labels: the labels of a structured abstract, in order.
        date: of publication, ISO, as precisely as known. entered: the date of entry into PubMed, ISO.
        journal, journal_short, issns: title, ISO abbreviation, ISSNs.
        languages: MARC codes (``eng``).
        authors: surname and initials, as PubMed's index has them (``Smith JA``).
        status: the editorial status. indexing: PubMed's citation status (``MEDLINE``, ``PubMed-not-MEDLINE``, ...).
    """

    pmid: str
    title: str = ""
    abstract: str = ""
    labels: tuple[str, ...] = ()
    date: str = Field(default="", pattern=ISO)
    entered: str = Field(default="", pattern=ISO)
    journal: str = ""
    journal_short: str = ""
    issns: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    publication_types: tuple[str, ...] = ()
    mesh: tuple[MeshHeading, ...] = ()
    keywords: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    doi: str = ""
    pmcid: str = ""
    status: Status = Status.OK
    indexing: str = ""

    @classmethod
    def of(cls, article: Article, indexing: str = "") -> MirrorRecord:
        """The record of an article; the citation status ``indexing`` is not part of an `Article`."""
        languages = article.languages or ((MARC.get(article.language, article.language),) if article.language else ())
        return cls(
            pmid=article.pmid,
            title=article.title,
            abstract=article.abstract,
            labels=tuple(part.label for part in article.parts if part.label),
            date=article.date,
            entered=article.entered,
            journal=article.journal,
            journal_short=article.iso_abbreviation,
            issns=(article.issn,) if article.issn else (),
            languages=languages,
            publication_types=article.publication_types,
            mesh=tuple(_heading(h) for h in article.mesh),
            keywords=article.keywords,
            authors=tuple(filter(None, map(_name, article.authors))),
            doi=article.doi,
            pmcid=article.pmcid,
            status=article.status,
            indexing=indexing,
        )

    def article(self) -> Article:
        """The record as the literature tool reads it; what the mirror does not store has its default."""
        language = self.languages[0] if self.languages else "eng"
        return Article(
            pmid=self.pmid,
            title=self.title,
            abstract=self.abstract,
            publication_types=self.publication_types,
            status=self.status,
            level=level_of(self.publication_types, self.title, self.abstract),
            date=self.date,
            year=int(self.date[:4]) if self.date else None,
            journal=self.journal,
            language=LANGUAGES.get(language, language),
            availability=Availability.AVAILABLE if self.abstract else Availability.NONE,
            entered=self.entered,
            mesh=tuple(map(_article_heading, self.mesh)),
            authors=tuple(map(_author, self.authors)),
            keywords=self.keywords,
            languages=self.languages,
            iso_abbreviation=self.journal_short,
            issn=self.issns[0] if self.issns else "",
            doi=self.doi,
            pmcid=self.pmcid,
        )


def split_name(name: str) -> tuple[str, str, str]:
    """Surname, initials and suffix of a name as PubMed's index has it (``Smith JA Jr``)."""
    words = name.split()
    suffix = words.pop() if len(words) > 2 and SUFFIX.fullmatch(words[-1]) else ""
    initials = words.pop() if len(words) > 1 and INITIALS.fullmatch(words[-1]) else ""
    return " ".join(words), initials, suffix


def _article_heading(heading: MeshHeading) -> ArticleHeading:
    qualifiers = tuple(Qualifier(name=n, major=n in heading.major_subheadings) for n in heading.subheadings)
    return ArticleHeading(name=heading.name, id="", major=heading.major, qualifiers=qualifiers)


def _author(name: str) -> Author:
    last, initials, suffix = split_name(name)
    return Author(last=last, initials=initials, suffix=suffix)


def _heading(heading: ArticleHeading) -> MeshHeading:
    return MeshHeading(
        name=heading.name,
        major=heading.major,
        subheadings=tuple(q.name for q in heading.qualifiers),
        major_subheadings=tuple(q.name for q in heading.qualifiers if q.major),
    )


def _name(author: Author) -> str:
    return " ".join(part for part in (author.last, author.initials, author.suffix) if part)
