"""The ceiling of requests that run at once, beside the one of their starts (`tools.literature.limiter`)."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


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


_SLOTS: dict[tuple[str, int], Slots] = {}
_REGISTRY = threading.Lock()


def slots_for(base_url: str, count: int) -> Slots:
    """The slots that all clients of a server with the same ceiling share, in this process."""
    with _REGISTRY:
        return _SLOTS.setdefault((base_url.rstrip("/"), count), Slots(count))
