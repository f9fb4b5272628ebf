"""HealthSearchQA: questions that people put to a search engine, without answers.

Formats: the supplementary workbook of Singhal et al. 2023 (41586_2023_6291_MOESM6_ESM.xlsx: its first sheet, "All
HealthSearchQA Questions", has a question a row in the first column; its second those that people rated), known from
code that reads it; and the copy katielink/healthsearchqa (all.csv and multimedqa140_subset.csv with id and question,
the id of some rows empty). A first row that reads "question" or "questions" is a heading.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple
from xml.etree.ElementTree import ParseError

from pydantic import Field

from evals.datasets.originals.contract import Conversion, Converted, Found, Original, Problem, Row, placed
from evals.datasets.originals.csv_rows import csv_rows
from evals.datasets.originals.members import Member, bytes_of, members
from prompts.errors import DataError

# Rows of an Excel workbook, cells as text: as much of Office Open XML as a sheet of questions needs.
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


FILE = "questions/healthsearchqa.jsonl"
HEADINGS = ("question", "questions")
SUBSET = "subset"


class SearchedQuestion(Row):
    """A question. ``part``: ``all``, or ``rated`` for one of the subset, which stands among all as well."""

    part: Literal["all", "rated"]
    question: str = Field(min_length=1)


def read(path: Path) -> Found:
    """The questions of the workbook, of a CSV file, or of a folder of these."""
    for member in members(path, lambda name: name.lower().endswith((".xlsx", ".csv"))):
        if isinstance(member, Problem):
            yield member
        elif member.name.lower().endswith(".xlsx"):
            yield from _workbook(member)
        else:
            yield from _table(member)


def convert(records: Iterator[Row], conversion: Conversion) -> Converted:
    """All questions once, each with whether people rated it."""
    rows = [row for row in records if isinstance(row, SearchedQuestion)]
    rated = {row.question for row in rows if row.part == "rated"}
    seen: set[str] = set()
    for row in sorted(rows, key=lambda row: row.part):
        if row.question in seen:
            conversion.leave_out("a question that stood before")
            continue
        seen.add(row.question)
        yield FILE, {"id": f"hsqa-{row.id}", "question": row.question, "rated": row.question in rated}


def _workbook(member: Member) -> Found:
    try:
        for row in xlsx_rows(member):
            text = row.text.strip()
            if text and not (row.number == 1 and text.casefold() in HEADINGS):
                part = "all" if row.sheet == 0 else "rated"
                values = {"id": f"{part}-{row.number}", "part": part, "question": text}
                yield placed(SearchedQuestion, values, member.name, row.number)
    except DataError as error:
        yield Problem(member.name, 0, f"{error.what} {error.advice}")


def _table(member: Member) -> Found:
    part = "rated" if SUBSET in member.stem.lower() else "all"
    for row in csv_rows(member, frozenset({"question"})):
        if isinstance(row, Problem):
            yield row
        else:
            values = {"id": f"{part}-{row.line}", "part": part, "question": row.cells["question"].strip()}
            yield placed(SearchedQuestion, values, member.name, row.line)


ORIGINAL = Original("healthsearchqa", "the supplementary workbook, or its copies as CSV", read, convert)
