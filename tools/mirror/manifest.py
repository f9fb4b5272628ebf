"""What a mirror holds: how many records, how new, and from where."""

from __future__ import annotations

import sqlite3

from tools.evidence import Frozen
from tools.mirror.database import FORMAT
from tools.mirror.postings import numbers
from tools.mirror.snapshot import Snapshot


class Source(Frozen):
    """Where records came from: how many were added under this name, and when last (UTC, ISO)."""

    name: str
    records: int
    at: str


class AppliedFile(Frozen):
    """A file that was imported, or is being: its checksum, what it gave, and when it was last written (UTC, ISO)."""

    name: str
    sha256: str
    bytes: int
    records: int
    deleted: int
    unread: int
    done: bool
    at: str


class Manifest(Frozen):
    """A mirror in short.

    Attributes:
        records: live records. generation: the number of the last commit. bytes: of the database.
        newest_published, newest_entered: the latest dates, ISO, "" when no record has one.
        updated: when records were last added (UTC, ISO), "" when never. descriptors: MeSH terms known.
        files: in the order in which they were applied.
    """

    format: int
    generation: int
    records: int
    segments: int
    newest_published: str
    newest_entered: str
    sources: tuple[Source, ...]
    updated: str = ""
    bytes: int = 0
    descriptors: int = 0
    files: tuple[AppliedFile, ...] = ()


def read_manifest(database: sqlite3.Connection, snapshot: Snapshot) -> Manifest:
    """The manifest of the mirror as it stands."""
    live = numbers(snapshot.live)
    sources = database.execute("SELECT name, records, at FROM sources ORDER BY name").fetchall()
    files = database.execute(
        "SELECT name, sha256, bytes, records, deleted, unread, done, at FROM files ORDER BY begun, at, name"
    ).fetchall()
    return Manifest(
        format=FORMAT,
        generation=snapshot.generation,
        records=len(live),
        segments=_number(database, "SELECT count(*) FROM segments"),
        newest_published=_iso(int(snapshot.published[live].max(initial=0))),
        newest_entered=_iso(int(snapshot.entered[live].max(initial=0))),
        sources=tuple(Source(name=name, records=records, at=at) for name, records, at in sources),
        updated=max((at for _, _, at in sources), default=""),
        bytes=_number(database, "PRAGMA page_count") * _number(database, "PRAGMA page_size"),
        descriptors=_number(database, "SELECT count(*) FROM descriptors"),
        files=tuple(AppliedFile(**dict(zip(AppliedFile.model_fields, row, strict=True))) for row in files),
    )


def _number(database: sqlite3.Connection, query: str) -> int:
    return int(database.execute(query).fetchone()[0])


def _iso(day: int) -> str:
    return f"{day // 10_000:04d}-{day // 100 % 100:02d}-{day % 100:02d}" if day else ""
