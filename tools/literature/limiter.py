"""When requests to a server may start: so many a second, of this process, of this machine or of a whole site.

A start is taken first (`reserve`), waited for, and looked at once more just before the request is sent (`stands`):
whoever comes too late for its start takes another one, so that requests leave as they were spaced.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol

WITHOUT_KEY, WITH_KEY = 3.0, 10.0  # NCBI's rules: requests a second
WINDOW = 1.0  # seconds, in which NCBI counts
# ours: seconds by which a request may arrive later than it started beside another that does not: lateness in this
# process (below), and the way, of which 99 in 100 took less than 0.09 s on a machine with six programs for each core.
# It is added to the window, so that no window at the receiver holds one more.
JITTER = 0.15
LATE = 0.05  # ours: seconds after its start in which a request may still be sent


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


def wait_for_start(limiter: Limiter, tries: int = 30) -> bool:
    """Take a start and sleep until it: for a thread of its own. False where none of so many could be kept."""
    for _ in range(tries):
        start = limiter.reserve()
        time.sleep(max(0.0, start - time.monotonic()))
        if limiter.stands(start):
            return True
    return False
