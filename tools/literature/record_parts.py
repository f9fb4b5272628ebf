"""The parts of a PubMed record out of its XML elements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypedDict
from xml.etree.ElementTree import Element

from tools.literature.article import (
    AbstractPart,
    Accession,
    Author,
    Availability,
    Correction,
    MeshHeading,
    OtherAbstract,
    Qualifier,
)
from tools.literature.dates import iso_date
from tools.literature.replies import text_of

# Texts that stand where an abstract was, after its article was withdrawn. ours
WITHDRAWN = re.compile(
    r"^\W*(?:withdrawn\b|retracted\b|this (?:article|paper|publication|manuscript|review) (?:has been|was|is) "
    r"(?:withdrawn|retracted)|the (?:publisher|authors?|editors?)\b.{0,120}\bwithdr[ae]w)",
    re.IGNORECASE,
)
WITHDRAWAL_LENGTH = 1000  # characters; ours: a longer text is an abstract that tells of a withdrawal
UNLABELLED = "UNLABELLED"  # PubMed's label of a part without one


class Dates(TypedDict):
    """The dates of a record beside that of publication."""

    electronic: str
    entered: str
    completed: str
    revised: str
    history: tuple[tuple[str, str], ...]


class Place(TypedDict):
    """Where a work was published."""

    journal: str
    iso_abbreviation: str
    issn: str
    volume: str
    issue: str
    pages: str


def texts(elements: Iterable[Element]) -> tuple[str, ...]:
    """The texts of some elements, once each, empty ones left out."""
    return tuple(dict.fromkeys(filter(None, map(text_of, elements))))


def abstract(element: Element | None) -> tuple[str, tuple[AbstractPart, ...]]:
    """One line a part, labels in front: stable as long as PubMed's record is. The parts say where each lies."""
    lines: list[str] = []
    parts: list[AbstractPart] = []
    at = 0
    for part in [] if element is None else element.iterfind("AbstractText"):
        text = text_of(part)
        label = " ".join((part.get("Label") or "").split()).rstrip(":")
        label = "" if label.upper() == UNLABELLED else label
        if text:
            lines.append(f"{label}: {text}" if label else text)
            end = at + len(lines[-1])
            parts.append(
                AbstractPart(label=label, category=part.get("NlmCategory") or "", start=end - len(text), end=end)
            )
            at = end + 1
    return "\n".join(lines), tuple(parts)


def availability(text: str) -> Availability:
    """What an abstract is worth: there, none, or only the word that the article was withdrawn."""
    if not text:
        return Availability.NONE
    withdrawn = len(text) <= WITHDRAWAL_LENGTH and WITHDRAWN.match(text)
    return Availability.WITHDRAWN if withdrawn else Availability.AVAILABLE


def other_abstracts(citation: Element) -> Iterator[OtherAbstract]:
    """Abstracts beside the first: plain language, other languages."""
    for element in citation.iterfind("OtherAbstract"):
        text, _ = abstract(element)
        if text:
            yield OtherAbstract(type=element.get("Type") or "", language=element.get("Language") or "", text=text)


def mesh_heading(element: Element) -> MeshHeading:
    """A heading with its qualifiers; a major qualifier makes its pair, not the heading, a main subject."""
    name = element.find("DescriptorName")
    return MeshHeading(
        name=text_of(name),
        id="" if name is None else name.get("UI") or "",
        major=name is not None and name.get("MajorTopicYN") == "Y",
        qualifiers=tuple(
            Qualifier(name=text_of(q), major=q.get("MajorTopicYN") == "Y") for q in element.iterfind("QualifierName")
        ),
    )


def author(element: Element) -> Author:
    """An author or a group."""
    return Author(
        last=text_of(element.find("LastName")),
        fore=text_of(element.find("ForeName")),
        initials=text_of(element.find("Initials")),
        suffix=text_of(element.find("Suffix")),
        collective=text_of(element.find("CollectiveName")),
        orcid=next((text_of(i) for i in element.iterfind("Identifier") if i.get("Source") == "ORCID"), ""),
    )


def authors(content: Element) -> tuple[Author, ...]:
    """The authors, not the editors of the book that a chapter stands in; those of the book when it is all there is."""
    lists = [a for a in content.iterfind("AuthorList") if a.get("Type") != "editors"]
    lists = lists or list(content.iterfind("Book/AuthorList"))
    return tuple(author(a) for each in lists for a in each.iterfind("Author"))


def correction(element: Element) -> Correction:
    """An entry of CommentsCorrections."""
    return Correction(
        type=element.get("RefType") or "", pmid=text_of(element.find("PMID")), source=text_of(element.find("RefSource"))
    )


def accessions(content: Element) -> Iterator[Accession]:
    """Data bank entries, trial registrations among them."""
    for bank in content.iterfind("DataBankList/DataBank"):
        name = text_of(bank.find("DataBankName"))
        for number in texts(bank.iterfind("AccessionNumberList/AccessionNumber")):
            yield Accession(bank=name, number=number)


def dates(citation: Element, content: Element, data: Element) -> Dates:
    """Every date but that of publication."""
    steps = [(d.get("PubStatus") or "", iso_date(d)) for d in data.iterfind("History/PubMedPubDate")]
    known = dict(reversed([s for s in steps if s[1]]))
    online = (iso_date(d) for d in content.iterfind("ArticleDate") if d.get("DateType", "Electronic") == "Electronic")
    return Dates(
        electronic=next(filter(None, online), ""),
        entered=known.get("entrez", known.get("pubmed", "")),
        completed=iso_date(citation.find("DateCompleted")),
        revised=iso_date(citation.find("DateRevised")),
        history=tuple(s for s in steps if s[1]),
    )


def place(content: Element, *, book: bool) -> Place:
    """Journal, or book, with volume, issue and pages."""
    issue = "Book" if book else "Journal/JournalIssue"
    first, last = text_of(content.find("Pagination/StartPage")), text_of(content.find("Pagination/EndPage"))
    return Place(
        journal=text_of(content.find("Book/BookTitle" if book else "Journal/Title")),
        iso_abbreviation=text_of(content.find("Journal/ISOAbbreviation")),
        issn=text_of(content.find("Journal/ISSN")),
        volume=text_of(content.find(f"{issue}/Volume")),
        issue=text_of(content.find(f"{issue}/Issue")),
        pages=text_of(content.find("Pagination/MedlinePgn")) or "-".join(filter(None, (first, last))),
    )


def identifiers(content: Element, data: Element) -> dict[str, str]:
    """``doi`` and ``pmcid``, of the record itself and not of its references."""
    ids: dict[str, str] = {}
    for element in [*data.iterfind("ArticleIdList/ArticleId"), *content.iterfind("ArticleIdList/ArticleId")]:
        ids.setdefault(element.get("IdType") or "", text_of(element))
    located = (e for e in content.iterfind("ELocationID") if e.get("EIdType") == "doi" and e.get("ValidYN") != "N")
    pmcid = ids.get("pmc", "").upper()
    return {
        "doi": ids.get("doi") or next((text_of(e) for e in located), ""),
        "pmcid": pmcid if not pmcid or pmcid.startswith("PMC") else f"PMC{pmcid}",
    }
