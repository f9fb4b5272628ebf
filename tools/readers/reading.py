"""The door to every reader: which one a file needs, by its suffix and for XML by its root element."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prompts.errors import DataError
from tools.readers.contract import Problem, Reader, Record
from tools.readers.files import check, problem
from tools.readers.jsonl import JsonLinesReader
from tools.readers.markdown import MarkdownReader
from tools.readers.pdf import PdfFileReader
from tools.readers.plain import PlainReader
from tools.readers.webpage import WebpageReader
from tools.readers.xml import XmlReader

READERS: tuple[Reader, ...] = (
    PlainReader(),
    MarkdownReader(),
    WebpageReader(),
    PdfFileReader(),
    XmlReader(),
    JsonLinesReader(),
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
            raise DataError(_unknown(path), f"These can be read: {', '.join(sorted(BY_SUFFIX))}.")
    except DataError as error:
        yield problem(error)
        return
    yield from reader.read(path)


def _unknown(path: Path) -> str:
    suffix = suffix_of(path)
    return f"Files of the kind {suffix} cannot be read." if suffix else "The file has no suffix that tells its kind."
