"""What summaries and text formats say of a record, out of its XML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple
from xml.etree.ElementTree import Element

from tools.literature import publications as parts
from tools.literature.replies import text_of
from tools.mirror.article_xml import ILLEGAL

MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


class Name(NamedTuple):
    """An author: as PubMed's index has the name, and in full."""

    short: str
    full: str
    collective: bool
    affiliations: tuple[str, ...]


@dataclass(frozen=True)
class Citation:
    """A record's element with its parts at hand.

    Attributes:
        citation: MedlineCitation or BookDocument. content: Article or BookDocument. data: PubmedData, perhaps empty.
    """

    pmid: str
    citation: Element
    content: Element
    data: Element
    book: bool

    @classmethod
    def of(cls, element: Element) -> Citation:
        """From a PubmedArticle or PubmedBookArticle element."""
        book = element.tag == "PubmedBookArticle"
        citation = element.find("BookDocument" if book else "MedlineCitation")
        citation = Element("MedlineCitation") if citation is None else citation
        content = citation if book else citation.find("Article")
        data = element.find("PubmedBookData" if book else "PubmedData")
        return cls(
            text_of(citation.find("PMID")),
            citation,
            Element("Article") if content is None else content,
            Element("PubmedData") if data is None else data,
            book,
        )

    def text(self, path: str) -> str:
        """The text of an element below the article, "" when it is not there."""
        return ILLEGAL.sub(" ", text_of(self.content.find(path)))

    @property
    def title(self) -> str:
        """The title, that of the book for a whole book."""
        return self.text("ArticleTitle") or self.text("Book/BookTitle")

    @property
    def abstract(self) -> str:
        """The abstract, a line a part."""
        return parts.abstract_of(self.content.find("Abstract"))[0]

    @property
    def journal(self) -> str:
        """The journal's short title."""
        return self.text("Journal/ISOAbbreviation") or text_of(self.citation.find("MedlineJournalInfo/MedlineTA"))

    @property
    def published(self) -> str:
        """``2012 Jan 5``, as printed."""
        date = self.content.find("Book/PubDate" if self.book else "Journal/JournalIssue/PubDate")
        if date is None:
            return ""
        return text_of(date.find("MedlineDate")) or _written(date, season=True)

    @property
    def online(self) -> str:
        """The date of electronic publication, as printed."""
        date = self.content.find("ArticleDate")
        return "" if date is None else _written(date)

    @property
    def pages(self) -> str:
        """The pages, or the range of them."""
        first, last = self.text("Pagination/StartPage"), self.text("Pagination/EndPage")
        return self.text("Pagination/MedlinePgn") or "-".join(filter(None, (first, last)))

    @property
    def source(self) -> str:
        """``2006 Jan 10;7(2):10-2``"""
        volume, issue = self.text("Journal/JournalIssue/Volume"), self.text("Journal/JournalIssue/Issue")
        place = f"{volume}({issue})" if issue else volume
        place = f";{place}" if place else ""
        return f"{self.published}{place}{f':{self.pages}' if self.pages else ''}"

    @property
    def authors(self) -> tuple[Name, ...]:
        """The authors in order."""
        lists = [a for a in self.content.iterfind("AuthorList") if a.get("Type") != "editors"]
        return tuple(_name(a) for each in lists for a in each.iterfind("Author"))

    @property
    def ids(self) -> dict[str, str]:
        """Identifiers by kind (``doi``, ``pmc``, ``pii``, ...), the record's own."""
        found = {"pubmed": self.pmid}
        for element in (*self.data.iterfind("ArticleIdList/ArticleId"), *self.content.iterfind("ELocationID")):
            kind = element.get("IdType") or element.get("EIdType") or ""
            if kind and text_of(element):
                found.setdefault(kind, text_of(element))
        return found

    @property
    def history(self) -> Iterator[tuple[str, str]]:
        """Each dated step: ``("entrez", "2006/01/13 09:00")``."""
        for element in self.data.iterfind("History/PubMedPubDate"):
            day = "/".join(text_of(element.find(p)).zfill(2) for p in ("Year", "Month", "Day"))
            hour, minute = text_of(element.find("Hour")).zfill(2), text_of(element.find("Minute")).zfill(2)
            yield element.get("PubStatus") or "", f"{day} {hour}:{minute}"

    @property
    def issns(self) -> dict[str, str]:
        """ISSN by medium: ``Print``, ``Electronic``."""
        element = self.content.find("Journal/ISSN")
        return {} if element is None else {element.get("IssnType") or "Print": text_of(element)}


def _name(element: Element) -> Name:
    author = parts.author(element)
    short = " ".join(filter(None, (author.last, author.initials, author.suffix)))
    given = " ".join(filter(None, (author.fore or author.initials, author.suffix)))
    full = ", ".join(filter(None, (author.last, given)))
    affiliations = parts.texts(element.iterfind("AffiliationInfo/Affiliation"))
    return Name(author.collective or short, author.collective or full, bool(author.collective), affiliations)


def _written(date: Element, *, season: bool = False) -> str:
    month = text_of(date.find("Month"))
    if month.isdecimal() and 1 <= int(month) <= 12:
        month = MONTHS[int(month) - 1]
    day = text_of(date.find("Day")).lstrip("0")
    named = month or (text_of(date.find("Season")) if season else "")
    return " ".join(filter(None, (text_of(date.find("Year")), named, day)))
