"""Records as the mirror stores them (PubMed's own XML where it came so, else fields), and all of them at one moment.

The XML is kept whole, so that a client gets what PubMed gave, fields included that the mirror itself does not search.
"""

from __future__ import annotations

import sqlite3
import zlib
from dataclasses import dataclass
from xml.etree.ElementTree import Element, ParseError, fromstring

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from prompts.errors import DataError
from tools.evidence import Frozen
from tools.literature.article import Article
from tools.literature.publications import parse_record
from tools.mirror.article_xml import record_xml
from tools.mirror.database import AGAIN, FORMAT
from tools.mirror.records import MirrorRecord
from tools.mirror.segments import BitMap, numbers, unpack
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


# What every search needs of a mirror at one moment: PMIDs, dates, lengths and live documents, by document number.

LOOKED_AT = 100  # ours: records of the newest day whose date is read, so that this takes milliseconds


# What a mirror holds: how many records, how new, and from where.
class Source(Frozen):
    """Where records came from: how many were added under this name, and when last (UTC, ISO)."""

    name: str
    records: int
    at: str


class AppliedFile(Frozen):
    """A file that was imported, or is being: its checksum, what it gave, and when it was last written (UTC, ISO)."""

    name: str
    sha256: str
    bytes: int
    records: int
    deleted: int
    unread: int
    done: bool
    at: str


class Manifest(Frozen):
    """A mirror in short.

    Attributes:
        records: live records. generation: the number of the last commit. bytes: of the database.
        newest_published, newest_entered: the latest dates, ISO, as precise as their records are, "" when none has one.
        updated: when records were last added (UTC, ISO), "" when never. descriptors: MeSH terms known.
        files: in the order in which they were applied.
    """

    format: int
    generation: int
    records: int
    segments: int
    newest_published: str
    newest_entered: str
    sources: tuple[Source, ...]
    updated: str = ""
    bytes: int = 0
    descriptors: int = 0
    files: tuple[AppliedFile, ...] = ()


def read_manifest(database: sqlite3.Connection, snapshot: Snapshot) -> Manifest:
    """The manifest of the mirror as it stands."""
    live = numbers(snapshot.live)
    sources = database.execute("SELECT name, records, at FROM sources ORDER BY name").fetchall()
    files = database.execute(
        "SELECT name, sha256, bytes, records, deleted, unread, done, at FROM files ORDER BY begun, at, name"
    ).fetchall()
    return Manifest(
        format=FORMAT,
        generation=snapshot.generation,
        records=len(live),
        segments=_number(database, "SELECT count(*) FROM segments"),
        newest_published=_newest(database, snapshot.pmids[live], snapshot.published[live], "date"),
        newest_entered=_newest(database, snapshot.pmids[live], snapshot.entered[live], "entered"),
        sources=tuple(Source(name=name, records=records, at=at) for name, records, at in sources),
        updated=max((at for _, _, at in sources), default=""),
        bytes=_number(database, "PRAGMA page_count") * _number(database, "PRAGMA page_size"),
        descriptors=_number(database, "SELECT count(*) FROM descriptors"),
        files=tuple(AppliedFile(**dict(zip(AppliedFile.model_fields, row, strict=True))) for row in files),
    )


def _number(database: sqlite3.Connection, query: str) -> int:
    return int(database.execute(query).fetchone()[0])


def _newest(database: sqlite3.Connection, pmids: npt.NDArray[np.int64], days: npt.NDArray[np.int32], field: str) -> str:
    """The latest of some days. A first of a month may stand for a month or a year, so its records are looked at."""
    day = int(days.max(initial=0))
    if not day:
        return ""
    whole = f"{day // 10_000:04d}-{day // 100 % 100:02d}-{day % 100:02d}"
    if day % 100 != 1:
        return whole
    find = "SELECT record FROM records WHERE pmid = ?"
    of_day = pmids[days == day][:LOOKED_AT].tolist()
    said = (getattr(Stored(row[0]).record(), field) for p in of_day for row in database.execute(find, (p,)))
    return max((text for text in said if text and whole.startswith(text)), key=len, default=whole)


COLUMNS = (("pmids", np.int64), ("published", np.int32), ("entered", np.int32), ("lengths", np.int32))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A generation of the mirror; arrays of shape (documents,), dead ones included.

    Attributes:
        pmids: int64. published, entered: int32, YYYYMMDD or 0. lengths: int32, words of title and abstract.
        live: the documents that are not dead. mean_length: over the live ones.
    """

    generation: int
    pmids: npt.NDArray[np.int64]
    published: npt.NDArray[np.int32]
    entered: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.int32]
    live: BitMap
    mean_length: float


def generation(database: sqlite3.Connection) -> int:
    """The number of the last commit."""
    row = database.execute("SELECT generation FROM state").fetchone()
    if row is None:
        raise DataError("The mirror has lost its state.", AGAIN)
    return int(row[0])


def read_snapshot(database: sqlite3.Connection) -> Snapshot:
    """Read the arrays; raises DataError when they do not fit together. 22 bytes a document."""
    number = generation(database)
    segments = database.execute(
        "SELECT base, size, pmids, published, entered, lengths FROM segments ORDER BY segment"
    ).fetchall()
    total = 0
    for base, size, *blobs in segments:
        fits = all(len(b) == size * np.dtype(t).itemsize for b, (_, t) in zip(blobs, COLUMNS, strict=True))
        if base != total or not fits:
            raise DataError("The mirror's segments do not fit together.", AGAIN)
        total += size
    parts = [b"".join(s[n] for s in segments) for n in range(2, 2 + len(COLUMNS))]
    pmids, published, entered, lengths = (np.frombuffer(p, dtype=t) for p, (_, t) in zip(parts, COLUMNS, strict=True))
    live = BitMap(range(total)) - unpack(row[0] for row in database.execute("SELECT documents FROM dead"))
    mean = float(lengths[np.frombuffer(live.to_array(), dtype=np.uint32)].mean()) if live else 1.0
    return Snapshot(number, pmids, published, entered, lengths, live, max(mean, 1.0))
