"""Adding, replacing and deleting records; one transaction a batch."""

from __future__ import annotations

import contextlib
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from prompts.errors import InputError
from tools.files import locked
from tools.mirror.database import FILE, connect_writer, guarded
from tools.mirror.entries import entry
from tools.mirror.records import MirrorRecord
from tools.mirror.segments import Inverter, Segment, due, join, pack, unpack
from tools.mirror.sources import ALL_VERSIONS, is_pmid, now
from tools.mirror.stored import pack_record

Deletion = tuple[int, int]  # a PMID, and the highest version of it that goes; ALL_VERSIONS for every one


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[Writer]:
    """A writer on the mirror in ``folder``, made when there is none; one at a time across processes.

    Raises:
        DataError: the mirror is damaged, of another format, or held by another writer for too long.
    """
    with locked(folder / FILE):
        database = connect_writer(folder)
        try:
            with guarded(folder):
                yield Writer(database)
        finally:
            database.close()


class Writer:
    """Writes batches; get one from `writing`."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database

    @property
    def base(self) -> int:
        """The number that the next document gets."""
        return int(self.database.execute("SELECT documents FROM state").fetchone()[0])

    def add(self, records: Iterable[MirrorRecord], source: str) -> int:
        """Add a batch in one transaction, replacing records of the same PMID; returns how many were replaced.

        Raises:
            InputError: a record whose PMID is no number; nothing of the batch is then kept.
        """
        unique = {r.pmid: r for r in map(_checked, records)}.values()
        inverter = Inverter()
        items = [inverter.item(entry(r), 1, pack_record(r)) for r in unique]
        return self.write(inverter.segment(self.base, items), (), source) if items else 0

    def write(
        self,
        segment: Segment,
        deletions: Sequence[Deletion],
        source: str,
        also: Callable[[sqlite3.Connection, int], None] | None = None,
    ) -> int:
        """Delete, then add a segment, in one transaction; returns how many records were replaced.

        A record is not replaced by an older version of its PMID.

        Args:
            also: what belongs to the same transaction; gets the connection and how many records were deleted.
        """
        with self.transaction() as database:
            newest, documents = database.execute(
                "SELECT (SELECT coalesce(max(segment), 0) FROM segments), documents FROM state"
            ).fetchone()
            if documents != segment.base:
                raise ValueError(f"the segment begins at {segment.base}, the mirror ends at {documents}")
            number = int(newest) + 1 if segment.size else int(newest)
            deleted = self._bury(number, deletions)
            older = self._older(segment)
            replaced = self._bury(number, [(pmid, version) for _, pmid, version, _ in segment.records])
            if segment.size:
                self._insert(number, segment, older)
                self._kill(number, [*segment.unused, *older])
            self._count(source, len(segment.records) - len(older))
            if also is not None:
                also(database, deleted)
        return replaced

    def delete(self, pmids: Iterable[str]) -> int:
        """Delete records by PMID in one transaction; returns how many there were."""
        with self.transaction() as database:
            newest = database.execute("SELECT coalesce(max(segment), 0) FROM segments").fetchone()[0]
            return self._bury(int(newest), [(int(p), ALL_VERSIONS) for p in pmids if p.isdecimal()])

    def compact(self, *, whole: bool) -> None:
        """Join segments that are due to be, in one transaction; with ``whole`` also the words' positions."""
        segments = due(self.database, whole=whole)
        if segments:
            with self.transaction() as database:
                join(database, segments)
                if whole:
                    database.execute("INSERT INTO positions (positions) VALUES ('optimize')")

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is kept, or nothing."""
        self.database.execute("BEGIN IMMEDIATE")
        try:
            yield self.database
            self.database.execute("UPDATE state SET generation = generation + 1")
            self.database.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self.database.execute("ROLLBACK")
            raise

    def _bury(self, segment: int, versions: Iterable[Deletion]) -> int:
        """Remove stored records up to a version, and list their numbers as dead; returns how many there were."""
        find = "SELECT document FROM records WHERE pmid = ? AND version <= ?"
        found = [row[0] for asked in versions for row in self.database.execute(find, asked)]
        self.database.executemany("DELETE FROM records WHERE document = ?", ((d,) for d in found))
        self._kill(segment, found)
        return len(found)

    def _kill(self, segment: int, documents: Sequence[int]) -> None:
        if documents:
            before = self.database.execute("SELECT documents FROM dead WHERE segment = ?", (segment,)).fetchone()
            dead = unpack([*(before or ()), pack(array("I", sorted(documents)))])
            self.database.execute("REPLACE INTO dead VALUES (?, ?)", (segment, pack(dead.to_array())))

    def _older(self, segment: Segment) -> set[int]:
        """The numbers of records of which a later version is stored."""
        find = "SELECT 1 FROM records WHERE pmid = ? AND version > ?"
        rows = segment.records
        return {n for n, pmid, version, _ in rows if self.database.execute(find, (pmid, version)).fetchone()}

    def _insert(self, number: int, segment: Segment, older: set[int]) -> None:
        self._many("records", 4, (row for row in segment.records if row[0] not in older))
        self._many("positions (rowid, title, abstract, keywords, subjects, rest)", 6, segment.texts)
        self._many("words", 4, ((number, *row) for row in segment.words))
        self._many("keys", 4, ((number, *row) for row in segment.keys))
        self.database.executemany("INSERT OR IGNORE INTO headings VALUES (?, ?)", sorted(segment.headings.items()))
        self._many("segments", 7, [(number, segment.base, segment.size, *segment.arrays)])
        self.database.execute("UPDATE state SET documents = documents + ?", (segment.size,))

    def _count(self, source: str, records: int) -> None:
        self.database.execute(
            "INSERT INTO sources VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET "
            "records = records + excluded.records, at = excluded.at",
            (source, records, now()),
        )

    def _many(self, table: str, columns: int, rows: Iterable[tuple[Any, ...]]) -> None:
        self.database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})", rows)


def _checked(record: MirrorRecord) -> MirrorRecord:
    if not is_pmid(record.pmid):
        raise InputError(f"'{record.pmid[:20]}' is no PMID.", "A PMID is a number.")
    return record
