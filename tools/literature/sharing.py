"""The limiter of processes that share one allowance, and what each does while it cannot reach the others.

The rule: the shared count alone hands out starts. A process that cannot reach it first waits as long as starts that the
others have taken may lie ahead, and then starts only at its own places of the clock: of so many (`workers`) places each
process has one. When the count is back, everybody waits once more for such starts to be over. Together they stay within
the rate as long as the clocks agree to within `JITTER`. What this cannot hold off is one process alone that lost the
database while the others count on: it adds its share, one n-th of the rate.
"""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from prompts.errors import ServiceError
from tools.literature.failures import Reason, failure
from tools.literature.limiter import WITH_KEY, WITHOUT_KEY, Limiter, RateLimiter, gap_of
from tools.literature.settings import LiteratureSettings
from tools.literature.starts import GONE, SCHEMA, DatabaseStarts, FileStarts, SharedStarts
from tools.postgres_line import PostgresLine

SEEN = 60.0  # ours: seconds between two looks at the own place, well within `GONE`
SAME = 1e-3  # ours: seconds; the same moment, read twice by two clocks


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


_LIMITERS: dict[tuple[str, str, str, str], Limiter] = {}
_REGISTRY = threading.Lock()


def limiter_for(settings: LiteratureSettings) -> Limiter:
    """The limiter that all clients of a server with one key share in this process, and beyond where that is set."""
    url, key = settings.base_url.rstrip("/"), hashlib.sha256(settings.key.encode()).hexdigest() if settings.key else ""
    database, folder = settings.shared_database, str(settings.shared_folder or "")
    with _REGISTRY:
        named = (url, key, database, "" if database else folder)
        if named not in _LIMITERS:
            _LIMITERS[named] = _made(settings, f"{url} {key[:16]}".strip(), database, folder)
        return _LIMITERS[named]


def _made(settings: LiteratureSettings, name: str, database: str, folder: str) -> Limiter:
    per_second = WITH_KEY if settings.key else WITHOUT_KEY
    if not database and not folder:
        return RateLimiter(per_second)
    gap = gap_of(per_second)
    shared: SharedStarts = (
        DatabaseStarts(PostgresLine(database, SCHEMA, "anamnesis requests"), name, gap)
        if database
        else FileStarts(Path(folder), name, gap)
    )
    waiting = settings.concurrency + 1  # one more: whether PubMed can be reached is asked beside the slots
    return SharedLimiter(per_second, shared, settings.workers, waiting)
