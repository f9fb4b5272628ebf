"""Rows of CSV files as they stream in, each with the line where it begins."""

from __future__ import annotations

import csv
import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from evals.datasets.originals.contract import Problem
from evals.datasets.originals.members import Member


class CsvRow(NamedTuple):
    """A row by its columns."""

    line: int
    cells: Mapping[str, str]


def csv_rows(member: Member, columns: frozenset[str]) -> Iterator[CsvRow | Problem]:
    """The rows of a file with a header; rows without any text are passed over, as blank lines are.

    Args:
        columns: those that must be there; a header without them ends the file with a problem.
    """
    try:
        with member.open() as file:
            text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
            yield from _rows(member.name, csv.reader(text, strict=True), columns)
    except UnicodeDecodeError:
        yield Problem(member.name, 0, "The text is not UTF-8; what follows was not read.")
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError) as error:
        yield Problem(member.name, 0, f"The file cannot be read ({error}).")


def _rows(name: str, lines: Any, columns: frozenset[str]) -> Iterator[CsvRow | Problem]:
    header: list[str] = []
    line = 1
    try:
        for cells in lines:
            if not header:
                header = [cell.strip() for cell in cells]
                if not columns <= set(header):
                    yield Problem(name, 1, f"The header lacks {', '.join(sorted(columns - set(header)))}.")
                    return
            elif len(cells) != len(header) and any(cells):
                yield Problem(name, line, f"{len(cells)} cells where the header has {len(header)}.")
            elif any(cell.strip() for cell in cells):
                yield CsvRow(line, dict(zip(header, cells, strict=True)))
            line = lines.line_num + 1
    except csv.Error as error:
        yield Problem(name, line, f"No valid CSV ({error}); what follows was not read.")
        return
    if not header:
        yield Problem(name, 0, "The file has no header.")
