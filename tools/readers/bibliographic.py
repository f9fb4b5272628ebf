"""Records of publications: PubMed's XML, RIS (Zotero, EndNote, Mendeley, most databases) and nbib, PubMed's MEDLINE.

XML, as efetch and the baseline files give it, is read a record at a time, in bounded memory.

The abstract of a record is the document. By whom, where and when it was published stands in its ``reference``.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any
from xml.etree.ElementTree import Element, ParseError

from prompts.errors import DataError
from tools.literature.article import LEVELS, NOTICES, OTHER_LEVEL, Article, Author, level_of, status_of
from tools.literature.publications import LANGUAGES, parse_record
from tools.readers.contract import Problem, Record, Section
from tools.readers.files import Metered, decode, name_of, open_bytes, problem, read_bytes, read_faults
from tools.readers.normal import LINE_ENDS, MONTHS, iso_date, normalise, one_line, own_id
from tools.text.language import language_of

RECORDS = ("PubmedArticle", "PubmedBookArticle")
DELETED = "DeleteCitation"
ANEW = "Fetch it anew; the records before this place were read."


class PubmedReader:
    """Reads ``PubmedArticleSet``, and a record that stands alone."""

    suffixes = (".xml", ".xml.gz")

    def read(self, path: Path) -> Iterator[Record | Problem]:
        """A record each; without an abstract, deleted, or damaged, a problem that names it."""
        from defusedxml import DefusedXmlException

        try:
            with read_faults(), open_bytes(path) as file:
                yield from _xml_records(file)
        except DefusedXmlException:
            yield Problem(where="", what="The XML declares entities, which are not expanded.", advice=ANEW)
        except (ParseError, ValueError) as error:
            yield Problem(where="", what=f"The XML is damaged or cut off: {str(error)[:120]}.", advice=ANEW)
        except DataError as error:
            yield problem(error)


def record_of(article: Article) -> Record | None:
    """A PubMed record as a document; None without an abstract. Offsets count the abstract's characters."""
    text = normalise(article.abstract)
    if not text:
        return None
    return Record(
        id=f"pubmed:{article.pmid}",
        title=one_line(article.title) or f"PubMed {article.pmid}",
        text=text,
        kind="abstract",
        sections=(Section(title="", start=0, end=len(text)),),
        language=article.language,
        date=article.date,
        publication_types=article.publication_types,
        status=article.status,
        level=article.level,
    )


def _xml_records(file: IO[bytes]) -> Iterator[Record | Problem]:
    from defusedxml.ElementTree import iterparse

    source = Metered(file, ANEW)
    root: Element | None = None
    number = 0
    for event, element in iterparse(source, events=("start", "end")):
        if root is None:
            root = element
        if event == "start" or (element.tag not in RECORDS and element.tag != DELETED):
            continue
        if element.tag == DELETED:
            yield from _deleted(element)
        else:
            number += 1
            yield _one(element, number)
        root.clear()
        source.spent = 0
    if not number and root is not None and root.tag != DELETED:
        said = " ".join("".join(root.itertext()).split())[:100]
        yield Problem(where="", what=f"The file holds no record{f': {said}' if said else ''}.", advice="Fetch it anew.")


def _one(element: Element, number: int) -> Record | Problem:
    article = parse_record(element, number)
    if isinstance(article, Problem):
        return article
    record = record_of(article)
    if record is not None:
        return record
    advice = "Nothing of it can be cited; its full text can be added instead."
    return Problem(where=f"PMID {article.pmid}", what="no abstract", advice=advice)


def _deleted(element: Element) -> Iterator[Problem]:
    for pmid in element.iterfind("PMID"):
        advice = f"Remove pubmed:{pmid.text} if the library holds it."
        yield Problem(where=f"PMID {pmid.text}", what="PubMed has deleted this record.", advice=advice)


RIS_BEGIN, RIS_END = re.compile(r"^(?=TY  -)", re.MULTILINE), re.compile(r"^ER  -", re.MULTILINE)
EMPTY_LINES = re.compile(r"\n{2,}")  # an empty line of six blanks goes on with its value
MEDLINE_LINE = re.compile(r"[A-Z]{2,4} *- ")
DOI = re.compile(r"10\.\d{4,9}/[^\s\[\]]+")
PUBMED = re.compile(r"(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed)/(\d{1,8})\b")
PMID = re.compile(r"\d{1,8}")
OF_PUBMED = re.compile(r"\b(?:pubmed|medline|nlm)\b", re.IGNORECASE)
# publication types that a RIS file may name; its keywords are believed only where PubMed gave them
TYPES = frozenset().union(*(names for _, names in LEVELS)) | NOTICES
TYPES |= {"Retracted Publication", "Expression of Concern", "Preprint"}
NOTED = {  # tags of MEDLINE that say what became of a publication -> their RefType in PubMed's XML
    "RIN": "RetractionIn", "ROF": "RetractionOf", "PRIN": "PartialRetractionIn", "PROF": "PartialRetractionOf",
    "RRI": "RetractedandRepublishedIn", "ECI": "ExpressionOfConcernIn", "ECF": "ExpressionOfConcernFor",
    "EIN": "ErratumIn", "CRI": "CorrectedandRepublishedIn", "UIN": "UpdateIn",
}  # fmt: skip
TOLD = 80  # ours: characters of a title that name a record in a report
EXPORT = "Export it again from the reference manager."
FULL_TEXT = "Nothing of it can be cited; its full text can be added instead."


class RisReader:
    """Reads RIS, of which rispy takes each record apart."""

    suffixes = (".ris",)

    def read(self, path: Path) -> Iterator[Record | Problem]:
        """A record each; without an abstract or without its end, a problem that names it."""
        try:
            import rispy
        except ImportError:
            yield Problem(where="", what="Reading RIS needs rispy.", advice="Run: pip install 'anamnesis[documents]'")
            return

        def article(text: str) -> Article:
            if not RIS_END.search(text):
                raise DataError("It has no end (ER): the file is cut off or damaged.", EXPORT)
            return _of_ris(rispy.loads(text)[0])

        yield from _records(path, "RIS", lambda text: RIS_BEGIN.split(text)[1:], article)


class NbibReader:
    """Reads MEDLINE, of which Biopython takes each record apart."""

    suffixes = (".nbib",)

    def read(self, path: Path) -> Iterator[Record | Problem]:
        """A record each; without an abstract, a problem that names it."""
        from Bio import Medline

        parse: Callable[[Sequence[str]], Mapping[str, Any]] = Medline.read

        def article(text: str) -> Article:
            if not MEDLINE_LINE.match(text):
                raise DataError("It does not begin with a tag of MEDLINE (PMID- ).", EXPORT)
            return _of_medline(parse(text.split("\n")))

        yield from _records(path, "nbib", lambda text: EMPTY_LINES.split(text.strip("\n")), article)


def _records(
    path: Path, form: str, split: Callable[[str], Sequence[str]], read: Callable[[str], Article]
) -> Iterator[Record | Problem]:
    try:
        texts = split(LINE_ENDS.sub("\n", decode(read_bytes(path))))
    except DataError as error:
        yield problem(error)
        return
    if not texts:
        yield Problem(where="", what=f"The file holds no record of {form}.", advice=EXPORT)
    for number, text in enumerate(texts, start=1):
        try:
            yield _document(read(text), name_of(path), number)
        except DataError as error:
            yield problem(error, f"record {number}")


def _document(article: Article, name: str, number: int) -> Record | Problem:
    titled = article if article.title else article.model_copy(update={"title": f"{name}, record {number}"})
    record = record_of(titled)
    if record is None:
        where = f"record {number} ({textwrap.shorten(titled.title, TOLD, placeholder=' …')})"
        return Problem(where=where, what="no abstract", advice=FULL_TEXT)
    told = bool(record.publication_types) or record.level != OTHER_LEVEL
    return record.model_copy(
        update={
            "id": record.id if article.pmid else own_id(article.doi or name, record.title, record.text),
            "level": record.level if told else None,
            "reference": titled.reference,
        }
    )


def _of_ris(entry: Mapping[str, Any]) -> Article:
    def said(*names: str) -> str:
        return next((one_line(entry[name]) for name in names if isinstance(entry.get(name), str) and entry[name]), "")

    places = " ".join(entry.get("urls", []))
    by_pubmed = bool(OF_PUBMED.search(f"{said('name_of_database')} {said('database_provider')}"))
    number = PMID.fullmatch(said("accession_number")) if by_pubmed else None
    address = PUBMED.search(places)
    kinds = [kind.strip() for kind in said("type_of_work").split(";")]
    return _article(
        pmid=address[1] if address else number[0] if number else "",
        title=said("title", "primary_title"),
        abstract=said("abstract", "notes_abstract"),
        types=[kind for kind in (*kinds, *(entry.get("keywords", []) if by_pubmed else [])) if kind in TYPES],
        date=iso_date(said("date")) or iso_date(said("year", "publication_year")),
        journal=said("secondary_title", "journal_name", "alternate_title3"),
        iso_abbreviation=said("alternate_title2", "alternate_title1"),
        language=said("language"),
        volume=said("volume"),
        issue=said("number"),
        pages="-".join(filter(None, (said("start_page"), said("end_page")))),
        authors=tuple(_author(name) for name in (*entry.get("authors", []), *entry.get("first_authors", [])) if name),
        doi=_doi(said("doi"), places),
    )


def _author(name: str) -> Author:
    """``Smith, John A.`` as an author; a name without a comma is a group's."""
    last, _, given = one_line(name).partition(",")
    if not given.strip():
        return Author(collective=last)
    fore, _, suffix = given.partition(",")
    initials = "".join(part[0] for part in re.split(r"[\s.\-]+", fore) if part)
    return Author(last=last, fore=fore.strip(), initials=initials, suffix=suffix.strip())


def _of_medline(entry: Mapping[str, Any]) -> Article:
    def said(*names: str) -> str:
        values = (entry.get(name, "") for name in names)
        return next((one_line(value if isinstance(value, str) else value[0]) for value in values if value), "")

    pmid = PMID.fullmatch(said("PMID"))
    groups = tuple(Author(collective=one_line(name)) for name in entry.get("CN", []))
    return _article(
        pmid=pmid[0] if pmid else "",
        title=said("TI", "BTI", "TT"),
        abstract=said("AB"),
        types=[one_line(kind) for kind in entry.get("PT", [])],
        noted=[kind for tag, kind in NOTED.items() if tag in entry],
        date=_medline_date(said("DP")),
        journal=said("JT", "BTI") if "TI" in entry else "",
        iso_abbreviation=said("TA"),
        language=said("LA"),
        volume=said("VI"),
        issue=said("IP"),
        pages=said("PG"),
        authors=(*(Author(last=one_line(name)) for name in entry.get("AU", entry.get("FAU", []))), *groups),
        doi=_doi(said("LID"), " ".join(entry.get("AID", []))),
        pmcid=said("PMC"),
    )


def _medline_date(said: str) -> str:
    """``2020 Mar 7`` as ISO; a range or a season is its year."""
    year, month, day = (*said.split(), "", "", "")[:3]
    known = month.lower() in MONTHS
    return iso_date("-".join(filter(None, (year, str(MONTHS.index(month.lower()) + 1), day))) if known else year)


def _doi(*places: str) -> str:
    """The first DOI in some texts; "" for none."""
    found = DOI.search(" ".join(places))
    return found[0] if found else ""


def _article(
    *, title: str, abstract: str, types: Sequence[str], date: str, language: str, noted: Sequence[str] = (), **more: Any
) -> Article:
    code = LANGUAGES.get(language.lower()[:3], language.lower().partition("-")[0])
    return Article(
        title=title,
        abstract=abstract,
        publication_types=tuple(dict.fromkeys(types)),
        status=status_of(types, noted, title),
        level=level_of(types, title),
        date=date,
        year=int(date[:4]) if date else None,
        language=code if re.fullmatch("[a-z]{2}", code) else language_of(abstract),
        **more,
    )
