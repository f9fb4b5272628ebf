"""What a file says, as steps: a record to add or a PMID to delete, in the order of the file."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from prompts.errors import DataError
from tools.literature.article import status_of
from tools.mirror.article_xml import ILLEGAL
from tools.mirror.records import MeshHeading, MirrorRecord
from tools.mirror.sources import ALL_VERSIONS, Format, is_pmid
from tools.mirror.stored import read_article, record_of
from tools.mirror.xml_stream import ANEW, elements
from tools.readers.contract import Problem
from tools.readers.files import PACKED, open_bytes
from tools.readers.normal import iso_date

RECORDS = ("PubmedArticle", "PubmedBookArticle")
DELETION = "DeleteCitation"
LONGEST = 20_000_000  # ours: bytes of a line or of a PubTator record; a record is below 100 kB
TITLE_LINE = re.compile(r"(\d{1,12})\|t\|(.*)")
ABSTRACT_LINE = re.compile(r"(\d{1,12})\|a\|(.*)")
TEXTS = ("abstract", "text", "contents")  # the first that is there
LINE = "A line is an object with pmid, title and abstract."
MEND = f"Mend the line and import the file again. {LINE}"


class Step(NamedTuple):
    """A record's bytes in the file's own format, or a deletion (``PMID version``); ``number`` is its place there."""

    kind: Literal["record", "deletion"]
    data: bytes
    number: int


class Read(NamedTuple):
    """A record that was read: its searched fields, the version of its PMID, and PubMed's XML when it came as that."""

    record: MirrorRecord
    version: int
    xml: bytes | None


def steps(path: Path, format: Format) -> Iterator[Step]:
    """The steps of a file of records, cut but not yet understood. Raises DataError for what cannot be read on."""
    if format is Format.PUBMED:
        yield from _pubmed(path)
        return
    cut = _lines if format is Format.JSON_LINES else _blocks
    try:
        with open_bytes(path) as file:
            yield from (Step("record", data, number) for number, data in cut(file))
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise DataError(f"{path.name} is a damaged packed file, or cut off.", PACKED) from error
    except OSError as error:
        raise DataError(f"{path.name} cannot be read: {error.strerror or error}.", ANEW) from error


def understand(step: Step, format: Format) -> Read | Problem:
    """The record of a step, or why it is none."""
    if format is Format.PUBMED:
        return _of_xml(step)
    where = f"{'line' if format is Format.JSON_LINES else 'record'} {step.number}"
    try:
        return _of_line(step.data) if format is Format.JSON_LINES else Read(_of_pubtator(step.data), 1, None)
    except DataError as error:
        return Problem(where=where, what=error.what, advice=error.advice)


def deletion(step: Step) -> tuple[int, int]:
    """The PMID of a deletion, and the highest version that goes."""
    pmid, _, version = step.data.decode().partition(" ")
    return int(pmid), int(version) if version else ALL_VERSIONS


def _pubmed(path: Path) -> Iterator[Step]:
    from lxml.etree import tostring

    number = 0
    for element in elements(path, (*RECORDS, DELETION)):
        if element.tag == DELETION:
            for pmid in element.iterfind("PMID"):
                text, version = (pmid.text or "").strip(), (pmid.get("Version") or "").strip()
                number += 1
                if is_pmid(text):
                    yield Step("deletion", f"{text} {version}".strip().encode(), number)
        else:
            number += 1
            yield Step("record", tostring(element, encoding="utf-8", with_tail=False), number)


def _of_xml(step: Step) -> Read | Problem:
    found = read_article(step.data)
    if isinstance(found, Problem):
        return found.model_copy(update={"where": f"record {step.number}"})
    article, indexing = found
    if not is_pmid(article.pmid):
        return Problem(where=f"record {step.number}", what=f"'{article.pmid[:20]}' is no PMID.", advice=ANEW)
    return Read(record_of(article, indexing), article.version, step.data)


def _lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    number = 0
    while line := file.readline(LONGEST + 1):
        number += 1
        rest = line
        while len(rest) > LONGEST and not rest.endswith(b"\n"):
            rest = file.readline(LONGEST + 1)
        if line.strip():
            yield number, line


def _blocks(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """PubTator's records: lines up to an empty one."""
    number, block = 0, b""
    for _, line in _with_blank(file):
        if line.strip():
            block += line if len(block) <= LONGEST else b""
        elif block:
            number += 1
            yield number, block
            block = b""
    if block:
        yield number + 1, block


def _with_blank(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    number = 0
    while line := file.readline(LONGEST + 1):
        number += 1
        yield number, line


def _of_pubtator(data: bytes) -> MirrorRecord:
    title = abstract = pmid = ""
    for line in _decoded(data).splitlines():
        first, second = TITLE_LINE.match(line), ABSTRACT_LINE.match(line)
        if first:
            pmid, title = first[1], _clean(first[2])
        elif second:
            pmid, abstract = pmid or second[1], _clean(second[2])
    if not pmid:
        raise DataError("The record has no title line.", "A record begins with PMID|t|title.")
    return MirrorRecord(pmid=str(int(pmid)), title=title, abstract=abstract)


def _of_line(data: bytes) -> Read:
    """A line of `mirror export`, or an object with pmid, title, abstract, year, date, publication_types, mesh, ..."""
    row = _object(data)
    if isinstance(row.get("xml"), str):
        found = _of_xml(Step("record", row["xml"].encode(), 0))
        if isinstance(found, Problem):
            raise DataError(found.what, found.advice)
        return found
    pmid = str(row.get("pmid") or "").strip()
    if not is_pmid(pmid):
        raise DataError("The line has no PMID, by which a mirror knows a record.", MEND)
    types = _texts(row, "publication_types")
    title = _clean(_text(row, "title"))
    given = {name: row[name] for name in MirrorRecord.model_fields if name in row}
    given |= {
        "pmid": str(int(pmid)),
        "title": title,
        "abstract": _abstract(row),
        "date": iso_date(row.get("date")) or iso_date(row.get("year")),
        "publication_types": types,
        "mesh": _mesh(row.get("mesh")),
        "status": row.get("status") or status_of(types, (), title),
    }
    return Read(_validated(given), 1, None)


def _validated(given: dict[str, Any]) -> MirrorRecord:
    from pydantic import ValidationError

    given = {name: value for name, value in given.items() if value is not None}
    try:
        return MirrorRecord.model_validate(given)
    except ValidationError as error:
        wrong = error.errors()[0]
        raise DataError(f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg']}.", MEND) from error


def _object(data: bytes) -> dict[str, Any]:
    if len(data) > LONGEST:
        raise DataError(f"The line is longer than {LONGEST // 1_000_000} MB.", "Split the document.")
    try:
        row = json.loads(_decoded(data))
    except (ValueError, RecursionError) as error:
        raise DataError("The line is not JSON.", MEND) from error
    if not isinstance(row, dict):
        raise DataError("The line is not a JSON object.", MEND)
    return row


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError("This is not UTF-8.", "Save the file as UTF-8.") from error


def _abstract(row: dict[str, Any]) -> str:
    name = next((name for name in TEXTS if row.get(name)), "")
    lines = map(_clean, _text(row, name).split("\n")) if name else ()
    return "\n".join(filter(None, lines))


def _mesh(value: object) -> tuple[MeshHeading, ...]:
    """Headings as `mirror export` writes them, or their names alone."""
    from pydantic import ValidationError

    if value is not None and not isinstance(value, list):
        raise DataError("mesh is no list.", MEND)
    try:
        return tuple(
            MeshHeading(name=_clean(h)) if isinstance(h, str) else MeshHeading.model_validate(h) for h in value or ()
        )
    except ValidationError as error:
        raise DataError("mesh holds something that is no heading.", MEND) from error


def _texts(row: dict[str, Any], name: str) -> tuple[str, ...]:
    said = row.get(name) or ()
    listed = [said] if isinstance(said, str) else said
    if not isinstance(listed, list | tuple) or not all(isinstance(t, str) for t in listed):
        raise DataError(f"{name} is no list of texts.", MEND)
    return tuple(dict.fromkeys(filter(None, map(_clean, listed))))


def _text(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    raise DataError(f"{name} is not a text.", MEND)


def _clean(text: str) -> str:
    """One line with single spaces, without what XML cannot hold."""
    return " ".join(ILLEGAL.sub(" ", text).split())
