"""MedBrowseComp: questions about trials, medicines and approvals that take several look-ups, with short answers.

Format: the repository shan23chen/MedBrowseComp: data/final50.csv and final121.csv with prompt, gold and a third column
that names the kind of answer; the prompt stands in quotation marks with \\n for a new line. The files are also given
encoded, each cell with its characters shifted by three and then as base64 (README.md, "Data File Encoding/Decoding";
data/encode_decode.py): the header shows which it is.
"""

from __future__ import annotations

import base64
import binascii
import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import Field

from evals.datasets.originals.contract import Conversion, Converted, Found, Original, Problem, Row, placed
from evals.datasets.originals.members import Member, members, text_of
from prompts.errors import DataError

FILE = "questions/medbrowsecomp.jsonl"
SHIFT = 3  # code: data/encode_decode.py, the default
HEADER = ("prompt", "gold")
TRIAL = re.compile(r"NCT\d{8}")


class BrowsedQuestion(Row):
    """A question with its short answer; ``trial`` is the registration that it starts from, "" for none."""

    kind: str
    prompt: str = Field(min_length=1)
    gold: str = Field(min_length=1)
    trial: str = ""


def read(path: Path) -> Found:
    """The questions of a file, plain or encoded, or of a folder of them."""
    for member in members(path, lambda name: name.lower().endswith(".csv")):
        if isinstance(member, Problem):
            yield member
        else:
            yield from _questions(member)


def convert(records: Iterator[Row], conversion: Conversion) -> Converted:
    """The questions with their answers."""
    del conversion
    for row in records:
        yield FILE, row.model_dump(mode="json")


def decoded(cell: str) -> str:
    """A cell of an encoded file; raises ValueError for one that is not."""
    try:
        shifted = base64.b64decode(cell.encode(), validate=True).decode()
    except (binascii.Error, UnicodeError) as error:
        raise ValueError("no encoded cell") from error
    return "".join(chr(ord(c) - SHIFT) for c in shifted)


def encoded(cell: str) -> str:
    """A cell as the release encodes it."""
    return base64.b64encode("".join(chr(ord(c) + SHIFT) for c in cell).encode()).decode()


def _questions(member: Member) -> Found:
    try:
        lines = csv.reader(io.StringIO(text_of(member)), strict=True)
        header, plain = _header(next(lines, []))
        start = lines.line_num + 1
        for cells in lines:
            if any(cells):
                yield from _question(member, start, header, cells if plain else [decoded(c) for c in cells])
            start = lines.line_num + 1
    except DataError as error:
        yield Problem(member.name, 0, f"{error.what} {error.advice}")
    except (csv.Error, ValueError) as error:
        yield Problem(member.name, 0, f"The file cannot be read on ({error}).")


def _header(cells: list[str]) -> tuple[list[str], bool]:
    plain = tuple(cells[:2]) == HEADER
    header = cells if plain else [decoded(c) for c in cells]
    if tuple(header[:2]) != HEADER:
        raise ValueError("the header has no prompt and gold")
    return header, plain


def _question(member: Member, line: int, header: list[str], cells: list[str]) -> Found:
    if len(cells) != len(header):
        yield Problem(member.name, line, f"{len(cells)} cells where the header has {len(header)}.")
        return
    prompt = cells[0].strip()
    if len(prompt) > 1 and prompt[0] == prompt[-1] == '"':
        try:
            prompt = str(json.loads(prompt, strict=False))
        except json.JSONDecodeError:
            prompt = prompt[1:-1]
    trial = TRIAL.search(prompt)
    values = {"id": f"{member.stem}-{line}", "kind": cells[2] if len(cells) > 2 else "", "prompt": prompt}
    yield placed(
        BrowsedQuestion, values | {"gold": cells[1].strip(), "trial": trial[0] if trial else ""}, member.name, line
    )


ORIGINAL = Original("medbrowsecomp", "final50.csv, final121.csv, plain or encoded", read, convert)
