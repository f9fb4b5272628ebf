"""efetch as text: the MEDLINE format, and the abstract as PubMed prints it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

from tools.literature import publications as parts
from tools.literature.replies import text_of
from tools.mirror.eutils.citation import Citation

WIDTH = 88  # characters of a line of NCBI's text formats
WHOLE_WORDS: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
INDENT = " " * 6  # of a MEDLINE line that goes on


def medline(citation: Citation) -> str:
    """A record in MEDLINE format, as far as the record has the fields (NLM's element descriptions)."""
    lines: list[str] = []
    for tag, text in _medline(citation):
        if text:
            first = f"{tag:<4}- "
            lines += textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=INDENT, **WHOLE_WORDS)
    return "\n".join(lines) + "\n"


def abstract(citation: Citation, number: int) -> str:
    """A record as PubMed prints an abstract."""
    doi = citation.ids.get("doi", "")
    head = f"{number}. {citation.journal}. {citation.source}.{f' doi: {doi}.' if doi else ''}"
    names = ", ".join(a.short for a in citation.authors)
    ids = [f"DOI: {doi}" if doi else "", f"PMCID: {citation.ids['pmc']}" if "pmc" in citation.ids else ""]
    indexed = " [Indexed for MEDLINE]" if citation.citation.get("Status") == "MEDLINE" else ""
    blocks = [head, citation.title, f"{names}." if names else ""]
    blocks += citation.abstract.split("\n")
    wrapped = [textwrap.fill(b, WIDTH, **WHOLE_WORDS) for b in blocks if b]
    return "\n\n".join([*wrapped, "\n".join(filter(None, [*ids, f"PMID: {citation.pmid}{indexed}"]))]) + "\n"


def _medline(citation: Citation) -> Iterator[tuple[str, str]]:
    head, content, ids = citation.citation, citation.content, citation.ids
    yield "PMID", citation.pmid
    yield "OWN", head.get("Owner") or ""
    yield "STAT", head.get("Status") or ""
    yield "DCOM", _day(head.find("DateCompleted"))
    yield "LR", _day(head.find("DateRevised"))
    for medium, issn in citation.issns.items():
        yield "IS", f"{issn} ({medium})"
    yield "VI", citation.text("Journal/JournalIssue/Volume")
    yield "IP", citation.text("Journal/JournalIssue/Issue")
    yield "DP", citation.published
    yield "TI", citation.title
    yield "PG", citation.pages
    for element in content.iterfind("ELocationID"):
        yield "LID", f"{text_of(element)} [{element.get('EIdType') or ''}]"
    yield "AB", citation.abstract.replace("\n", " ")
    yield "CI", citation.text("Abstract/CopyrightInformation")
    yield from _authors(citation)
    for element in content.iterfind("Language"):
        yield "LA", text_of(element)
    for element in content.iter("PublicationType"):
        yield "PT", text_of(element)
    yield "DEP", _day(content.find("ArticleDate"))
    yield "TT", citation.text("VernacularTitle")
    info = head.find("MedlineJournalInfo")
    if info is not None:
        yield "PL", text_of(info.find("Country"))
        yield "TA", text_of(info.find("MedlineTA"))
    yield "JT", citation.text("Journal/Title")
    yield "JID", "" if info is None else text_of(info.find("NlmUniqueID"))
    yield from _subjects(head)
    yield "PMC", ids.get("pmc", "")
    yield from _steps(citation)
    doi = ids.get("doi", "")
    yield "SO", f"{citation.journal}. {citation.source}.{f' doi: {doi}.' if doi else ''}"


def _authors(citation: Citation) -> Iterator[tuple[str, str]]:
    for name in citation.authors:
        if name.collective:
            yield "CN", name.full
            continue
        yield "FAU", name.full
        yield "AU", name.short
        for affiliation in name.affiliations:
            yield "AD", affiliation


def _subjects(head: Element) -> Iterator[tuple[str, str]]:
    for element in head.iterfind("ChemicalList/Chemical"):
        name = text_of(element.find("NameOfSubstance"))
        yield "RN", f"{text_of(element.find('RegistryNumber'))} ({name})"
    for element in head.iterfind("CitationSubset"):
        yield "SB", text_of(element)
    for note in map(parts.correction, head.iterfind("CommentsCorrectionsList/CommentsCorrections")):
        if note.type in NOTES:
            yield NOTES[note.type], f"{note.source} PMID: {note.pmid}" if note.pmid else note.source
    for heading in map(parts.mesh_heading, head.iterfind("MeshHeadingList/MeshHeading")):
        names = [f"{'*' if heading.major else ''}{heading.name}"]
        names += [f"{'*' if q.major else ''}{q.name}" for q in heading.qualifiers]
        yield "MH", "/".join(names)
    for element in head.iterfind("KeywordList/Keyword"):
        yield "OT", f"{'*' if element.get('MajorTopicYN') == 'Y' else ''}{text_of(element)}"


def _steps(citation: Citation) -> Iterator[tuple[str, str]]:
    history = list(citation.history)
    for tag, wanted in (("EDAT", "pubmed"), ("MHDA", "medline"), ("CRDT", "entrez")):
        yield from ((tag, day) for status, day in history if status == wanted)
    yield from (("PHST", f"{day} [{status}]") for status, day in history if status not in ("pubmed", "medline"))
    for kind, value in citation.ids.items():
        if kind not in ("pubmed", "pmc"):
            yield "AID", f"{value} [{kind}]"
    yield "PST", text_of(citation.data.find("PublicationStatus"))


def _day(element: Element | None) -> str:
    if element is None:
        return ""
    return "".join(text_of(element.find(part)).zfill(2) for part in ("Year", "Month", "Day"))


# NLM's field names of the entries of CommentsCorrections that tell of a notice or a comment
NOTES = {
    "RetractionIn": "RIN", "RetractionOf": "ROF", "ErratumIn": "EIN", "ErratumFor": "EFR", "CommentIn": "CIN",
    "CommentOn": "CON", "UpdateIn": "UIN", "UpdateOf": "UOF", "ExpressionOfConcernIn": "ECI",
    "ExpressionOfConcernFor": "ECF", "RepublishedIn": "RPI", "RepublishedFrom": "RPF",
}  # fmt: skip
