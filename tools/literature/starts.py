"""Starts that several processes take from one place: the data folder's file, or the site's database."""

from __future__ import annotations

import contextlib
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from prompts.errors import ServiceError
from tools.files import private_file
from tools.postgres_line import PostgresLine

FAR = 300.0  # ours: seconds; a start that lies further ahead was reserved by a clock that was set back since
GONE = 600.0  # ours: seconds after which the place of a process that was not seen goes to another
FILE = "requests.sqlite"
WAIT = 1.0  # ours: seconds to wait for the file
LOOKS = 5  # ours: looks at the database's clock before the first start
BROKEN = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}


class SharedStarts(Protocol):
    """The starts of one server and key. Moments are seconds of `time.monotonic`; every method raises ServiceError."""

    def reserve(self) -> float:
        """Take the next start of all."""

    def held(self) -> float:
        """Until when nobody starts."""

    def hold(self, seconds: float) -> None:
        """Let nobody start for some seconds."""

    def place(self) -> int:
        """The place of this process among those that share, from 0; nobody else's while it asks every few minutes.

        It moves down when a lower one is free: after a rolling restart the places of those that went are in use again.
        """


class FileStarts:
    """Starts of the processes of one machine, in a SQLite file, by the machine's clock.

    The file is opened for each look: it is a matter of microseconds, and a file that somebody deletes is made again.

    Args:
        folder: where the file lies. name: of the server and key. gap: seconds between two starts.
    """

    def __init__(self, folder: Path, name: str, gap: float, wall: Callable[[], float] = time.time) -> None:
        self._file, self._name, self._gap, self._wall = folder / FILE, name, gap, wall
        self._id = uuid.uuid4().hex

    def reserve(self) -> float:
        """Take the next start, by the file's own lock."""
        with self._open() as (db, now):
            following, held = _row(db, self._name)
            start = max(now, following if following <= now + FAR else now)
            _keep(db, self._name, start + self._gap, held)
        return time.monotonic() + start - self._wall()

    def held(self) -> float:
        """Until when nobody starts."""
        with self._open() as (db, _):
            held = _row(db, self._name)[1]
        return time.monotonic() + held - self._wall()

    def hold(self, seconds: float) -> None:
        """Let nobody start for some seconds."""
        with self._open() as (db, now):
            following, held = _row(db, self._name)
            _keep(db, self._name, max(following, now + seconds), max(held, now + seconds))

    def place(self) -> int:
        """The lowest that is free."""
        with self._open() as (db, now):
            rows = db.execute("select place, process, seen from places where name = ?", (self._name,)).fetchall()
            taken = {place for place, process, seen in rows if process != self._id and seen > now - GONE}
            free = next(n for n in range(len(taken) + 1) if n not in taken)
            db.execute("insert or replace into places values (?, ?, ?, ?)", (self._name, free, self._id, now))
        return int(free)

    @contextlib.contextmanager
    def _open(self) -> Iterator[tuple[sqlite3.Connection, float]]:
        """A transaction that excludes all others, and the time in it."""
        try:
            private_file(self._file)
            with contextlib.closing(sqlite3.connect(self._file, timeout=WAIT, isolation_level=None)) as db:
                db.execute("pragma synchronous = off")  # what a power cut takes is not missed
                db.execute("begin immediate")
                db.execute("create table if not exists starts (name text primary key, following real, held real)")
                db.execute(
                    "create table if not exists places"
                    " (name text, place integer, process text, seen real, primary key (name, place))"
                )
                yield db, self._wall()
                db.execute("commit")
        except (sqlite3.Error, OSError) as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in BROKEN:
                with contextlib.suppress(OSError):  # else it stays, and fails again
                    self._file.unlink(missing_ok=True)  # the next look makes a new one
            raise ServiceError(
                f"The count of requests in {self._file} cannot be kept.", "Check that the data folder can be written."
            ) from error


def _row(db: sqlite3.Connection, name: str) -> tuple[float, float]:
    found = db.execute("select following, held from starts where name = ?", (name,)).fetchone()
    return (float(found[0]), float(found[1])) if found else (0.0, 0.0)


def _keep(db: sqlite3.Connection, name: str, following: float, held: float) -> None:
    db.execute("insert or replace into starts values (?, ?, ?)", (name, following, held))


NOW = "extract(epoch from clock_timestamp())::float8"
SCHEMA = """
create table if not exists request_starts
    (name text primary key, following float8 not null, held float8 not null default 0);
create table if not exists request_places
    (name text, place integer, process text not null, seen float8 not null, primary key (name, place));
"""
RESERVE = f"""
insert into request_starts as r (name, following) values (%(name)s, {NOW} + %(gap)s)
on conflict (name) do update set
    following = greatest({NOW}, case when r.following > {NOW} + {FAR} then 0 else r.following end) + %(gap)s
returning following - %(gap)s, {NOW}
"""
TIME = f"select 0, {NOW}"
HELD = f"select coalesce((select held from request_starts where name = %(name)s), 0), {NOW}"
HOLD = f"""
insert into request_starts as r (name, following, held) values (%(name)s, {NOW} + %(for)s, {NOW} + %(for)s)
on conflict (name) do update set
    following = greatest(r.following, {NOW} + %(for)s), held = greatest(r.held, {NOW} + %(for)s)
"""
ALONE = "select 1 from request_starts where name = %(name)s for update"  # one process takes a place at a time
PLACE = f"""
insert into request_places (name, place, process, seen)
select %(name)s, min(n), %(process)s, {NOW}
from generate_series(0, (select count(*)::int from request_places where name = %(name)s)) n
where not exists (select 1 from request_places p
                  where p.name = %(name)s and p.place = n and p.process <> %(process)s and p.seen > {NOW} - {GONE})
on conflict (name, place) do update set process = excluded.process, seen = excluded.seen
returning place
"""


class DatabaseStarts:
    """Starts of all workers of a site, in PostgreSQL, by the database's clock.

    That clock is read against this machine's own with the quickest answers, so that a slow one moves no start.

    Args:
        line: to the database, with `SCHEMA`. name: of the server and key. gap: seconds between two starts.
    """

    def __init__(self, line: PostgresLine, name: str, gap: float) -> None:
        self._line = line
        self._values = {"name": name, "gap": gap, "process": uuid.uuid4().hex}
        self._ahead: float | None = None  # of the database's clock before this machine's
        self._doubt = 0.0  # seconds by which that may be wrong

    def reserve(self) -> float:
        """Take the next start, in one statement."""
        return self._asked(RESERVE)

    def held(self) -> float:
        """Until when nobody starts."""
        return self._asked(HELD)

    def hold(self, seconds: float) -> None:
        """Let nobody start for some seconds."""
        self._line.ask(HOLD, {**self._values, "for": seconds})

    def place(self) -> int:
        """The lowest that is free."""
        return int(self._line.ask_all((ALONE, self._values), (PLACE, self._values))[0][0])

    def _asked(self, sql: str) -> float:
        """A moment of the database on this machine's clock."""
        if self._ahead is None:
            for _ in range(LOOKS):  # the first of them opens the connection
                self._look(TIME)
        moment = self._look(sql)
        return moment - (self._ahead or 0.0)

    def _look(self, sql: str) -> float:
        """A moment of the database, on its clock, which is read at the same time."""
        before = time.monotonic()
        moment, now = self._line.ask(sql, self._values)[0]
        after = time.monotonic()
        ahead, doubt = now - (before + after) / 2, (after - before) / 2
        if self._ahead is None or doubt <= self._doubt or abs(ahead - self._ahead) > doubt + self._doubt:
            self._ahead, self._doubt = ahead, doubt  # a quicker answer; or the clocks are not what they were
        return float(moment)
