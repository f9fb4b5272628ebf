"""How much a key may do: requests a minute, turns at once. Counted in this process; several count each for itself."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agent.server.problems import Refusal

MINUTE = 60.0
BURST = 4  # ours: a quarter of a minute's requests may come at once, enough for a page that opens
MOST = 10_000  # ours: buckets after which those that are full, and so say nothing, are dropped
SOON = 1.0  # ours: seconds; when a turn will end is not known


@dataclass
class _Bucket:
    left: float
    at: float


class Rate:
    """A token bucket for each key, or whatever else is counted.

    Args:
        a_minute: requests a minute.
        clock: seconds; monotonic.
    """

    def __init__(self, a_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._most, self._clock = a_minute / MINUTE, max(1.0, a_minute / BURST), clock
        self._buckets: dict[str, _Bucket] = {}

    def take(self, key: str) -> None:
        """Count a request; raises Refusal 429 that says when to ask again."""
        wait = self.wait(key)
        if wait:
            raise Refusal(429, "too_many_requests", "This key asks too often.", "Wait a moment.", retry_after=wait)
        self.count(key)

    def wait(self, key: str) -> float:
        """Seconds until the next may come; 0 for now."""
        left = self._bucket(key).left
        return (1 - left) / self._rate if left < 1 else 0.0

    def count(self, key: str) -> None:
        """Count one."""
        self._bucket(key).left -= 1

    def _bucket(self, key: str) -> _Bucket:
        moment = self._clock()
        if len(self._buckets) > MOST:
            full = self._most - moment * self._rate
            self._buckets = {k: b for k, b in self._buckets.items() if b.left - b.at * self._rate < full}
        bucket = self._buckets.setdefault(key, _Bucket(self._most, moment))
        bucket.left = min(self._most, bucket.left + (moment - bucket.at) * self._rate)
        bucket.at = moment
        return bucket


class Places:
    """Places for turns that run: some for each key, some for all.

    Args:
        each: turns of one key at once. all: turns of all keys at once.
    """

    def __init__(self, each: int, all: int) -> None:
        self._each, self._all = each, all
        self._taken: Counter[str] = Counter()

    @property
    def taken(self) -> int:
        """Turns that run."""
        return self._taken.total()

    def take(self, key: str) -> Callable[[], None]:
        """Take a place; returns what gives it back (once). Raises Refusal 429, or 503 when the server is full."""
        if self._taken[key] >= self._each:
            what = f"This key has {self._each} turns running."
            raise Refusal(429, "too_many_turns", what, "Wait until one of them ends.", retry_after=SOON)
        if self.taken >= self._all:
            raise Refusal(503, "busy", "The server is full.", "Try again soon.", retry_after=SOON)
        self._taken[key] += 1
        held = contextlib.ExitStack()
        held.callback(self._give_back, key)
        return held.close

    @contextlib.contextmanager
    def place(self, key: str) -> Iterator[None]:
        """Hold a place for a while."""
        give_back = self.take(key)
        try:
            yield
        finally:
            give_back()

    def _give_back(self, key: str) -> None:
        self._taken[key] -= 1
        if not self._taken[key]:
            del self._taken[key]
