"""PubMed's records out of its XML: nothing is lost, and what cannot be read is a named problem."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element

from tools.evidence import Frozen, Status
from tools.literature import record_parts as parts
from tools.literature.appraisal import level_of, status_of
from tools.literature.article import Article, Availability
from tools.literature.dates import iso_date
from tools.literature.replies import parse_xml, text_of
from tools.readers.contract import Problem

__all__ = ["Article", "Records", "collect_records", "level_of", "parse_articles", "parse_record", "status_of"]

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


def parse_articles(body: bytes) -> Records:
    """The records of an efetch answer or of one of PubMed's yearly files; raises as `replies.parse_xml` does."""
    return collect_records(parse_xml(body, "PubmedArticleSet"))


def collect_records(elements: Iterable[Element]) -> Records:
    """The records of the children of a PubmedArticleSet, in order."""
    latest: dict[str, Article] = {}
    older: list[Article] = []
    deleted: list[str] = []
    problems: list[Problem] = []
    for number, element in enumerate(elements, 1):
        if element.tag == "DeleteCitation":
            deleted += parts.texts(element.iterfind("PMID"))
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
    types = parts.texts(content.iter("PublicationType"))
    corrections = tuple(map(parts.correction, citation.iterfind("CommentsCorrectionsList/CommentsCorrections")))
    title, vernacular = text_of(content.find("ArticleTitle")), text_of(content.find("VernacularTitle"))
    abstract, abstract_parts = parts.abstract(content.find("Abstract"))
    languages = tuple(code.lower() for code in parts.texts(content.iterfind("Language")))
    available = parts.availability(abstract)
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
        other_abstracts=tuple(parts.other_abstracts(citation)),
        copyright=text_of(content.find("Abstract/CopyrightInformation")),
        publication_types=types,
        corrections=corrections,
        status=status,
        level=level_of(types),
        date=published,
        year=int(published[:4]) if published else None,
        language=LANGUAGES.get(languages[0], languages[0]) if languages else "en",
        languages=languages,
        mesh=tuple(map(parts.mesh_heading, citation.iterfind("MeshHeadingList/MeshHeading"))),
        supplementary=parts.texts(citation.iterfind("SupplMeshList/SupplMeshName")),
        substances=parts.texts(citation.iterfind("ChemicalList/Chemical/NameOfSubstance")),
        keywords=parts.texts(citation.iterfind("KeywordList/Keyword")),
        authors=parts.authors(content),
        accessions=tuple(parts.accessions(content)),
        **parts.dates(citation, content, data),
        **parts.place(content, book=book),
        **parts.identifiers(content, data),
    )


def _version(pmid: Element | None) -> int:
    text = "" if pmid is None else pmid.get("Version", "")
    return int(text) if text.isascii() and text.isdigit() and int(text) > 0 else 1
