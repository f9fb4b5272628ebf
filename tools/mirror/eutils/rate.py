"""The server's own counter of requests."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

WINDOW = 1.0  # seconds, as NCBI counts


class RateCounter:
    """Allows so many requests in any second, all clients together. Safe in several threads.

    Args:
        most: requests a second; 0 allows all.
        clock: seconds that only grow.
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._times: deque[float] = deque()

    def wait(self) -> float:
        """0 when the request may be answered now; else the seconds after which to ask again."""
        if not self.most:
            return 0.0
        with self._lock:
            now = self._clock()
            while self._times and now - self._times[0] >= WINDOW:
                self._times.popleft()
            if len(self._times) < self.most:
                self._times.append(now)
                return 0.0
            return WINDOW - (now - self._times[0])
