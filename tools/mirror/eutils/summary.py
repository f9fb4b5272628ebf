"""esummary: a record in short, as version 1 (XML), version 2.0 (XML) and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from tools.literature.publications import iso_date
from tools.literature.replies import text_of
from tools.mirror.eutils.citation import Citation
from tools.mirror.eutils.replies import Reply, as_json, sub, xml
from tools.mirror.words import words

STATUSES = {  # what NCBI calls the citation statuses in summaries
    "MEDLINE": "PubMed - indexed for MEDLINE", "Publisher": "PubMed - as supplied by publisher",
    "In-Process": "PubMed - in process", "In-Data-Review": "PubMed - in process",
}  # fmt: skip
MISSING = "cannot get document summary"
LANGUAGES = {"eng": "English", "fre": "French", "ger": "German", "spa": "Spanish", "chi": "Chinese", "jpn": "Japanese"}
LISTS = {  # in XML of version 2.0: the name of a list, of its members, and of what is in them
    "authors": ("Authors", "Author", {"name": "Name", "authtype": "AuthType", "clusterid": "ClusterID"}),
    "articleids": ("ArticleIds", "ArticleId", {"idtype": "IdType", "idtypen": "IdTypeN", "value": "Value"}),
    "history": ("History", "PubMedPubDate", {"pubstatus": "PubStatus", "date": "Date"}),
}
PLAIN_LISTS = {"lang": ("Lang", "string"), "pubtype": ("PubType", "flag"), "attributes": ("Attributes", "flag")}
NAMES = {
    "pubdate": "PubDate", "epubdate": "EPubDate", "source": "Source", "lastauthor": "LastAuthor", "title": "Title",
    "sorttitle": "SortTitle", "volume": "Volume", "issue": "Issue", "pages": "Pages", "nlmuniqueid": "NlmUniqueID",
    "issn": "ISSN", "essn": "ESSN", "recordstatus": "RecordStatus", "pubstatus": "PubStatus",
    "fulljournalname": "FullJournalName", "elocationid": "ELocationID", "doctype": "DocType", "booktitle": "BookTitle",
    "sortpubdate": "SortPubDate", "sortfirstauthor": "SortFirstAuthor", "vernaculartitle": "VernacularTitle",
}  # fmt: skip


def esummary_json(asked: Sequence[str], found: Mapping[str, Citation]) -> Reply:
    """JSON by PMID; a PMID that is not held has an error in its place."""
    content: dict[str, Any] = {"uids": list(asked)}
    for pmid in asked:
        content[pmid] = fields(found[pmid]) if pmid in found else {"uid": pmid, "error": MISSING}
    return as_json("esummary", "result", content)


def esummary_2(asked: Sequence[str], found: Mapping[str, Citation]) -> Reply:
    """XML of version 2.0."""
    root = Element("eSummaryResult")
    together = sub(root, "DocumentSummarySet", status="OK")
    for pmid in asked:
        summary = sub(together, "DocumentSummary", uid=pmid)
        if pmid not in found:
            sub(summary, "error", MISSING)
            continue
        for name, value in fields(found[pmid]).items():
            _second(summary, name, value)
    return xml(root, doctype=False)


def esummary_1(asked: Sequence[str], found: Mapping[str, Citation]) -> Reply:
    """XML of version 1."""
    root = Element("eSummaryResult")
    for pmid in asked:
        if pmid in found:
            _first(sub(root, "DocSum"), found[pmid])
        else:
            sub(root, "ERROR", f"UID={pmid}: {MISSING}")
    return xml(root)


def fields(citation: Citation) -> dict[str, Any]:
    """The fields of NCBI's JSON that the record has; counts that only NCBI keeps are left out."""
    issns = citation.issns
    names = [a.short for a in citation.authors]
    date = iso_date(citation.content.find("Journal/JournalIssue/PubDate"))
    day = "/".join([*date.split("-"), "01", "01"][:3]) if date else ""
    doi = citation.ids.get("doi", "")
    return {
        "uid": citation.pmid,
        "pubdate": citation.published,
        "epubdate": citation.online,
        "source": citation.journal,
        "authors": [
            {"name": a.short, "authtype": "CollectiveName" if a.collective else "Author", "clusterid": ""}
            for a in citation.authors
        ],
        "lastauthor": names[-1] if names else "",
        "title": citation.title,
        "sorttitle": " ".join(words(citation.title)),
        "volume": citation.text("Journal/JournalIssue/Volume"),
        "issue": citation.text("Journal/JournalIssue/Issue"),
        "pages": citation.pages,
        "lang": [text_of(e) for e in citation.content.iterfind("Language")],
        "nlmuniqueid": text_of(citation.citation.find("MedlineJournalInfo/NlmUniqueID")),
        "issn": issns.get("Print", ""),
        "essn": issns.get("Electronic", ""),
        "pubtype": [text_of(e) for e in citation.content.iter("PublicationType")],
        "recordstatus": STATUSES.get(citation.citation.get("Status") or "", "PubMed"),
        "pubstatus": text_of(citation.data.find("PublicationStatus")),
        "articleids": [{"idtype": k, "idtypen": 1, "value": v} for k, v in citation.ids.items()],
        "history": [{"pubstatus": status, "date": day} for status, day in citation.history],
        "references": [],
        "attributes": ["Has Abstract"] if citation.abstract else [],
        "fulljournalname": citation.text("Journal/Title"),
        "elocationid": f"doi: {doi}" if doi else "",
        "doctype": "book" if citation.book else "citation",
        "booktitle": citation.text("Book/BookTitle"),
        "sortpubdate": f"{day} 00:00" if day else "",
        "sortfirstauthor": names[0] if names else "",
        "vernaculartitle": citation.text("VernacularTitle"),
    }


def _second(summary: Element, name: str, value: Any) -> None:
    if name in LISTS:
        together, member, inner = LISTS[name]
        parent = sub(summary, together)
        for row in value:
            element = sub(parent, member)
            for key, tag in inner.items():
                sub(element, tag, row[key])
    elif name in PLAIN_LISTS:
        parent = sub(summary, PLAIN_LISTS[name][0])
        for text in value:
            sub(parent, PLAIN_LISTS[name][1], text)
    elif name in NAMES:
        sub(summary, NAMES[name], value)


def _first(docsum: Element, citation: Citation) -> None:
    row = fields(citation)
    sub(docsum, "Id", citation.pmid)

    def item(name: str, value: object, kind: str = "String", parent: Element = docsum) -> Element:
        return sub(parent, "Item", value, Name=name, Type=kind)

    def listed(name: str, member: str, values: Sequence[str]) -> None:
        parent = item(name, "", "List")
        for value in values:
            item(member, value, parent=parent)

    item("PubDate", row["pubdate"], "Date")
    item("EPubDate", row["epubdate"], "Date")
    item("Source", row["source"])
    listed("AuthorList", "Author", [a["name"] for a in row["authors"]])
    for name in ("LastAuthor", "Title", "Volume", "Issue", "Pages"):
        item(name, row[name.lower()])
    listed("LangList", "Lang", [LANGUAGES.get(code, code) for code in row["lang"]])
    for name in ("NlmUniqueID", "ISSN", "ESSN"):
        item(name, row[name.lower()])
    listed("PubTypeList", "PubType", row["pubtype"])
    item("RecordStatus", row["recordstatus"])
    item("PubStatus", row["pubstatus"])
    ids = item("ArticleIds", "", "List")
    for each in row["articleids"]:
        item(each["idtype"], each["value"], parent=ids)
    if citation.ids.get("doi"):
        item("DOI", citation.ids["doi"])
    history = item("History", "", "List")
    for each in row["history"]:
        item(each["pubstatus"], each["date"], "Date", history)
    item("References", "", "List")
    item("HasAbstract", int(bool(citation.abstract)), "Integer")
    item("FullJournalName", row["fulljournalname"])
    item("ELocationID", row["elocationid"])
    item("SO", citation.source)
