"""PubMed's records out of its XML: nothing is lost, and what cannot be read is a named problem."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any
from xml.etree.ElementTree import Element

from tools.evidence import Frozen, Status
from tools.literature.article import (
    AbstractPart,
    Accession,
    Article,
    Author,
    Availability,
    Correction,
    MeshHeading,
    OtherAbstract,
    Qualifier,
    level_of,
    status_of,
)
from tools.literature.replies import text_of
from tools.readers.contract import Problem

MONTHS = {m: n for n, m in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
YEAR = re.compile(r"(?<!\d)(1[89]|20|21)\d\d(?!\d)")
DAYS = re.compile(r"[0-9]{1,2}")


def iso_date(element: Any) -> str:
    """``2019-02-05``, ``2019-02`` or ``2019`` from an element with Year, Month and Day; "" when there is no year.

    A season is left out, a range (``2007 Dec-2008 Jan``) gives its first year, and a part that no calendar has
    (month 13, 30 February, an empty string) is left out with all that is finer.
    """
    if element is None:
        return ""
    match = YEAR.search((element.findtext("Year") or element.findtext("MedlineDate") or "").strip())
    if match is None:
        return ""
    year = match[0]
    month = _month((element.findtext("Month") or "").strip())
    if not month:
        return year
    day = (element.findtext("Day") or "").strip()
    try:
        return date(int(year), month, int(day)).isoformat() if DAYS.fullmatch(day) else f"{year}-{month:02d}"
    except ValueError:
        return f"{year}-{month:02d}"


def _month(text: str) -> int:
    if DAYS.fullmatch(text):
        return int(text) if 1 <= int(text) <= 12 else 0
    return MONTHS.get(text[:3].lower(), 0)


# Texts that stand where an abstract was, after its article was withdrawn. ours
WITHDRAWN = re.compile(
    r"^\W*(?:withdrawn\b|retracted\b|this (?:article|paper|publication|manuscript|review) (?:has been|was|is) "
    r"(?:withdrawn|retracted)|the (?:publisher|authors?|editors?)\b.{0,120}\bwithdr[ae]w)",
    re.IGNORECASE,
)
WITHDRAWAL_LENGTH = 1000  # characters; ours: a longer text is an abstract that tells of a withdrawal
UNLABELLED = "UNLABELLED"  # PubMed's label of a part without one


def texts(elements: Iterable[Element]) -> tuple[str, ...]:
    """The texts of some elements, once each, empty ones left out."""
    return tuple(dict.fromkeys(filter(None, map(text_of, elements))))


def abstract_of(element: Element | None) -> tuple[str, tuple[AbstractPart, ...]]:
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


def availability_of(text: str) -> Availability:
    """What an abstract is worth: there, none, or only the word that the article was withdrawn."""
    if not text:
        return Availability.NONE
    withdrawn = len(text) <= WITHDRAWAL_LENGTH and WITHDRAWN.match(text)
    return Availability.WITHDRAWN if withdrawn else Availability.AVAILABLE


def other_abstracts(citation: Element) -> Iterator[OtherAbstract]:
    """Abstracts beside the first: plain language, other languages."""
    for element in citation.iterfind("OtherAbstract"):
        text, _ = abstract_of(element)
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


def authors_of(content: Element) -> tuple[Author, ...]:
    """The authors, not the editors of the book that a chapter stands in; those of the book when it is all there is."""
    lists = [a for a in content.iterfind("AuthorList") if a.get("Type") != "editors"]
    lists = lists or list(content.iterfind("Book/AuthorList"))
    return tuple(author(a) for each in lists for a in each.iterfind("Author"))


def correction(element: Element) -> Correction:
    """An entry of CommentsCorrections."""
    return Correction(
        type=element.get("RefType") or "", pmid=text_of(element.find("PMID")), source=text_of(element.find("RefSource"))
    )


def accessions_of(content: Element) -> Iterator[Accession]:
    """Data bank entries, trial registrations among them."""
    for bank in content.iterfind("DataBankList/DataBank"):
        name = text_of(bank.find("DataBankName"))
        for number in texts(bank.iterfind("AccessionNumberList/AccessionNumber")):
            yield Accession(bank=name, number=number)


def dates_of(citation: Element, content: Element, data: Element) -> dict[str, Any]:
    """Every date but that of publication."""
    steps = [(d.get("PubStatus") or "", iso_date(d)) for d in data.iterfind("History/PubMedPubDate")]
    known = dict(reversed([s for s in steps if s[1]]))
    online = (iso_date(d) for d in content.iterfind("ArticleDate") if d.get("DateType", "Electronic") == "Electronic")
    return {
        "electronic": next(filter(None, online), ""),
        "entered": known.get("entrez", known.get("pubmed", "")),
        "completed": iso_date(citation.find("DateCompleted")),
        "revised": iso_date(citation.find("DateRevised")),
        "history": tuple(s for s in steps if s[1]),
    }


def place_of(content: Element, *, book: bool) -> dict[str, Any]:
    """Journal, or book, with volume, issue and pages."""
    issue = "Book" if book else "Journal/JournalIssue"
    first, last = text_of(content.find("Pagination/StartPage")), text_of(content.find("Pagination/EndPage"))
    issn = content.find("Journal/ISSN")
    return {
        "journal": text_of(content.find("Book/BookTitle" if book else "Journal/Title")),
        "iso_abbreviation": text_of(content.find("Journal/ISOAbbreviation")),
        "issn": text_of(issn),
        "issn_type": issn.get("IssnType", "") if issn is not None else "",
        "volume": text_of(content.find(f"{issue}/Volume")),
        "issue": text_of(content.find(f"{issue}/Issue")),
        "pages": text_of(content.find("Pagination/MedlinePgn")) or "-".join(filter(None, (first, last))),
    }


def identifiers_of(content: Element, data: Element) -> dict[str, Any]:
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


LANGUAGES = {"eng": "en", "chi": "zh"}  # MARC codes to the codes of the contract; others stay as they are
PUB_DATES = ("Journal/JournalIssue/PubDate", "Book/PubDate", "ContributionDate", "ArticleDate")
AGAIN = "Fetch the record again; if it stays so, tell NCBI."


class Records(Frozen):
    """What a PubmedArticleSet held.

    Attributes:
        articles: one a PMID, in order, the latest version of each. older: earlier versions of the same PMIDs.
        deleted: PMIDs that PubMed has taken back.
        problems: records that could not be read, by their place in the set.
    """

    articles: tuple[Article, ...] = ()
    older: tuple[Article, ...] = ()
    deleted: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


def collect_records(elements: Iterable[Element]) -> Records:
    """The records of the children of a PubmedArticleSet, in order."""
    latest: dict[str, Article] = {}
    older: list[Article] = []
    deleted: list[str] = []
    problems: list[Problem] = []
    for number, element in enumerate(elements, 1):
        if element.tag == "DeleteCitation":
            deleted += texts(element.iterfind("PMID"))
            continue
        record = parse_record(element, number)
        if isinstance(record, Problem):
            problems.append(record)
            continue
        known = latest.get(record.pmid)
        if known is not None:  # of two with the same version the later one in the file holds
            earlier, record = (known, record) if record.version >= known.version else (record, known)
            older.append(earlier)
        latest[record.pmid] = record
    return Records(
        articles=tuple(latest.values()), older=tuple(older), deleted=tuple(deleted), problems=tuple(problems)
    )


def parse_record(element: Element, number: int = 1) -> Article | Problem:
    """One PubmedArticle or PubmedBookArticle; ``number`` names it when it cannot be read."""
    book = element.tag == "PubmedBookArticle"
    citation = element.find("BookDocument" if book else "MedlineCitation")
    if citation is None:
        return Problem(where=f"record {number}", what=f"{element.tag} is no record of PubMed.", advice=AGAIN)
    pmid = text_of(citation.find("PMID"))
    if not (pmid.isascii() and pmid.isdigit()):
        return Problem(where=f"record {number}", what="It has no PMID.", advice=AGAIN)
    content = citation if book else citation.find("Article")
    if content is None:
        return Problem(where=f"record {number}, PMID {pmid}", what="It has no article.", advice=AGAIN)
    data = element.find("PubmedBookData" if book else "PubmedData")
    return _article(pmid, citation, content, Element("PubmedData") if data is None else data)


def _article(pmid: str, citation: Element, content: Element, data: Element) -> Article:
    book = citation is content
    types = texts(content.iter("PublicationType"))
    corrections = tuple(map(correction, citation.iterfind("CommentsCorrectionsList/CommentsCorrections")))
    title, vernacular = text_of(content.find("ArticleTitle")), text_of(content.find("VernacularTitle"))
    abstract, abstract_parts = abstract_of(content.find("Abstract"))
    languages = tuple(code.lower() for code in texts(content.iterfind("Language")))
    available = availability_of(abstract)
    status = status_of(types, [c.type for c in corrections], title)
    if available is Availability.WITHDRAWN and status.usable:
        status = Status.RETRACTED  # ours: the publisher took it back, whatever it calls that
    published = next(filter(None, (iso_date(content.find(path)) for path in PUB_DATES)), "")
    return Article(
        pmid=pmid,
        version=_version(citation.find("PMID")),
        book=book,
        title=title or vernacular or text_of(content.find("Book/BookTitle")),
        vernacular_title=vernacular,
        abstract=abstract,
        parts=abstract_parts,
        availability=available,
        other_abstracts=tuple(other_abstracts(citation)),
        copyright=text_of(content.find("Abstract/CopyrightInformation")),
        publication_types=types,
        corrections=corrections,
        status=status,
        level=level_of(types, title, abstract),
        date=published,
        year=int(published[:4]) if published else None,
        language=LANGUAGES.get(languages[0], languages[0]) if languages else "en",
        languages=languages,
        mesh=tuple(map(mesh_heading, citation.iterfind("MeshHeadingList/MeshHeading"))),
        supplementary=texts(citation.iterfind("SupplMeshList/SupplMeshName")),
        substances=texts(citation.iterfind("ChemicalList/Chemical/NameOfSubstance")),
        keywords=texts(citation.iterfind("KeywordList/Keyword")),
        authors=authors_of(content),
        accessions=tuple(accessions_of(content)),
        **dates_of(citation, content, data),
        **place_of(content, book=book),
        **identifiers_of(content, data),
    )


def _version(pmid: Element | None) -> int:
    text = "" if pmid is None else pmid.get("Version", "")
    return int(text) if text.isascii() and text.isdigit() and int(text) > 0 else 1
