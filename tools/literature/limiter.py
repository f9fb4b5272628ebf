"""Two ceilings for the requests to a server: the gap between starts, and how many run at once.

They are apart because they fail apart: slow answers pile up at once within any rate, and quick ones break the rate one
at a time. Whoever waits at either has not sent anything yet, so no time limit runs.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

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
        self._held = 0.0

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
            self._held = max(self._held, self._clock() + seconds)
            self._next = max(self._next, self._held)

    def held(self) -> float:
        """Seconds left of a hold that began after a start was reserved; 0 when there is none."""
        with self._lock:
            return max(0.0, self._held - self._clock())


class Slots:
    """At most some requests at once, for coroutines of any event loop, in the order in which they came."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._lock = threading.Lock()
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Hold a slot for the length of the block."""
        with self._lock:
            turn = None
            if self._free > 0:
                self._free -= 1
            else:
                turn = asyncio.get_running_loop().create_future()
                self._waiting.append((turn.get_loop(), turn))
        try:
            if turn is not None:
                await turn
        except asyncio.CancelledError:
            self._give_up(turn)
            raise
        try:
            yield
        finally:
            self._release()

    def _give_up(self, turn: asyncio.Future[None] | None) -> None:
        """A waiter was cancelled; a slot that was already on its way to it goes on to the next."""
        with self._lock:
            waiting = [w for w in self._waiting if w[1] is turn]
            for entry in waiting:
                self._waiting.remove(entry)
        if not waiting:
            self._release()

    def _release(self) -> None:
        with self._lock:
            while self._waiting:
                loop, turn = self._waiting.popleft()
                with suppress(RuntimeError):  # its event loop was closed meanwhile: nobody waits there any more
                    loop.call_soon_threadsafe(_wake, turn)
                    return
            self._free += 1


def _wake(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)


_LIMITERS: dict[tuple[str, bool], RateLimiter] = {}
_SLOTS: dict[tuple[str, int], Slots] = {}
_REGISTRY = threading.Lock()


def limiter_for(base_url: str, with_key: bool) -> RateLimiter:
    """The limiter that all clients of a server share."""
    with _REGISTRY:
        key = (base_url.rstrip("/"), with_key)
        if key not in _LIMITERS:
            _LIMITERS[key] = RateLimiter(WITH_KEY if with_key else WITHOUT_KEY)
        return _LIMITERS[key]


def slots_for(base_url: str, count: int) -> Slots:
    """The slots that all clients of a server with the same ceiling share."""
    with _REGISTRY:
        return _SLOTS.setdefault((base_url.rstrip("/"), count), Slots(count))
