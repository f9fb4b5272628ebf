"""PubMed records: parsed from efetch's XML, with level of evidence and editorial status."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from prompts.errors import ServiceError
from tools.evidence import Evidence, Found, Frozen, Origin, Status

# Level of evidence by PubMed's publication types, the first that fits; names of the levels are ours.
LEVELS = (
    ("guideline", {"Guideline", "Practice Guideline", "Consensus Development Conference"}),
    ("systematic review", {"Systematic Review"}),
    ("meta-analysis", {"Meta-Analysis", "Network Meta-Analysis"}),
    (
        "randomised trial",
        {"Randomized Controlled Trial", "Pragmatic Clinical Trial", "Equivalence Trial", "Adaptive Clinical Trial"},
    ),
    ("review", {"Review", "Scoping Review"}),
    ("observational study", {"Observational Study", "Twin Study"}),
    ("case report", {"Case Reports"}),
)
OTHER_LEVEL = "other"
# CommentsCorrections that say something about the record itself, the gravest first
STATUS_BY_REFERENCE = (
    (Status.RETRACTED, {"RetractionIn"}),
    (Status.CONCERN, {"ExpressionOfConcernIn", "PartialRetractionIn"}),
    (Status.CORRECTED, {"ErratumIn", "CorrectedandRepublishedIn", "CorrectedAndRepublishedIn", "UpdateIn"}),
)
LANGUAGES = {"eng": "en", "chi": "zh"}  # MARC codes to the codes of the contract; others stay as they are
MONTHS = {m: f"{n:02d}" for n, m in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)}
YEAR = re.compile(r"\b(1[89]|20|21)\d\d\b")


class Article(Frozen):
    """A PubMed record. ``abstract`` is the stored document: one line a part, with its label; "" when there is none."""

    pmid: str
    title: str
    abstract: str
    publication_types: tuple[str, ...]
    status: Status
    level: str
    date: str
    year: int | None
    journal: str
    language: str

    def evidence(self, found: Sequence[Found] = ()) -> Evidence:
        """The whole abstract as evidence; only for a record that has one."""
        return Evidence(
            id=f"pubmed:{self.pmid}@0-{len(self.abstract)}",
            text=self.abstract,
            title=self.title,
            kind="abstract",
            origin=Origin.RETRIEVED,
            publication_types=self.publication_types,
            level=self.level,
            status=self.status,
            date=self.date or None,
            language=self.language,
            found=tuple(found),
        )


def parse_xml(body: bytes, root: str) -> Element:
    """The root element of an answer of the E-utilities; entities are never expanded.

    Raises:
        ServiceError: HTML or other text instead of XML, XML that is cut, another root, or an ERROR element.
    """
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    advice = "Try again in a minute."
    if not body.strip():
        raise ServiceError("PubMed sent an empty answer.", advice)
    if re.match(rb"\s*<(?:!doctype\s+)?html", body, re.IGNORECASE):
        raise ServiceError("PubMed sent a web page instead of data.", advice)
    try:
        element: Element = fromstring(body)
    except (ParseError, ValueError, DefusedXmlException) as error:
        raise ServiceError("PubMed's answer is damaged or cut off.", advice) from error
    message = _text(element if element.tag == "ERROR" else element.find("ERROR"))
    if message:
        raise ServiceError(
            f"PubMed answered with an error: {message[:200]}.",
            "Try again, or with other terms.",
            retryable=bool(re.search(r"backend|server|timeout|temporar|unavailable", message, re.IGNORECASE)),
        )
    if element.tag != root:
        raise ServiceError(f"PubMed sent {element.tag} instead of {root}.", advice)
    return element


def parse_articles(body: bytes) -> list[Article]:
    """The records of an efetch answer, in its order; raises ServiceError as `parse_xml` does."""
    root = parse_xml(body, "PubmedArticleSet")
    articles = []
    for record in root:
        if record.tag == "PubmedArticle":
            articles.append(_article(record.find("MedlineCitation"), "Article", "Journal/Title"))
        elif record.tag == "PubmedBookArticle":
            articles.append(_article(record.find("BookDocument"), ".", "Book/BookTitle"))
    return [a for a in articles if a is not None]


def level_of(publication_types: Sequence[str]) -> str:
    """The level of evidence that publication types stand for."""
    types = set(publication_types)
    return next((level for level, names in LEVELS if types & names), OTHER_LEVEL)


def status_of(publication_types: Sequence[str], references: Sequence[str]) -> Status:
    """The editorial status.

    Args:
        references: RefType of every CommentsCorrections of the record.
    """
    if "Retracted Publication" in publication_types:
        return Status.RETRACTED
    preprint = "Preprint" in publication_types
    for status, names in STATUS_BY_REFERENCE:
        if names & set(references) and not (preprint and status is Status.CORRECTED):
            return status
    return Status.PREPRINT if preprint else Status.OK


def _article(record: Element | None, article: str, journal: str) -> Article | None:
    content = None if record is None else record.find(article)
    pmid = "" if record is None else _text(record.find("PMID"))
    if record is None or content is None or not pmid.isdigit():
        return None
    types = tuple(dict.fromkeys(_text(t) for t in content.iter("PublicationType") if _text(t)))
    references = [c.get("RefType", "") for c in record.iterfind("CommentsCorrectionsList/CommentsCorrections")]
    date = _date(content)
    language = _text(content.find("Language")).lower()
    return Article(
        pmid=pmid,
        title=_text(content.find("ArticleTitle"))
        or _text(content.find("VernacularTitle"))
        or _text(content.find("Book/BookTitle")),
        abstract=_abstract(content.find("Abstract")),
        publication_types=types,
        status=status_of(types, references),
        level=level_of(types),
        date=date,
        year=int(date[:4]) if date else None,
        journal=_text(content.find(journal)),
        language=LANGUAGES.get(language, language or "en"),
    )


def _abstract(element: Element | None) -> str:
    """One line a part, labels in front: stable as long as PubMed's record is."""
    lines = []
    for part in [] if element is None else element.iterfind("AbstractText"):
        text = _text(part)
        label = " ".join((part.get("Label") or "").split())
        if text:
            lines.append(f"{label.rstrip(':')}: {text}" if label and label.upper() != "UNLABELLED" else text)
    return "\n".join(lines)


def _date(content: Element) -> str:
    """The date of publication as precisely as it is known, ISO; "" when there is none."""
    for path in ("Journal/JournalIssue/PubDate", "Book/PubDate", "ContributionDate", "ArticleDate"):
        element = content.find(path)
        if element is None:
            continue
        year = _text(element.find("Year"))
        if not year:
            match = YEAR.search(_text(element.find("MedlineDate")))
            if match:
                return match[0]
            continue
        month = _text(element.find("Month"))
        month = MONTHS.get(month[:3].title(), month.zfill(2) if month.isdigit() else "")
        day = _text(element.find("Day"))
        return "-".join([year, month, day.zfill(2)] if month and day.isdigit() else [year, month] if month else [year])
    return ""


def _text(element: Any) -> str:
    """All text below an element, white space made single."""
    return "" if element is None else " ".join("".join(element.itertext()).split())
