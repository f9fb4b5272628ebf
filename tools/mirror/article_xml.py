"""A record as a PubmedArticle element, for records that did not come as PubMed's XML.

Only what the record says is written. `tools.literature.publications.parse_record` reads the same record back; the
order of the elements is that of NLM's DTD (pubmed_250101).
"""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, tostring

from tools.evidence import Status
from tools.literature.article import status_of
from tools.mirror.records import MeshHeading, MirrorRecord, split_name

# What XML 1.0 does not allow in a document (section 2.2, production Char)
ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# A status that neither type nor title tells, as the reference by which PubMed would tell it
REFERENCES = {
    Status.RETRACTED: "RetractionIn",
    Status.RETRACTION_NOTICE: "RetractionOf",
    Status.CONCERN: "ExpressionOfConcernIn",
    Status.CORRECTED: "ErratumIn",
}


def record_xml(record: MirrorRecord) -> bytes:
    """The element as UTF-8, without declaration."""
    root = Element("PubmedArticle")
    citation = _sub(root, "MedlineCitation", Status=record.indexing)
    _text(citation, "PMID", record.pmid, Version="1")
    _article(_sub(citation, "Article", PubModel="Print"), record)
    _text(_sub(citation, "MedlineJournalInfo"), "MedlineTA", record.journal_short or record.journal)
    if status_of(record.publication_types, (), record.title) is not record.status and record.status in REFERENCES:
        notes = _sub(citation, "CommentsCorrectionsList")
        _text(_sub(notes, "CommentsCorrections", RefType=REFERENCES[record.status]), "RefSource", "")
    if record.mesh:
        headings = _sub(citation, "MeshHeadingList")
        for heading in record.mesh:
            _heading(_sub(headings, "MeshHeading"), heading)
    if record.keywords:
        keywords = _sub(citation, "KeywordList", Owner="NOTNLM")
        for keyword in record.keywords:
            _text(keywords, "Keyword", keyword, MajorTopicYN="N")
    _data(_sub(root, "PubmedData"), record)
    return bytes(tostring(root, encoding="utf-8", xml_declaration=False))


def _article(article: Element, record: MirrorRecord) -> None:
    journal = _sub(article, "Journal")
    if record.issns:
        _text(journal, "ISSN", record.issns[0], IssnType="Print")
    _date(_sub(_sub(journal, "JournalIssue", CitedMedium="Print"), "PubDate"), record.date)
    _text(journal, "Title", record.journal)
    _text(journal, "ISOAbbreviation", record.journal_short)
    _text(article, "ArticleTitle", record.title)
    if record.doi:
        _text(article, "ELocationID", record.doi, EIdType="doi", ValidYN="Y")
    if record.abstract:
        _abstract(_sub(article, "Abstract"), record)
    if record.authors:
        authors = _sub(article, "AuthorList", CompleteYN="Y")
        for name in record.authors:
            author = _sub(authors, "Author", ValidYN="Y")
            for tag, text in zip(("LastName", "Initials", "Suffix"), split_name(name), strict=True):
                if text:
                    _text(author, tag, text)
    for language in record.languages:
        _text(article, "Language", language)
    types = _sub(article, "PublicationTypeList")
    for name in record.publication_types:
        _text(types, "PublicationType", name, UI="")


def _abstract(element: Element, record: MirrorRecord) -> None:
    """A part a line; a line that begins with the next label has that label."""
    labels = list(record.labels)
    for line in record.abstract.split("\n"):
        label = labels[0] if labels and line.startswith(f"{labels[0]}: ") else ""
        if label:
            labels.pop(0)
            _text(element, "AbstractText", line.removeprefix(f"{label}: "), Label=label)
        else:
            _text(element, "AbstractText", line)


def _heading(element: Element, heading: MeshHeading) -> None:
    _text(element, "DescriptorName", heading.name, UI="", MajorTopicYN="Y" if heading.major else "N")
    for name in heading.subheadings:
        _text(element, "QualifierName", name, UI="", MajorTopicYN="Y" if name in heading.major_subheadings else "N")


def _data(data: Element, record: MirrorRecord) -> None:
    if record.entered:
        _date(_sub(_sub(data, "History"), "PubMedPubDate", PubStatus="entrez"), record.entered)
    _text(data, "PublicationStatus", "ppublish")
    ids = _sub(data, "ArticleIdList")
    for kind, value in (("pubmed", record.pmid), ("doi", record.doi), ("pmc", record.pmcid)):
        if value:
            _text(ids, "ArticleId", value, IdType=kind)


def _date(element: Element, iso: str) -> None:
    for tag, part in zip(("Year", "Month", "Day"), filter(None, iso.split("-")), strict=False):
        _text(element, tag, part)


def _sub(parent: Element, tag: str, **attributes: str) -> Element:
    return SubElement(parent, tag, {name: ILLEGAL.sub(" ", value) for name, value in attributes.items()})


def _text(parent: Element, tag: str, text: str, **attributes: str) -> None:
    _sub(parent, tag, **attributes).text = ILLEGAL.sub(" ", text)
