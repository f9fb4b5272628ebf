"""Chinese names of codes from a user's table (CSV with the columns ``code`` and ``name_zh``), compiled once.

The project ships no such table. A row that is no code and name is left out and told with its number in the file.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from prompts.errors import InputError
from tools.files import locked, write_atomic
from tools.icd10.contract import Depth, Name, at_depth
from tools.icd10.names import NO_DISEASE

ZH_FORMAT = 1  # raised when the compiled file changes its shape
COLUMNS = ["code", "name_zh"]
_CODE = re.compile(r"[A-Z]\d[0-9A-Z](?:\.[0-9a-zA-Z]+|x+\d*|[+*])?[0-9A-Za-z+*.]*")
_MORPHOLOGY = re.compile(r"M\d{4,}.*/")  # of a tumour's tissue, not of a disease


class BadRow(NamedTuple):
    """A row of the user's file that is left out, by its number (the heading is row 1), and why."""

    row: int
    what: str


class ChineseNames:
    """A user's table.

    Attributes:
        names: names of codes, in the order of the file. bad: rows that were left out.
    """

    def __init__(self, rows: list[list[str]], bad: list[BadRow]) -> None:
        self.names = [Name(code, text) for code, text in rows]
        self.bad = bad
        self._titles = {code.rstrip("+*"): text for code, text in reversed(rows)}
        self._codes = {at_depth(code, depth) for code, _ in rows for depth in _DEPTHS}

    def __len__(self) -> int:
        return len(self.names)

    def code(self, code: str, depth: Depth) -> str:
        """The code at a depth; "" when no row of the table lies under it."""
        found = at_depth(code, depth)
        return found if found in self._codes else ""

    def title(self, code: str) -> str:
        """The name of a category or subdivision; "" where the table has no row for it."""
        return self._titles.get(code, "") or self._titles.get(f"{code}.x", "")

    def diseases(self) -> list[Name]:
        """The names without external causes and reasons for contact with a health service."""
        return [name for name in self.names if name.code[0] not in NO_DISEASE]


_DEPTHS: tuple[Depth, ...] = ("category", "subdivision")


def open_chinese(source: Path, target: Path) -> ChineseNames:
    """The user's table by its compiled form, which is made anew when the file's bytes or the format changed.

    Raises:
        InputError: no such file, no text in UTF-8, other columns, or no usable row.
    """
    data = _bytes(source)
    key = {"format": ZH_FORMAT, "sha256": hashlib.sha256(data).hexdigest()}
    found = _read(target, key)
    if found is None:
        rows, bad = read_rows(data, source.name)
        with locked(target):
            document = {"key": key, "rows": rows, "bad": bad}
            write_atomic(target, json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())
        found = ChineseNames(rows, bad)
    return found


def read_rows(data: bytes, name: str) -> tuple[list[list[str]], list[BadRow]]:
    """The rows (code, name) of a table, and the rows that are none. Raises InputError as `open_chinese` does."""
    try:
        lines = csv.reader(io.StringIO(data.decode("utf-8-sig")), strict=True)
        numbered = [(number, row) for number, row in enumerate(lines, start=1) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{name} is no CSV in UTF-8.", "Save the table as UTF-8.") from error
    if not numbered or [c.strip().lower() for c in numbered[0][1]] != COLUMNS:
        raise InputError(f"{name} does not begin with the row code,name_zh.", "Give a table with these two columns.")
    rows: list[list[str]] = []
    bad: list[BadRow] = []
    for number, row in numbered[1:]:
        problem = _problem(row)
        if problem:
            bad.append(BadRow(number, problem))
        elif not _MORPHOLOGY.match(row[0].strip()):
            rows.append([row[0].strip(), row[1].strip()])
    if not rows:
        raise InputError(f"{name} has no row with an ICD-10 code and a name.", "Give a table with codes and names.")
    return rows, bad


def _problem(row: list[str]) -> str:
    if len(row) != len(COLUMNS):
        return f"{len(row)} columns instead of {len(COLUMNS)}"
    code, name = row[0].strip(), row[1].strip()
    if not name:
        return "no name"
    if _MORPHOLOGY.match(code):
        return ""
    return "" if _CODE.fullmatch(code) else f"no ICD-10 code: {code[:20]!r}"


def _bytes(source: Path) -> bytes:
    try:
        return source.read_bytes()
    except OSError as error:
        raise InputError(
            f"The table of Chinese names {source} cannot be read.", "Set ANAMNESIS_ICD10_ZH to a CSV (code,name_zh)."
        ) from error


def _read(target: Path, key: dict[str, Any]) -> ChineseNames | None:
    try:
        stored = json.loads(target.read_bytes())
        if stored["key"] != key:
            return None
        return ChineseNames(stored["rows"], [BadRow(*row) for row in stored["bad"]])
    except (OSError, ValueError, KeyError, TypeError):
        return None  # missing or damaged: the user's file is the source
