"""Records as the mirror stores them: PubMed's own XML where it came as XML, else the fields that were given.

The XML is kept whole, so that a client gets what PubMed gave, fields included that the mirror itself does not search.
"""

from __future__ import annotations

import zlib
from xml.etree.ElementTree import Element, ParseError, fromstring

from pydantic import ValidationError

from prompts.errors import DataError
from tools.literature.article import Article
from tools.literature.publications import parse_record
from tools.mirror.article_xml import record_xml
from tools.mirror.database import AGAIN
from tools.mirror.records import MirrorRecord
from tools.readers.contract import Problem

COMPRESSION = 1  # zlib's fastest: less than half the size at a tenth of the time of its default
XML = b"<"  # what XML begins with, and JSON never


def pack_record(record: MirrorRecord) -> bytes:
    """A record as JSON without what is empty, compressed."""
    return zlib.compress(record.model_dump_json(exclude_defaults=True).encode(), COMPRESSION)


def pack_xml(xml: bytes) -> bytes:
    """A PubmedArticle or PubmedBookArticle element, compressed."""
    return zlib.compress(xml, COMPRESSION)


def element_of(xml: bytes) -> Element:
    """The element of a record that `tools.mirror.pubmed_files` has cut out. Raises ParseError.

    Such bytes have neither DTD nor entities: files that declare entities are refused there.
    """
    return fromstring(xml)  # noqa: S314


def read_article(xml: bytes) -> tuple[Article, str] | Problem:
    """The article of a record's XML with its citation status (``MEDLINE``, ...), or why there is none."""
    try:
        element = element_of(xml)
    except ParseError as error:
        return Problem(where="", what=f"The record is not well-formed: {error}.", advice="Fetch it anew.")
    article = parse_record(element)
    if isinstance(article, Problem):
        return article
    citation = element.find("MedlineCitation")
    return article, "" if citation is None else citation.get("Status", "")


def record_of(article: Article, indexing: str) -> MirrorRecord:
    """The searched fields of an article that came as XML: a language that it does not name is not known."""
    return MirrorRecord.of(article, indexing).model_copy(update={"languages": article.languages})


class Stored:
    """A stored record. Raises DataError for bytes that are none."""

    def __init__(self, stored: bytes) -> None:
        try:
            self._data = zlib.decompress(stored)
        except zlib.error as error:
            raise _damaged() from error

    @property
    def original(self) -> bytes | None:
        """PubMed's XML as it was imported, None for a record that came in another form."""
        return self._data if self._data.startswith(XML) else None

    def xml(self) -> bytes:
        """A PubmedArticle or PubmedBookArticle element, UTF-8, without declaration."""
        return self.original or record_xml(self.record())

    def record(self) -> MirrorRecord:
        """The fields that the mirror searches."""
        if self.original is None:
            try:
                return MirrorRecord.model_validate_json(self._data)
            except ValidationError as error:
                raise _damaged() from error
        return record_of(*self._parsed())

    def article(self) -> Article:
        """The whole record, as efetch gives it to the literature tool."""
        return self.record().article() if self.original is None else self._parsed()[0]

    def _parsed(self) -> tuple[Article, str]:
        found = read_article(self._data)
        if isinstance(found, Problem):
            raise _damaged()
        return found


def _damaged() -> DataError:
    return DataError("A record of the mirror is damaged.", AGAIN)
