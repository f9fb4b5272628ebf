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


class Manifest(Frozen):
    """A mirror in short.

    Attributes:
        records: live records. generation: the number of the last commit.
        newest_published, newest_entered: the latest dates, ISO, "" when no record has one.
    """

    format: int
    generation: int
    records: int
    segments: int
    newest_published: str
    newest_entered: str
    sources: tuple[Source, ...]


def read_manifest(database: sqlite3.Connection, snapshot: Snapshot) -> Manifest:
    """The manifest of the mirror as it stands."""
    live = numbers(snapshot.live)
    sources = database.execute("SELECT name, records, at FROM sources ORDER BY name").fetchall()
    return Manifest(
        format=FORMAT,
        generation=snapshot.generation,
        records=len(live),
        segments=int(database.execute("SELECT count(*) FROM segments").fetchone()[0]),
        newest_published=_iso(int(snapshot.published[live].max(initial=0))),
        newest_entered=_iso(int(snapshot.entered[live].max(initial=0))),
        sources=tuple(Source(name=name, records=records, at=at) for name, records, at in sources),
    )


def _iso(day: int) -> str:
    return f"{day // 10_000:04d}-{day // 100 % 100:02d}-{day % 100:02d}" if day else ""
