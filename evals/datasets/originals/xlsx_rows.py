"""Rows of an Excel workbook, cells as text: as much of Office Open XML as a sheet of questions needs.

Format: ECMA-376, part 1 (SpreadsheetML): sheets in xl/workbook.xml, their parts by relationship id in
xl/_rels/workbook.xml.rels, texts in xl/sharedStrings.xml or inline.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple
from xml.etree.ElementTree import ParseError

from evals.datasets.originals.members import Member, bytes_of
from prompts.errors import DataError

RELATIONSHIP = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
LARGEST_PART = 50_000_000  # ours: bytes of one unpacked part; a sheet of three thousand questions is below 1 MB


class SheetRow(NamedTuple):
    """A row: its sheet (from 0), its number in the sheet, and the text of its first cell."""

    sheet: int
    number: int
    text: str


def xlsx_rows(member: Member) -> Iterator[SheetRow]:
    """The first cell of every row of every sheet, in order; raises DataError for what is no workbook."""
    try:
        with zipfile.ZipFile(io.BytesIO(bytes_of(member))) as book:
            shared = _shared(book)
            for at, part in enumerate(_sheets(book)):
                for row in _elements(_part(book, part), "row"):
                    yield SheetRow(at, int(row.get("r", "0")), _first(row, shared))
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, LookupError, ValueError, ParseError) as error:
        raise DataError(f"No Excel workbook ({error}).", "Fetch it again.") from error


def _part(book: zipfile.ZipFile, name: str) -> Any:
    from defusedxml.ElementTree import fromstring

    if book.getinfo(name).file_size > LARGEST_PART:
        raise DataError(f"{name} is larger than {LARGEST_PART // 1_000_000} MB.", "Save the sheet as CSV.")
    return fromstring(book.read(name), forbid_dtd=True)


def _sheets(book: zipfile.ZipFile) -> list[str]:
    targets = {
        e.get("Id"): e.get("Target", "") for e in _elements(_part(book, "xl/_rels/workbook.xml.rels"), "Relationship")
    }
    ids = [e.get(RELATIONSHIP) for e in _elements(_part(book, "xl/workbook.xml"), "sheet")]
    return [posixpath.normpath(posixpath.join("/xl", targets[key])).lstrip("/") for key in ids]


def _shared(book: zipfile.ZipFile) -> list[str]:
    if "xl/sharedStrings.xml" not in book.namelist():
        return []
    return [
        "".join(t.text or "" for t in _elements(e, "t")) for e in _elements(_part(book, "xl/sharedStrings.xml"), "si")
    ]


def _first(row: Any, shared: list[str]) -> str:
    cells = [c for c in _elements(row, "c") if str(c.get("r", "A")).rstrip("0123456789") == "A"]
    if not cells:
        return ""
    if cells[0].get("t") == "inlineStr":
        return "".join(t.text or "" for t in _elements(cells[0], "t"))
    value = next((v.text or "" for v in _elements(cells[0], "v")), "")
    return shared[int(value)] if cells[0].get("t") == "s" and value else value


def _elements(element: Any, name: str) -> Iterator[Any]:
    return (e for e in element.iter() if e.tag.rpartition("}")[2] == name)
