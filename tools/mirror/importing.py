"""Importing files into a mirror: in order, resumable, each batch kept as soon as it is written.

A transaction holds a batch's records and how far its file was read, so that after a kill the import goes on behind the
last batch and comes to the same mirror as one that was never interrupted. Batches are cut by the contents of the file
alone. What is read is understood in other processes; only this one writes.
"""

from __future__ import annotations

import gc
import json
import os
import re
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from prompts.errors import DataError, InputError
from tools.evidence import Frozen
from tools.files import end_with_parent
from tools.literature.article import status_of
from tools.mirror.article_xml import ILLEGAL
from tools.mirror.entries import entry
from tools.mirror.mesh import read_descriptors, store_descriptors
from tools.mirror.records import MeshHeading, MirrorRecord
from tools.mirror.segments import Inverter, Item, Segment
from tools.mirror.sources import (
    ALL_VERSIONS,
    Format,
    check_names,
    checked_sha256,
    format_of,
    in_order,
    is_pmid,
    now,
    number_of,
)
from tools.mirror.stored import pack_record, pack_xml, read_article, record_of
from tools.mirror.writer import Deletion, Writer, writing
from tools.mirror.xml_stream import ANEW, elements
from tools.readers.contract import Problem
from tools.readers.files import open_bytes, read_faults
from tools.readers.normal import iso_date

# A batch of steps made a segment: the part of an import that runs in other processes.
TOLD_A_BATCH = 20  # ours: problems of a batch that are told in words; all are counted


# What a file says, as steps: a record to add or a PMID to delete, in the order of the file.

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
    with read_faults(path.name), open_bytes(path) as file:
        yield from (Step("record", data, number) for number, data in cut(file))


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


class Prepared(NamedTuple):
    """A batch ready to be written.

    Attributes:
        steps: how many it was made of. unread: how many of them were no records; problems: the first of these.
    """

    segment: Segment
    deletions: tuple[Deletion, ...]
    steps: int
    unread: int
    problems: tuple[Problem, ...]


def prepare(base: int, batch: Sequence[Step], format: Format) -> Prepared:
    """Read and invert a batch. Every record step takes a document number, also one that is later taken back in it.

    A record replaces an earlier one of the same PMID unless that is of a later version; a deletion takes back what
    stands before it, here and in the mirror.
    """
    inverter = Inverter()
    items: list[Item | None] = []
    places: dict[int, int] = {}
    deletions: list[Deletion] = []
    problems: list[Problem] = []
    for step in batch:
        if step.kind == "deletion":
            gone = deletion(step)
            deletions.append(gone)
            _take_back(items, places, gone)
            continue
        read = understand(step, format)
        if isinstance(read, Problem):
            problems.append(read)
            items.append(None)
        else:
            _place(items, places, read, inverter)
    told = tuple(problems[:TOLD_A_BATCH])
    return Prepared(inverter.segment(base, items), tuple(deletions), len(batch), len(problems), told)


def _take_back(items: list[Item | None], places: dict[int, int], gone: Deletion) -> None:
    pmid, version = gone
    at = places.get(pmid)
    item = None if at is None else items[at]
    if at is not None and item is not None and item.version <= version:
        items[at] = None


def _place(items: list[Item | None], places: dict[int, int], read: Read, inverter: Inverter) -> None:
    pmid = int(read.record.pmid)
    before = places.get(pmid)
    earlier = None if before is None else items[before]
    if earlier is not None and earlier.version > read.version:
        items.append(None)
        return
    if before is not None:
        items[before] = None
    places[pmid] = len(items)
    stored = pack_record(read.record) if read.xml is None else pack_xml(read.xml)
    items.append(inverter.item(entry(read.record), read.version, stored))


BATCH = 10_000  # ours: steps a transaction; with the bytes below about 300 MB of memory in each process
BATCH_BYTES = 32_000_000  # ours: bytes of records a batch
TOLD = 100  # ours: problems of a file that are told in words; all are counted
WORKERS = max(1, min(2, (os.cpu_count() or 1)))  # ours: more would wait for the one process that writes

Progress = Callable[[str, int, int], None]


class Outcome(StrEnum):
    """What became of a file."""

    APPLIED = "applied"
    KNOWN = "already applied"


class FileReport(Frozen):
    """A file of an import: what it held, how many records could not be read, and the first of these problems."""

    name: str
    format: str
    outcome: Outcome
    sha256: str
    records: int = 0
    deleted: int = 0
    unread: int = 0
    problems: tuple[Problem, ...] = ()


def import_files(
    folder: Path,
    paths: Sequence[Path],
    *,
    progress: Progress | None = None,
    done: Callable[[FileReport], None] | None = None,
    workers: int = WORKERS,
) -> list[FileReport]:
    """Apply files to the mirror in ``folder``, which is made when there is none.

    NLM's files are applied by year and number. A file that was applied is left; one that is older than the latest
    applied one is refused, because it would bring back what was revised or deleted since.

    Args:
        progress: called with the file's name, its steps so far, and the records of the import so far.
        done: called with the report of each file as soon as it is applied, so that a later failure loses none.
        workers: processes that read; 0 reads in this one.

    Raises:
        InputError: a file twice, or one that comes too late.
        DataError: a file cannot be read, is damaged or not what its .md5 says. What was applied before stays.
    """
    ordered = in_order(paths)
    check_names(ordered)
    found = [(path, format_of(path)) for path in ordered]
    reports: list[FileReport] = []
    with writing(folder) as writer, _Pool(workers) as pool:
        for path, kind in found:
            reports.append(_apply(writer, pool, path, kind, progress))
            if done is not None:
                done(reports[-1])
        writer.compact(whole=True)
        writer.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return reports


def _apply(writer: Writer, pool: _Pool, path: Path, format: Format, progress: Progress | None) -> FileReport:
    sha256 = checked_sha256(path)
    row = writer.database.execute("SELECT position, done FROM files WHERE sha256 = ?", (sha256,)).fetchone()
    if row and row[1]:
        return FileReport(name=path.name, format=format, outcome=Outcome.KNOWN, sha256=sha256)
    _check_order(writer.database, path)
    if format is Format.MESH:
        return _apply_descriptors(writer, path, sha256)
    if row is None:
        _begin(writer, path, sha256)
    problems: list[Problem] = []
    read = int(row[0]) if row else 0
    batches = _batches(steps(path, format), read)
    for prepared in pool.prepared(writer.base, batches, format):
        writer.compact(whole=False)
        read += prepared.steps
        problems += prepared.problems
        writer.write(prepared.segment, prepared.deletions, path.name, _note(sha256, prepared))
        if progress is not None:
            progress(path.name, read, writer.base)
    return _finish(writer, path, format, sha256, problems)


def _check_order(database: sqlite3.Connection, path: Path) -> None:
    mine = number_of(path.name)
    numbers = [number_of(row[0]) for row in database.execute("SELECT name FROM files")]
    latest = max((n for n in numbers if n), default=None)
    if mine and latest and mine < latest:
        known = f"pubmed{latest[0]:02d}n{latest[1]:04d}"
        raise InputError(
            f"{path.name} is older than {known}, which was applied.", "Import it into a new mirror, with all after it."
        )


def _begin(writer: Writer, path: Path, sha256: str) -> None:
    """Note that a file is being applied; an unfinished one of the same name was another file, and is forgotten."""
    writer.database.execute("DELETE FROM files WHERE name = ? AND NOT done", (path.name,))
    begun = (sha256, path.name, path.stat().st_size, writer.base, now())
    writer.database.execute("INSERT INTO files VALUES (?, ?, ?, ?, 0, 0, 0, 0, 0, ?)", begun)


def _note(sha256: str, prepared: Prepared) -> Callable[[sqlite3.Connection, int], None]:
    def note(database: sqlite3.Connection, deleted: int) -> None:
        database.execute(
            "UPDATE files SET position = position + ?, records = records + ?, deleted = deleted + ?, "
            "unread = unread + ?, at = ? WHERE sha256 = ?",
            (prepared.steps, len(prepared.segment.records), deleted, prepared.unread, now(), sha256),
        )

    return note


def _finish(writer: Writer, path: Path, format: Format, sha256: str, problems: list[Problem]) -> FileReport:
    find = "SELECT records, deleted, unread, position FROM files WHERE sha256 = ?"
    records, deleted, unread, position = writer.database.execute(find, (sha256,)).fetchone()
    if not position:
        raise DataError(f"{path.name} holds no record.", "Fetch it anew.")
    writer.database.execute("UPDATE files SET done = 1, at = ? WHERE sha256 = ?", (now(), sha256))
    return FileReport(
        name=path.name, format=format, outcome=Outcome.APPLIED, sha256=sha256, records=records, deleted=deleted,
        unread=unread, problems=tuple(problems[:TOLD]),
    )  # fmt: skip


def _apply_descriptors(writer: Writer, path: Path, sha256: str) -> FileReport:
    with writer.transaction() as database:
        count = store_descriptors(database, read_descriptors(path))
        _begin(writer, path, sha256)
        database.execute("UPDATE files SET done = 1, records = ? WHERE sha256 = ?", (count, sha256))
    return FileReport(name=path.name, format=Format.MESH, outcome=Outcome.APPLIED, sha256=sha256, records=count)


def _batches(all_steps: Iterator[Step], skip: int) -> Iterator[list[Step]]:
    batch: list[Step] = []
    size = 0
    for step in islice(all_steps, skip, None):
        batch.append(step)
        size += len(step.data)
        if len(batch) >= BATCH or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class _Pool:
    """Reads batches in other processes, in order, a few ahead; the first batch of all is read here when it is alone."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._executor: ProcessPoolExecutor | None = None

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)

    def prepared(self, base: int, batches: Iterator[list[Step]], format: Format) -> Iterator[Prepared]:
        """The batches prepared, the first of them with its documents numbered from ``base`` on."""
        ahead = list(islice(batches, 2))
        if len(ahead) < 2 or not self._workers:
            for batch in chain(ahead, batches):
                yield prepare(base, batch, format)
                base += _numbers(batch)
            return
        waiting: deque[Future[Prepared]] = deque()
        for batch in chain(ahead, batches):
            waiting.append(self._submit(base, batch, format))
            base += _numbers(batch)
            if len(waiting) > self._workers:
                yield _result(waiting.popleft())
        while waiting:
            yield _result(waiting.popleft())

    def _submit(self, base: int, batch: list[Step], format: Format) -> Future[Prepared]:
        if self._executor is None:
            from multiprocessing import get_context

            # spawned, not forked: this process has threads and an open database
            self._executor = ProcessPoolExecutor(self._workers, get_context("spawn"), initializer=_begin_worker)
        return self._executor.submit(prepare, base, batch, format)


def _numbers(batch: Sequence[Step]) -> int:
    return sum(step.kind == "record" for step in batch)


def _result(future: Future[Prepared]) -> Prepared:
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise DataError("A process that reads was ended.", "Free some memory and import again; it goes on.") from error


def _begin_worker() -> None:
    end_with_parent()
    gc.disable()  # reading makes no cycles, and looking for them takes a seventh of its time
