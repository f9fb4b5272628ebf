"""NCBI's limit on requests a second, kept by one limiter for every client of the same server."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

WITHOUT_KEY, WITH_KEY = 3.0, 10.0  # NCBI's rules: requests a second


class RateLimiter:
    """Spaces the starts of requests. Safe to use from threads.

    Args:
        per_second: requests a second.
        clock: seconds that only grow.
    """

    def __init__(self, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._gap = 1.0 / per_second
        self._clock = clock
        self._lock = threading.Lock()
        self._next = 0.0

    def reserve(self) -> float:
        """Take the next start and return the seconds to wait until it."""
        with self._lock:
            now = self._clock()
            start = max(now, self._next)
            self._next = start + self._gap
            return start - now

    def hold(self, seconds: float) -> None:
        """Let nobody start for some seconds: the server asked for it."""
        with self._lock:
            self._next = max(self._next, self._clock() + seconds)


_LIMITERS: dict[tuple[str, bool], RateLimiter] = {}
_REGISTRY = threading.Lock()


def limiter_for(base_url: str, with_key: bool) -> RateLimiter:
    """The limiter that all clients of a server share."""
    with _REGISTRY:
        key = (base_url.rstrip("/"), with_key)
        if key not in _LIMITERS:
            _LIMITERS[key] = RateLimiter(WITH_KEY if with_key else WITHOUT_KEY)
        return _LIMITERS[key]
