"""JSON lines: one document an object, read line by line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

from pydantic import ValidationError

from prompts.errors import DataError
from tools.literature.article import level_of, status_of
from tools.readers.contract import Problem, Record
from tools.readers.files import BLOCK, name_of, open_bytes, problem, read_faults
from tools.readers.layout import Layout
from tools.readers.normal import iso_date, normalise, one_line, own_id
from tools.text.language import language_of

TEXTS = ("text", "abstract", "contents")  # the first that holds text is the document
LONGEST = 20_000_000  # ours: bytes of a line; a book is below 5 MB
LANGUAGE = re.compile(r"^[a-z]{2}$")
CONTENT = re.compile(rb"\S[^\n]*")
KEYS = "Each line is an object with title and one of text, abstract or contents."
ADVICE = f"Mend the line and add the file again. {KEYS}"


class JsonLinesReader:
    """Reads objects with ``title``, ``text`` (or ``abstract``, ``contents``), and as far as they are there ``id``,
    ``pmid``, ``pmcid``, ``year``, ``date``, ``publication_types``, ``language``; other keys are ignored. A line with
    ``record`` is a `Record` as it was written (`tools.knowledge.staging`)."""

    suffixes = (".jsonl", ".jsonl.gz", ".ndjson")

    def read(self, path: Path, skip: int = 0) -> Iterator[Record | Problem]:
        """A record a line, and a problem with its number for each line that is none.

        Args:
            skip: so many of the first lines that are not blank are passed over unread.
        """
        name = name_of(path)
        number, good = 0, bool(skip)
        try:
            with read_faults(), open_bytes(path) as file:
                for number, line in islice(_lines(file), skip, None):
                    found = _line(line, number, name)
                    if number == 1 and isinstance(found, Problem) and line.lstrip()[:1] == b"[":
                        advice = "Write one object a line, for example: jq -c '.[]' FILE."
                        yield Problem(where="", what="This is one JSON array, not lines of JSON.", advice=advice)
                        return
                    good = True
                    yield found
        except DataError as error:
            yield problem(error, f"after line {number}")
        else:
            if not good:
                yield Problem(where="", what="The file holds no line with anything in it.", advice=KEYS)


def _lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Every line that is not blank, with its number; of one too long, no more than its first part.

    Blank lines and blanks before a text cost next to nothing, however many they are.
    """
    number, rest, passing = 1, b"", False
    while block := file.read(BLOCK):
        if number == 1 and not rest:
            block = block.removeprefix(b"\xef\xbb\xbf")
        if passing:  # the rest of a line that was given already
            end = block.find(b"\n") + 1
            if not end:
                continue
            number, block, passing = number + 1, block[end:], False
        data, rest, at = rest + block, b"", 0
        for match in CONTENT.finditer(data):
            number += data.count(b"\n", at, match.start())
            at = match.start()
            if match.end() < len(data):
                yield number, match[0]
            elif len(match[0]) > LONGEST:
                passing = True
                yield number, match[0]
            else:
                rest = match[0]
        number += data.count(b"\n", at)
    if rest:
        yield number, rest


def _line(line: bytes, number: int, name: str) -> Record | Problem:
    where = f"line {number}"
    try:
        if len(line) > LONGEST:
            raise DataError(f"The line is longer than {LONGEST // 1_000_000} MB.", "Split the document.")
        row = _object(line)
        return Record.model_validate(row["record"]) if "record" in row else _record(row, name, number)
    except ValidationError as error:
        return Problem(where=where, what=f"The record is none: {error.errors()[0]['msg']}.", advice=ADVICE)
    except DataError as error:
        return problem(error, where)


def _object(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise DataError("The line is not UTF-8.", "Save the file as UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise DataError("The line is not JSON.", ADVICE) from error
    if not isinstance(row, dict):
        raise DataError("The line is not a JSON object.", ADVICE)
    return row


def _record(row: dict[str, Any], name: str, number: int) -> Record:
    key = next((k for k in TEXTS if row.get(k)), None)
    if key is None:
        raise DataError("The line has no text.", ADVICE)
    layout = Layout()
    for line in normalise(_text(row, key)).split("\n"):
        layout.paragraph((), line)
    text, sections = layout.finish()
    if not text:
        raise DataError("The line has no text.", ADVICE)
    title = one_line(_text(row, "title")) or f"{name}, line {number}"
    types = _types(row)
    status = status_of(types, (), title)
    language = _text(row, "language").strip().lower().split("-")[0]
    return Record(
        id=_id(row, key, name, title, text),
        title=title,
        text=text,
        kind="abstract" if key == "abstract" else "document",
        sections=sections,
        language=language if LANGUAGE.match(language) else language_of(text),
        date=iso_date(row.get("date")) or iso_date(row.get("year")),
        publication_types=types,
        status=status,
        level=level_of(types) if types else None,
    )


def _id(row: dict[str, Any], key: str, name: str, title: str, text: str) -> str:
    """PubMed's number only names its abstract, PubMed Central's only its full text."""
    pmid = _text(row, "pmid").strip()
    if key == "abstract":
        return f"pubmed:{pmid}" if pmid.isdigit() and pmid.isascii() else own_id(_text(row, "id") or name, title, text)
    pmcid = _text(row, "pmcid").strip().upper().removeprefix("PMC")
    if pmcid.isdigit() and pmcid.isascii():
        return f"pmc:PMC{pmcid}"
    return own_id(_text(row, "id") or (f"pmid-{pmid}" if pmid else name), title, text)


def _types(row: dict[str, Any]) -> tuple[str, ...]:
    said = row.get("publication_types") or ()
    types = [said] if isinstance(said, str) else said
    if not isinstance(types, (list, tuple)) or not all(isinstance(t, str) for t in types):
        raise DataError("publication_types is no list of texts.", ADVICE)
    return tuple(dict.fromkeys(one_line(t) for t in types if t.strip()))


def _text(row: dict[str, Any], key: str) -> str:
    value = row.get(key)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if key not in (*TEXTS, "title") and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise DataError(f"{key} is not a text.", ADVICE)
