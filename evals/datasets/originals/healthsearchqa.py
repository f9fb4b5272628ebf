"""HealthSearchQA: questions that people put to a search engine, without answers.

Formats: the supplementary workbook of Singhal et al. 2023 (41586_2023_6291_MOESM6_ESM.xlsx: its first sheet, "All
HealthSearchQA Questions", has a question a row in the first column; its second those that people rated), known from
code that reads it; and the copy katielink/healthsearchqa (all.csv and multimedqa140_subset.csv with id and question,
the id of some rows empty). A first row that reads "question" or "questions" is a heading.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field

from evals.datasets.originals.contract import Conversion, Converted, Found, Original, Problem, Row, placed
from evals.datasets.originals.csv_rows import csv_rows
from evals.datasets.originals.members import Member, members
from evals.datasets.originals.xlsx_rows import xlsx_rows
from prompts.errors import DataError

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
