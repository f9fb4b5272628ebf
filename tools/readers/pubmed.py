"""PubMed records in XML, as efetch and the baseline files give them: one at a time, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO
from xml.etree.ElementTree import Element, ParseError

from prompts.errors import DataError
from tools.literature.article import Article
from tools.literature.publications import parse_record
from tools.readers.contract import Problem, Record, Section
from tools.readers.files import Metered, open_bytes, problem, read_faults
from tools.readers.normal import normalise, one_line

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
                yield from _records(file)
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


def _records(file: IO[bytes]) -> Iterator[Record | Problem]:
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
