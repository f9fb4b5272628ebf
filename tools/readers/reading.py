"""The door to every reader: which one a file needs, by its suffix and for XML by its root element."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast
from xml.etree.ElementTree import ParseError

from prompts.errors import DataError
from tools.readers.bibliographic import NbibReader, PubmedReader, RisReader
from tools.readers.contract import Problem, Reader, Record
from tools.readers.files import Metered, check, open_bytes, problem, read_faults
from tools.readers.jats import JatsReader
from tools.readers.jsonl import JsonLinesReader
from tools.readers.pdf import PdfFileReader
from tools.readers.plain import MarkdownReader, PlainReader
from tools.readers.webpage import WebpageReader

ARTICLES = {"article", "pmc-articleset"}
RECORDS = {"PubmedArticleSet", "PubmedArticle", "PubmedBookArticleSet", "PubmedBookArticle", "DeleteCitation"}
WHOLE = "Fetch it anew, or save it as well-formed XML."
PROLOG = 1_000_000  # ours: bytes before the root element's end; declarations and comments there take a few hundred
HEAD = 4096  # ours: bytes in which a web page shows itself


class XmlReader:
    """JATS articles and PubMed records."""

    suffixes = (".xml", ".nxml", ".xml.gz", ".nxml.gz")

    def read(self, path: Path) -> Iterator[Record | Problem]:
        """The records of a file, by the reader of its vocabulary."""
        try:
            root = root_of(path)
        except DataError as error:
            yield problem(error)
            return
        if root in ARTICLES:
            yield from JatsReader().read(path)
        elif root in RECORDS:
            yield from PubmedReader().read(path)
        else:
            advice = "JATS articles (root article) and PubMed records (root PubmedArticleSet) can be read."
            yield Problem(where="", what=f"The XML has the root {root}, which is no format known here.", advice=advice)


def root_of(path: Path) -> str:
    """The name of the root element, its namespace left out.

    Raises:
        DataError: a web page, no XML, XML cut before its first element, or one that declares entities.
    """
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import iterparse

    try:
        with read_faults(), open_bytes(path) as file:
            head = file.read(HEAD)
            if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:14].lower().startswith((b"<!doctype html", b"<html")):
                raise DataError("This is a web page, not XML.", "Save it as .html, or fetch the XML anew.")
            joined = Metered(cast(IO[bytes], _Joined(head, file)), WHOLE, PROLOG, "What stands before the root")
            for _, element in iterparse(joined, events=("start",)):
                return str(element.tag).rpartition("}")[2]
    except DefusedXmlException as error:
        raise DataError(
            "The XML declares entities, which are not expanded.", "Save it without a DTD of its own."
        ) from error
    except ParseError as error:
        raise DataError(f"This is not well-formed XML: {error}.", WHOLE) from error
    except (ValueError, LookupError) as error:
        raise DataError("The XML is in an encoding that is not known.", "Save it as UTF-8.") from error
    raise DataError("The XML has no element.", WHOLE)


class _Joined(io.RawIOBase):
    """What was read already, then the rest of the file."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        super().__init__()
        self._head, self._rest = head, rest

    def read(self, size: int = -1) -> bytes:
        head, self._head = self._head, b""
        return head or self._rest.read(size)


READERS: tuple[Reader, ...] = (
    PlainReader(),
    MarkdownReader(),
    WebpageReader(),
    PdfFileReader(),
    XmlReader(),
    JsonLinesReader(),
    RisReader(),
    NbibReader(),
)
BY_SUFFIX: dict[str, Reader] = {suffix: reader for reader in READERS for suffix in reader.suffixes}


def suffixes() -> frozenset[str]:
    """The suffixes that can be read, in lower case; ``.xml.gz`` and the like with both their parts."""
    return frozenset(BY_SUFFIX)


def suffix_of(path: Path) -> str:
    """The suffix that decides, in lower case: both parts of ``.xml.gz``, else the last; "" for none."""
    parts = [s.lower() for s in path.suffixes]
    return "".join(parts[-2:]) if parts[-1:] == [".gz"] else "".join(parts[-1:])


def read(path: Path) -> Iterator[Record | Problem]:
    """The records of a file and its problems, in order; at least one of either.

    Never raises for what a file holds, nor for one that is missing, may not be read, or is a folder.
    """
    reader = BY_SUFFIX.get(suffix_of(path))
    try:
        check(path)
        if reader is None:
            raise DataError(unknown_kind(path), f"These can be read: {', '.join(sorted(BY_SUFFIX))}.")
    except DataError as error:
        yield problem(error)
        return
    yield from reader.read(path)


def unknown_kind(path: Path) -> str:
    """Why a file that no reader takes is not read, by its suffix."""
    suffix = suffix_of(path)
    return f"Files of the kind {suffix} cannot be read." if suffix else "The file has no suffix that tells its kind."


# A file read in a process of its own, which may take so much time and memory and no more.
# For files of strangers: what a reader does not survive ends that process, and is told as a problem of the file.

SECONDS = 60.0  # ours: a book of 1,000 pages takes 20
MEMORY = 2 * 1024**3  # ours: bytes of address space; a PDF of 200 MB, the largest that is read, takes half of it
READ = "from tools.readers.reading import tell; tell()"
SMALLER = "Save it again from its source, split it, or save its text as a file of plain text."


def read_apart(path: Path, *, seconds: float = SECONDS) -> list[Record | Problem]:
    """The records of a file and its problems, in order, at least one of either; blocks as long as reading takes."""
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter, our own module
            [sys.executable, "-c", READ, str(path)],
            capture_output=True,
            timeout=seconds,
            check=False,
            env=None,
        )
    except subprocess.TimeoutExpired:
        return [problem(DataError(f"Reading it took more than {seconds:.0f} seconds.", SMALLER))]
    if done.returncode != 0:
        return [problem(DataError("Reading it took more memory or time than a document may.", SMALLER))]
    kinds: dict[str, type[Record] | type[Problem]] = {"record": Record, "problem": Problem}
    told = (json.loads(line) for line in done.stdout.decode().splitlines())
    return [kinds[line["is"]].model_validate(line["value"]) for line in told]


def tell() -> None:
    """Read the file that the command line names, and write a line of JSON a record or problem."""
    with contextlib.suppress(ImportError):  # not on Windows: there the time alone is bounded
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (int(SECONDS), int(SECONDS)))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    for found in read(Path(sys.argv[1])):
        kind = "record" if isinstance(found, Record) else "problem"
        sys.stdout.write(json.dumps({"is": kind, "value": found.model_dump(mode="json")}) + "\n")
