"""Adding, replacing and deleting records; one transaction a batch."""

from __future__ import annotations

import contextlib
import sqlite3
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from prompts.errors import InputError
from tools.files import locked
from tools.mirror.database import FILE, connect_writer, guarded
from tools.mirror.entries import Entry, entry
from tools.mirror.postings import pack, unpack
from tools.mirror.records import MirrorRecord
from tools.mirror.segments import Inverted
from tools.mirror.words import key

COMPRESSION = 1  # zlib's fastest: half the size at a tenth of the time of its default


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
        self._database = database

    def add(self, records: Iterable[MirrorRecord], source: str) -> int:
        """Add a batch in one transaction, replacing records of the same PMID; returns how many were replaced.

        Raises:
            InputError: a record whose PMID is no number; nothing of the batch is then kept.
        """
        entries = [entry(r) for r in {r.pmid: r for r in map(_checked, records)}.values()]
        if not entries:
            return 0
        with self._transaction() as database:
            segment, base = database.execute(
                "SELECT coalesce((SELECT max(segment) FROM segments), 0) + 1, documents FROM state"
            ).fetchone()
            replaced = self._bury(segment, [int(e.record.pmid) for e in entries])
            self._insert(segment, base, entries)
            database.execute("UPDATE state SET documents = documents + ?", (len(entries),))
            database.execute(
                "INSERT INTO sources VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET "
                "records = records + excluded.records, at = excluded.at",
                (source, len(entries), f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"),
            )
        return replaced

    def delete(self, pmids: Iterable[str]) -> int:
        """Delete records by PMID in one transaction; returns how many there were."""
        with self._transaction() as database:
            newest = database.execute("SELECT coalesce(max(segment), 0) FROM segments").fetchone()[0]
            return self._bury(int(newest), [int(p) for p in pmids if p.isdecimal()])

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield self._database
            self._database.execute("UPDATE state SET generation = generation + 1")
            self._database.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self._database.execute("ROLLBACK")
            raise

    def _bury(self, segment: int, pmids: Sequence[int]) -> int:
        """Remove stored records and list their numbers as dead; returns how many there were."""
        find = "SELECT document FROM records WHERE pmid = ?"
        found = [row[0] for pmid in pmids for row in self._database.execute(find, (pmid,))]
        if found:
            before = self._database.execute("SELECT documents FROM dead WHERE segment = ?", (segment,)).fetchone()
            dead = unpack([*(before or ()), pack(array("I", sorted(found)))])
            self._database.executemany("DELETE FROM records WHERE document = ?", ((d,) for d in found))
            self._database.execute("REPLACE INTO dead VALUES (?, ?)", (segment, pack(dead.to_array())))
        return len(found)

    def _insert(self, segment: int, base: int, entries: Sequence[Entry]) -> None:
        inverted = Inverted(base, entries)
        self._many("records", 3, ((n, int(e.record.pmid), packed(e.record)) for n, e in enumerate(entries, base)))
        texts = ((n, *map(" ".join, e.columns)) for n, e in enumerate(entries, base))
        self._many("positions (rowid, title, abstract, keywords, subjects, rest)", 6, texts)
        self._many("words", 9, ((segment, *row) for row in inverted.word_rows()))
        self._many("keys", 3, ((segment, *row) for row in inverted.key_rows()))
        names = {key(name): name for e in entries for name in e.headings}
        self._database.executemany("INSERT OR IGNORE INTO headings VALUES (?, ?)", sorted(names.items()))
        arrays = (inverted.pmids, inverted.published, inverted.entered, inverted.lengths)
        self._many("segments", 7, [(segment, base, len(entries), *arrays)])

    def _many(self, table: str, columns: int, rows: Iterable[tuple[Any, ...]]) -> None:
        self._database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})", rows)


def packed(record: MirrorRecord) -> bytes:
    """A record as it is stored: JSON without what is empty, compressed."""
    return zlib.compress(record.model_dump_json(exclude_defaults=True).encode(), COMPRESSION)


def _checked(record: MirrorRecord) -> MirrorRecord:
    if not (record.pmid.isascii() and record.pmid.isdecimal() and len(record.pmid) <= 12):
        raise InputError(f"'{record.pmid[:20]}' is no PMID.", "A PMID is a number.")
    return record
