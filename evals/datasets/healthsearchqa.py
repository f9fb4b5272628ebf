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
from typing import Any, Literal
from xml.etree.ElementTree import ParseError

from pydantic import Field

from evals.datasets.releases import (
    Conversion,
    Converted,
    Entry,
    Found,
    Member,
    Original,
    Record,
    csv_entries,
    named,
    read_files,
)
from prompts.errors import DataError

FILE = "questions/healthsearchqa.jsonl"
HEADINGS = ("question", "questions")
SUBSET = "subset"
RELATIONSHIP = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
LARGEST_PART = 50_000_000  # ours: bytes of one unpacked part; a sheet of three thousand questions is below 1 MB


class SearchedQuestion(Record):
    """A question. ``part``: ``all``, or ``rated`` for one of the subset, which stands among all as well."""

    part: Literal["all", "rated"]
    question: str = Field(min_length=1)


def read(path: Path) -> Found:
    """The questions of the workbook, of a CSV file, or of a folder of these."""
    return read_files(path, named(".xlsx", ".csv"), _questions)


def convert(records: Iterator[SearchedQuestion], conversion: Conversion) -> Converted:
    """All questions once, each with whether people rated it."""
    rows = list(records)
    rated = {row.question for row in rows if row.part == "rated"}
    once: dict[str, SearchedQuestion] = {}
    for row in sorted(rows, key=lambda row: row.part):
        once.setdefault(row.question, row)
    conversion.leave_out("a question that stood before", len(rows) - len(once))
    for row in once.values():
        yield FILE, {"id": f"hsqa-{row.id}", "question": row.question, "rated": row.question in rated}


def _questions(member: Member) -> Found:
    if member.name.lower().endswith(".csv"):
        part = "rated" if SUBSET in member.stem.lower() else "all"
        yield from csv_entries(member, frozenset({"question"}), lambda entry: _placed(entry, part))
        return
    for sheet, entry in workbook_entries(member):
        text = entry.value["question"].strip()
        if text and not (entry.line == 1 and text.casefold() in HEADINGS):
            yield _placed(entry, "all" if sheet == 0 else "rated")


def _placed(entry: Entry, part: str) -> Any:
    question = entry.value["question"].strip()
    return entry.placed(SearchedQuestion, id=f"{part}-{entry.line}", part=part, question=question)


# As much of Office Open XML as a sheet of questions needs: rows of a workbook, the first cell as text.


def workbook_entries(member: Member) -> Iterator[tuple[int, Entry]]:
    """The sheet (from 0) and the first cell of every row of every sheet; raises DataError for what is no workbook."""
    try:
        with zipfile.ZipFile(io.BytesIO(member.data())) as book:
            shared = [_text(e) for e in _elements(_part(book, "xl/sharedStrings.xml"), "si")]
            for at, part in enumerate(_sheets(book)):
                for row in _elements(_part(book, part), "row"):
                    yield at, Entry(member, int(row.get("r", "0")), (), {"question": _first(row, shared)})
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, LookupError, ValueError, ParseError) as error:
        raise DataError(f"No Excel workbook ({error}).", "Fetch it again.") from error


def _part(book: zipfile.ZipFile, name: str) -> Any:
    """A part of the workbook; one without shared strings is as one that shares none."""
    from defusedxml.ElementTree import fromstring

    if name == "xl/sharedStrings.xml" and name not in book.namelist():
        return fromstring("<sst/>")
    if book.getinfo(name).file_size > LARGEST_PART:
        raise DataError(f"{name} is larger than {LARGEST_PART // 1_000_000} MB.", "Save the sheet as CSV.")
    return fromstring(book.read(name), forbid_dtd=True)


def _sheets(book: zipfile.ZipFile) -> list[str]:
    links = _elements(_part(book, "xl/_rels/workbook.xml.rels"), "Relationship")
    targets = {e.get("Id"): e.get("Target", "") for e in links}
    ids = [e.get(RELATIONSHIP) for e in _elements(_part(book, "xl/workbook.xml"), "sheet")]
    return [posixpath.normpath(posixpath.join("/xl", targets[key])).lstrip("/") for key in ids]


def _first(row: Any, shared: list[str]) -> str:
    cells = [c for c in _elements(row, "c") if str(c.get("r", "A")).rstrip("0123456789") == "A"]
    if not cells:
        return ""
    if cells[0].get("t") == "inlineStr":
        return _text(cells[0])
    value = next((v.text or "" for v in _elements(cells[0], "v")), "")
    return shared[int(value)] if cells[0].get("t") == "s" and value else value


def _text(element: Any) -> str:
    return "".join(t.text or "" for t in _elements(element, "t"))


def _elements(element: Any, name: str) -> Iterator[Any]:
    return (e for e in element.iter() if e.tag.rpartition("}")[2] == name)


ORIGINAL = Original("healthsearchqa", "the supplementary workbook, or its copies as CSV", read, convert)
