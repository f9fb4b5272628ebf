"""Importing files into a mirror: in order, resumable, each batch kept as soon as it is written.

A transaction holds a batch's records and how far its file was read, so that after a kill the import goes on behind the
last batch and comes to the same mirror as one that was never interrupted. Batches are cut by the contents of the file
alone. What is read is understood in other processes; only this one writes.
"""

from __future__ import annotations

import gc
import os
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from prompts.errors import DataError, InputError
from tools.evidence import Frozen
from tools.mirror.entries import entry
from tools.mirror.mesh import read_descriptors, store_descriptors
from tools.mirror.reading import Read, Step, deletion, steps, understand
from tools.mirror.segments import Inverter, Item, Segment
from tools.mirror.sources import Format, check_names, checked_sha256, format_of, in_order, now, number_of
from tools.mirror.stored import pack_record, pack_xml
from tools.mirror.writer import Deletion, Writer, writing
from tools.readers.contract import Problem
from tools.workers import end_with_parent

# A batch of steps made a segment: the part of an import that runs in other processes.
TOLD_A_BATCH = 20  # ours: problems of a batch that are told in words; all are counted


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
