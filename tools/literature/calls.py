"""The one policy for every call of an E-utility: both ceilings, time limits, retries, typed failures."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from tools.literature.failures import EUtilitiesError, RateLimited, Reason, failure
from tools.literature.privacy import check_out
from tools.literature.settings import LiteratureSettings
from tools.literature.sharing import limiter_for
from tools.literature.transport import TOOL, Route, request
from tools.recorder import watcher


# The ceiling of requests that run at once, beside the one of their starts (`tools.literature.limiter`).
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


BACK_OFF = 0.5  # seconds before the second try, doubled before each further one; ours
STARTS = 30  # ours: starts that a call takes before it gives up keeping one
Parsed = TypeVar("Parsed")
Sleep = Callable[[float], Awaitable[None]]
# ours: threads of their own, so that a request whose start has come does not wait behind other work; far more than the
# slots of all servers that a process asks
_THREADS = ThreadPoolExecutor(max_workers=64, thread_name_prefix="eutilities")


MISSED = "missed"  # no failure, and no request


class _MissedError(Exception):
    """The start was over before the request could be sent."""


class Calls:
    """Calls E-utilities for one set of settings.

    Args:
        settings: address, e-mail, key, time limits, attempts.
        sleep: how to wait, for tests.
    """

    def __init__(self, settings: LiteratureSettings, sleep: Sleep = asyncio.sleep) -> None:
        self._settings, self._sleep = settings, sleep
        self._route = Route(settings.base_url, settings.timeout, settings.longest)
        # An empty e-mail keeps Biopython from warning about a missing one.
        self._common: dict[str, Any] = {"tool": TOOL, "email": settings.email}
        if settings.key:
            self._common["api_key"] = settings.key
        self.limiter = limiter_for(settings)
        self._slots = slots_for(settings.base_url, settings.concurrency)

    async def call(self, utility: str, parameters: Mapping[str, Any], parse: Callable[[bytes], Parsed]) -> Parsed:
        """Ask and parse, and ask again after a failure that may pass.

        Args:
            utility: of Biopython's `Bio.Entrez` (``esearch``, ``efetch``, ...).
            parse: reads the body; its EUtilitiesError counts as a failure of the call.

        Raises:
            EUtilitiesError: a failure that stays after all attempts, cannot pass, or asks for too long a pause.
        """
        check_out(parameters)  # the one gate: nothing else sends
        for attempt in range(1, self._settings.attempts + 1):
            try:
                async with self._slots.one():
                    return await self._once(utility, parameters, parse)
            except EUtilitiesError as error:
                failed = self._scrubbed(error)
            if not failed.retryable or attempt == self._settings.attempts:
                break
            if (failed.retry_after or 0.0) > self._settings.longest_wait:
                what = f"{failed.what} It asks to wait {failed.retry_after:.0f} seconds."
                failed = failure(failed.reason, what, failed.retry_after)
                break
            await self._pause(failed, BACK_OFF * 2 ** (attempt - 1))
        raise failed  # outside the handler: nothing that could hold the address or the key hangs on it

    async def _once(self, utility: str, parameters: Mapping[str, Any], parse: Callable[[bytes], Parsed]) -> Parsed:
        loop, whole, asked = asyncio.get_running_loop(), {**self._common, **parameters}, time.monotonic()
        for _ in range(STARTS):
            start = await loop.run_in_executor(_THREADS, self.limiter.reserve)
            await self._sleep(max(0.0, start - time.monotonic()))
            sent, told = time.monotonic(), "cancelled"
            try:
                parsed: Parsed = await loop.run_in_executor(_THREADS, self._work, start, utility, whole, parse)
                told = ""
                return parsed
            except _MissedError:
                told = MISSED
                continue
            except EUtilitiesError as error:
                told = error.reason.value
                raise
            finally:
                _tell(utility, told, sent - asked, time.monotonic() - sent)
        raise failure(Reason.NO_START, "PubMed was not asked: this machine was too busy to keep a start.")

    def _work(
        self, start: float, utility: str, parameters: Mapping[str, Any], parse: Callable[[bytes], Parsed]
    ) -> Parsed:
        if not self.limiter.stands(start):
            raise _MissedError
        return parse(request(utility, parameters, self._route))

    async def _pause(self, failed: EUtilitiesError, back_off: float) -> None:
        """Retry-After, and the pause after too many requests, hold every caller; another failure only this one."""
        if failed.retry_after is not None or isinstance(failed, RateLimited):
            pause = back_off if failed.retry_after is None else failed.retry_after
            await asyncio.get_running_loop().run_in_executor(_THREADS, self.limiter.hold, pause)
        else:
            await self._sleep(back_off)

    def _scrubbed(self, error: EUtilitiesError) -> EUtilitiesError:
        """The same without key and e-mail, should the server's own message repeat them."""
        what = error.what
        for secret in filter(None, (self._settings.key, self._settings.email)):
            what = what.replace(secret, "[hidden]")
        return failure(error.reason, what, error.retry_after)


def _tell(utility: str, reason: str, waited: float, seconds: float) -> None:
    """Tell whoever watches of a request: which utility, how it ended, and its times. Never what was asked."""
    if reason != MISSED:
        watcher().event("ncbi_wait", seconds=waited)
        watcher().event("ncbi_request", utility=utility, seconds=seconds, reason=reason)
