"""The files that a mirror is made of: what they are, in which order, and whether they are what they should be."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from prompts.errors import DataError, InputError
from tools.mirror.mesh import ROOT as MESH_ROOT
from tools.mirror.xml_stream import root_of
from tools.readers import files
from tools.readers.files import open_bytes, read_faults

ALL_VERSIONS = 2**31  # more than any PMID has

HEAD = 65_536  # ours: bytes in which a format shows itself
BLOCK = 2**20  # bytes hashed at a time
NAME = re.compile(r"pubmed(\d\d)n(\d{4,})\.xml", re.IGNORECASE)  # NLM: year of the baseline, running number
PUBTATOR = re.compile(rb"\d+\|[ta]\|")
MD5 = re.compile(r"\b[0-9a-f]{32}\b", re.IGNORECASE)
RECORD_ROOTS = ("PubmedArticleSet", "PubmedBookArticleSet", "PubmedArticle", "PubmedBookArticle", "DeleteCitation")
FORMATS = "PubMed XML, PubTator, JSON lines and NLM's MeSH descriptor file can be imported, packed with gzip or not."


class Format(StrEnum):
    """The formats of files."""

    PUBMED = "PubMed XML"
    PUBTATOR = "PubTator"
    JSON_LINES = "JSON lines"
    MESH = "MeSH descriptors"


def in_order(paths: Sequence[Path]) -> list[Path]:
    """Files in the order in which they are applied: NLM's by year and number, after all others as they were given."""
    return sorted(paths, key=lambda path: number_of(path.name) or (0, 0))


def number_of(name: str) -> tuple[int, int] | None:
    """Year and number of a file that has NLM's kind of name (``pubmed26n0001.xml.gz``), else None."""
    match = NAME.match(name)
    return (int(match[1]), int(match[2])) if match else None


def format_of(path: Path) -> Format:
    """What a file is, by what it begins with. Raises DataError for anything else, and when it cannot be read."""
    try:
        files.check(path)
    except DataError as error:
        raise DataError(f"{path.name}: {error.what}", error.advice) from error
    with read_faults(path.name), open_bytes(path) as file:
        head = file.read(HEAD).removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:1] == b"<":
        root = root_of(path)
        if root in (*RECORD_ROOTS, MESH_ROOT):
            return Format.MESH if root == MESH_ROOT else Format.PUBMED
        raise DataError(f"{path.name} is XML with the root {root[:40]}, no format known here.", FORMATS)
    if head[:1] == b"{":
        return Format.JSON_LINES
    if PUBTATOR.match(head):
        return Format.PUBTATOR
    raise DataError(f"{path.name} is in no format known here.", FORMATS)


def checked_sha256(path: Path) -> str:
    """The sha256 of a file; an ``.md5`` beside it is compared first.

    Raises:
        DataError: the file is not the one that the md5 names, or cannot be read.
    """
    sha256, md5 = hashlib.sha256(), hashlib.md5(usedforsecurity=False)
    with read_faults(path.name):
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                sha256.update(block)
                md5.update(block)
        beside = path.with_name(f"{path.name}.md5")
        told = MD5.search(beside.read_text(encoding="ascii", errors="replace")) if beside.is_file() else None
    if beside.is_file() and (told is None or told[0].lower() != md5.hexdigest()):
        raise DataError(f"{path.name} is not what {beside.name} says.", "Fetch the file and its .md5 anew.")
    return sha256.hexdigest()


def check_names(paths: Sequence[Path]) -> None:
    """Raise InputError for a name that occurs twice: the mirror knows a file by its name."""
    names = [path.name for path in paths]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"{twice[0]} is given twice.", "Give each file once.")


def is_pmid(text: str) -> bool:
    """Whether a text may be a PMID."""
    return text.isascii() and text.isdecimal() and len(text) <= 12  # ours: PMIDs have eight digits


def now() -> str:
    """The present moment, UTC, ISO, to the second."""
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
