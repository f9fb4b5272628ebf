"""When requests to a server may start: so many a second, of this process, a data folder or a whole site.

A start is taken first (`reserve`), waited for, and looked at once more just before the request is sent (`stands`):
whoever comes too late for its start takes another one, so that requests leave as they were spaced.

Where processes share, the shared count alone hands out starts. A process that cannot reach it first waits as long as
starts that the others have taken may lie ahead, and then starts only at its own places of the clock: of so many
(`workers`) places each process has one. When the count is back, everybody waits once more for such starts to be over.
Together they stay within the rate as long as the clocks agree to within `JITTER`. What this cannot hold off is one
process alone that lost the database while the others count on: it adds its share, one n-th of the rate.
"""

from __future__ import annotations

import hashlib
import math
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from prompts.errors import ServiceError
from tools.literature.failures import Reason, failure
from tools.literature.settings import LiteratureSettings
from tools.literature.shared_tables import PostgresTables, SharedTables, SqliteTables

WITHOUT_KEY, WITH_KEY = 3.0, 10.0  # NCBI's rules: requests a second
WINDOW = 1.0  # seconds, in which NCBI counts
# ours: seconds by which a request may arrive later than it started beside another that does not: lateness in this
# process (below), and the way, of which 99 in 100 took less than 0.09 s on a machine with six programs for each core.
# It is added to the window, so that no window at the receiver holds one more.
JITTER = 0.15
LATE = 0.05  # ours: seconds after its start in which a request may still be sent
TRIES = 30  # ours: starts that are taken before keeping one is given up
FAR = 300.0  # ours: seconds; a start that lies further ahead was reserved by a clock that was set back since
GONE = 600.0  # ours: seconds after which the place of a process that was not seen goes to another
SEEN = 60.0  # ours: seconds between two looks at the own place, well within `GONE`
SAME = 1e-3  # ours: seconds; the same moment, read twice by two clocks
LOOKS = 5  # ours: looks at the shared clock before the first start
FILE = "requests.sqlite"
IN_FILE = {"starts": "starts", "places": "places"}
IN_DATABASE = {"starts": "request_starts", "places": "request_places"}


class Limiter(Protocol):
    """Hands out starts. Each method may ask a database: call it from a thread. Safe to use from threads."""

    def reserve(self) -> float:
        """Take the next start; its moment on the clock. Raises ServiceError where none can be had."""

    def stands(self, start: float) -> bool:
        """Whether a request may be sent now under its start: it is not over, and no pause was asked for since."""

    def hold(self, seconds: float) -> None:
        """Let nobody start for some seconds: the server asked for it."""

    @property
    def alone(self) -> bool:
        """Whether this process keeps to a share of its own, because what it shares cannot be reached."""


def gap_of(per_second: float) -> float:
    """Seconds between two starts."""
    return (WINDOW + JITTER) / per_second


def wait_for_start(limiter: Limiter, given_up: threading.Event | None = None) -> bool:
    """Take a start and wait for it, in a thread; False where none could be kept, or the event was set meanwhile."""
    given_up = given_up or threading.Event()
    for _ in range(TRIES):
        start = limiter.reserve()
        if given_up.wait(max(0.0, start - time.monotonic())):
            return False
        if limiter.stands(start):
            return True
    return False


class RateLimiter:
    """Spaces the starts of one process.

    Args:
        per_second: requests a second.
        clock: seconds that only grow.
    """

    alone = False

    def __init__(self, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._gap = gap_of(per_second)
        self._clock = clock
        self._lock = threading.Lock()
        self._next = 0.0
        self._held = 0.0

    def reserve(self) -> float:
        """Take the next start."""
        with self._lock:
            start = max(self._clock(), self._next)
            self._next = start + self._gap
            return start

    def stands(self, start: float) -> bool:
        """Whether it is not over and not within a pause."""
        with self._lock:
            return self._held <= start and self._clock() <= start + LATE

    def hold(self, seconds: float) -> None:
        """Let nobody start for some seconds."""
        with self._lock:
            self._held = max(self._held, self._clock() + seconds)
            self._next = max(self._next, self._held)


SCHEMA = """
create table if not exists {starts}
    (name text primary key, following float8 not null, held float8 not null default 0);
create table if not exists {places}
    (name text, place integer, process text not null, seen float8 not null, primary key (name, place));
"""
RESERVE = f"""
insert into {{starts}} as r (name, following, held) values (%(name)s, {{now}} + %(gap)s, 0)
on conflict (name) do update set following =
    {{greatest}}({{now}}, case when r.following > {{now}} + {FAR} then 0 else r.following end) + %(gap)s
returning following - %(gap)s, {{now}}
"""
TIME = "select 0, {now}"
HELD = "select coalesce((select held from {starts} where name = %(name)s), 0), {now}"
HOLD = """
insert into {starts} as r (name, following, held) values (%(name)s, {now} + %(for)s, {now} + %(for)s)
on conflict (name) do update set
    following = {greatest}(r.following, {now} + %(for)s), held = {greatest}(r.held, {now} + %(for)s)
"""
ALONE = "select 1 from {starts} where name = %(name)s {wait_locked}"  # one process takes a place at a time
PLACE = f"""
insert into {{places}} (name, place, process, seen)
select %(name)s, min(n), %(process)s, {{now}}
from (select 0 as n union select place + 1 from {{places}} where name = %(name)s) as free
where not exists (select 1 from {{places}} p
                  where p.name = %(name)s and p.place = n and p.process <> %(process)s and p.seen > {{now}} - {GONE})
on conflict (name, place) do update set process = excluded.process, seen = excluded.seen
returning place
"""


class SharedStarts:
    """The starts of one server and key, in shared tables, by their clock, be it the machine's or the database's.

    Moments are seconds of `time.monotonic`: the tables' clock is read against it with the quickest answers, so that a
    slow one moves no start. Every method raises ServiceError.

    Args:
        tables: with `SCHEMA`. name: of the server and key. gap: seconds between two starts.
    """

    def __init__(self, tables: SharedTables, name: str, gap: float) -> None:
        self._tables = tables
        self._values = {"name": name, "gap": gap, "process": uuid.uuid4().hex}
        self._ahead: float | None = None  # of the tables' clock before this process's
        self._doubt = 0.0  # seconds by which that may be wrong

    def reserve(self) -> float:
        """Take the next start, in one statement."""
        return self._moment(RESERVE)

    def held(self) -> float:
        """Until when nobody starts."""
        return self._moment(HELD)

    def hold(self, seconds: float) -> None:
        """Let nobody start for some seconds."""
        self._tables.ask((HOLD, {**self._values, "for": seconds}))

    def place(self) -> int:
        """The lowest place, from 0, that nobody else of those that share has; nobody takes it who sees this one asking.

        It moves down when a lower one is free: after a rolling restart the places of those that went are in use again.
        """
        return int(self._tables.ask((ALONE, self._values), (PLACE, self._values))[0][0])

    def _moment(self, sql: str) -> float:
        """A moment of the tables on this process's clock."""
        if self._ahead is None:
            for _ in range(LOOKS):  # the first of them opens the connection
                self._look(TIME)
        moment = self._look(sql)
        return moment - (self._ahead or 0.0)

    def _look(self, sql: str) -> float:
        """A moment of the tables, on their clock, which is read at the same time."""
        before = time.monotonic()
        moment, now = self._tables.ask((sql, self._values))[0]
        after = time.monotonic()
        ahead, doubt = now - (before + after) / 2, (after - before) / 2
        if self._ahead is None or doubt <= self._doubt or abs(ahead - self._ahead) > doubt + self._doubt:
            self._ahead, self._doubt = ahead, doubt  # a quicker answer; or the clocks are not what they were
        return float(moment)


class SharedLimiter:
    """`Limiter` over shared starts, behind a limiter of this process.

    Args:
        per_second: requests a second of all together.
        shared: where starts are taken. workers: processes that share at most. waiting: starts that one of them may have
            taken ahead.
        clock: seconds that only grow. wall: seconds since the epoch, of a clock that all machines agree on.
    """

    def __init__(
        self,
        per_second: float,
        shared: SharedStarts,
        workers: int,
        waiting: int,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._front, self._shared = RateLimiter(per_second, clock), shared
        self._gap, self._workers, self._queue = gap_of(per_second), workers, workers * waiting * gap_of(per_second)
        self._clock, self._wall = clock, wall
        self._lock = threading.Lock()
        self._failed: float | None = None
        self._own = 0.0
        self._place: int | None = None
        self._seen = -GONE

    @property
    def alone(self) -> bool:
        """Whether the shared count could not be reached at the last start."""
        return self._failed is not None

    def reserve(self) -> float:
        """Take the next start of all, else the next of this process alone."""
        with self._lock:
            front = self._front.reserve()
            try:
                start = self._shared_start()
            except ServiceError:
                start = self._own_start(front)
            return max(front, start)

    def stands(self, start: float) -> bool:
        """Whether it is not over, and nobody was asked to pause."""
        if self._failed is None:
            try:
                if self._shared.held() > start + SAME:
                    return False
            except ServiceError:
                return False
        return self._front.stands(start)

    def hold(self, seconds: float) -> None:
        """Let nobody start for some seconds."""
        self._front.hold(seconds)
        with suppress(ServiceError):  # then the others find out by themselves
            self._shared.hold(seconds)

    def _shared_start(self) -> float:
        if self._failed is not None:
            self._shared.hold(self._queue)
        start = self._shared.reserve()
        self._failed = None
        if self._clock() > self._seen + SEEN:
            self._place, self._seen = self._shared.place(), self._clock()
        return start

    def _own_start(self, after: float) -> float:
        """The next of this process's places of the clock, not before a moment."""
        now = self._clock()
        if self._failed is None:
            self._failed = now
        if self._place is None or self._place >= self._workers or now > self._seen + GONE:
            what = "The count of requests that all workers share cannot be reached."
            raise failure(Reason.NO_START, what)
        round_ = self._workers * self._gap
        earliest = max(now, after, self._failed + self._queue, self._own)
        at = self._wall() + earliest - now
        start = self._place * self._gap + math.ceil((at - self._place * self._gap) / round_) * round_
        self._own = earliest + (start - at) + round_ / 2  # beyond this place, before the next
        return earliest + (start - at)


_LIMITERS: dict[tuple[str, ...], Limiter] = {}
_REGISTRY = threading.Lock()


def limiter_for(settings: LiteratureSettings) -> Limiter:
    """The limiter that all clients of a server with one key share in this process, and beyond where that is set."""
    url, key = settings.base_url.rstrip("/"), hashlib.sha256(settings.key.encode()).hexdigest() if settings.key else ""
    place = settings.shared_database or str(settings.shared_folder or "")
    with _REGISTRY:
        if (url, key, place) not in _LIMITERS:
            _LIMITERS[url, key, place] = _limiter(settings, f"{url} {key[:16]}".strip())
        return _LIMITERS[url, key, place]


def _limiter(settings: LiteratureSettings, name: str) -> Limiter:
    per_second = WITH_KEY if settings.key else WITHOUT_KEY
    tables: SharedTables
    if settings.shared_database:
        tables = PostgresTables(settings.shared_database, SCHEMA, IN_DATABASE, "anamnesis requests")
    elif settings.shared_folder is not None:
        tables = SqliteTables(settings.shared_folder / FILE, SCHEMA, IN_FILE)
    else:
        return RateLimiter(per_second)
    waiting = settings.concurrency + 1  # one more: whether PubMed can be reached is asked beside the slots
    return SharedLimiter(per_second, SharedStarts(tables, name, gap_of(per_second)), settings.workers, waiting)
