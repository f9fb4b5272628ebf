"""What summaries and text formats say of a record, out of its XML."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from tools.literature import publications as parts
from tools.literature.publications import iso_date
from tools.literature.replies import text_of
from tools.mirror.article_xml import ILLEGAL
from tools.mirror.engine import Mirror
from tools.mirror.eutils.replies import History, Parameters, Reply, RequestError, as_json, plain, sub, xml
from tools.mirror.stored import element_of
from tools.mirror.words import words

# esummary: a record in short, as version 1 (XML), version 2.0 (XML) and JSON.
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


# efetch as text: the MEDLINE format, and the abstract as PubMed prints it.
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


# efetch, esummary and epost: records by id, or by a list of the history.

MOST = 10_000  # records an answer, as at NCBI
MOST_JSON = 500  # summaries an answer in JSON, as at NCBI
SET = "PubmedArticleSet"


def efetch(mirror: Mirror, history: History, parameters: Parameters) -> Reply:
    """Records as XML, MEDLINE, abstracts, or PMIDs alone; PMIDs that are not held are left out, as at NCBI."""
    parameters.database()
    asked = _asked(history, parameters)
    form, mode = parameters.text("rettype").lower(), parameters.text("retmode").lower()
    if form == "uilist" and mode in ("", "text"):
        return plain("".join(f"{pmid}\n" for pmid in mirror.stored(asked)))
    if form == "uilist" and mode == "xml":
        ids = Element("IdList")
        for pmid in mirror.stored(asked):
            sub(ids, "Id", pmid)
        return xml(ids)
    if form in ("medline", "abstract") and mode in ("", "text"):
        return plain(_text(mirror, asked, form))
    if mode == "xml" or form == "xml" or (not mode and form in ("", "full")):
        return _whole(mirror, asked)
    raise RequestError(
        f"Cannot process rettype '{form[:20]}' with retmode '{mode[:20]}'",
        "Use retmode=xml, or retmode=text with rettype medline, abstract or uilist.",
    )


def esummary(mirror: Mirror, history: History, parameters: Parameters) -> Reply:
    """Summaries as JSON, or as XML of version 1 or 2.0."""
    parameters.database()
    asked = _asked(history, parameters)
    if parameters.wants_json and len(asked) > MOST_JSON:
        raise RequestError(f"Too many UIDs in request. Maximum number of UIDs is {MOST_JSON} for JSON format output.")
    found = {pmid: Citation.of(element_of(stored.xml())) for pmid, stored in mirror.stored(asked).items()}
    if parameters.wants_json:
        return esummary_json(asked, found)
    return esummary_2(asked, found) if parameters.text("version") == "2.0" else esummary_1(asked, found)


def epost(history: History, parameters: Parameters) -> Reply:
    """Keep a list of ids; ids that are none are named, as at NCBI."""
    parameters.database()
    ids, invalid = parameters.ids(), parameters.invalid()
    if not ids:
        raise RequestError("Empty ID list; Nothing to store", "Give PMIDs as id.")
    environment, key = history.put(ids, parameters.text("WebEnv"))
    root = Element("ePostResult")
    if invalid:
        listed = sub(root, "InvalidIdList")
        for text in invalid:
            sub(listed, "Id", text[:40])
    sub(root, "QueryKey", key)
    sub(root, "WebEnv", environment)
    return xml(root)


def _asked(history: History, parameters: Parameters) -> list[str]:
    """The ids of the request, or the part of a kept list that it asks for."""
    start, most = parameters.number("retstart", 0), min(parameters.number("retmax", MOST), MOST)
    if parameters.has("WebEnv") or parameters.has("query_key"):
        return list(history.get(parameters)[start : start + most])
    ids = parameters.ids()
    if not ids:
        raise RequestError("ID list is empty! Possibly it has no correct IDs.", "Give PMIDs as id.")
    return ids[start : start + most]


def _whole(mirror: Mirror, asked: Sequence[str]) -> Reply:
    root = Element(SET)
    mark = "records"
    root.text = mark
    head = xml(root)
    before, _, after = head.body.partition(mark.encode())
    records = b"\n".join(stored.xml() for stored in mirror.stored(asked).values())
    return head._replace(body=before + b"\n" + records + b"\n" + after)


def _text(mirror: Mirror, asked: Sequence[str], form: str) -> str:
    found = [Citation.of(element_of(stored.xml())) for stored in mirror.stored(asked).values()]
    if form == "medline":
        return "".join(f"\n{medline(citation)}" for citation in found)
    return "\n\n".join(abstract(citation, number) for number, citation in enumerate(found, 1))
