"""The one policy for every call of an E-utility: both ceilings, time limits, retries, typed failures."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_exponential

from tools.literature.failures import EUtilitiesError, RateLimited, Reason, failure
from tools.literature.limiter import limiter_for, wait_for_start
from tools.literature.privacy import check_out
from tools.literature.settings import LiteratureSettings
from tools.literature.transport import TOOL, Route, request
from tools.recorder import watcher

BACK_OFF = 0.5  # seconds before the second try, doubled before each further one; ours
Parsed = TypeVar("Parsed")
Sleep = Callable[[float], Awaitable[None]]
# ours: a thread of its own, so that a pause that the server asks for does not wait behind other work
_HOLDS = ThreadPoolExecutor(max_workers=1, thread_name_prefix="eutilities-hold")
_SLOTS: dict[tuple[str, int], ThreadPoolExecutor] = {}
_REGISTRY = threading.Lock()


def slots_for(base_url: str, count: int) -> ThreadPoolExecutor:
    """The threads of all clients of a server with the same ceiling, in this process: at most so many requests at once.

    They are the ceiling beside the one of starts (`tools.literature.limiter`); requests have them in the order in which
    they came, whatever event loop they came from.
    """
    with _REGISTRY:
        return _SLOTS.setdefault((base_url.rstrip("/"), count), ThreadPoolExecutor(count, "eutilities"))


class Calls:
    """Calls E-utilities for one set of settings.

    Args:
        settings: address, e-mail, key, time limits, attempts.
        sleep: how to wait before another try, for tests.
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
        retrying = AsyncRetrying(
            retry=retry_if_exception(self._may_pass),
            stop=stop_after_attempt(self._settings.attempts),
            wait=wait_exponential(multiplier=BACK_OFF),
            before_sleep=self._hold_all,
            sleep=self._sleep,
            reraise=True,
        )
        return await retrying(self._once, utility, {**self._common, **parameters}, parse)

    async def _once(self, utility: str, parameters: Mapping[str, Any], parse: Callable[[bytes], Parsed]) -> Parsed:
        """One request in a slot and under a start; told to whoever watches: its utility, its end and its times."""
        given_up, sent = threading.Event(), [0.0]

        def send() -> Parsed:
            if not wait_for_start(self.limiter, given_up):
                raise failure(Reason.NO_START, "PubMed was not asked: this machine was too busy to keep a start.")
            sent[0] = time.monotonic()
            return parse(request(utility, parameters, self._route))

        asked, told = time.monotonic(), "cancelled"
        try:
            parsed = await asyncio.get_running_loop().run_in_executor(self._slots, send)
            told = ""
            return parsed
        except EUtilitiesError as error:
            told, failed = error.reason.value, self._scrubbed(error)
        finally:
            given_up.set()
            if sent[0]:
                watcher().event("ncbi_wait", seconds=sent[0] - asked)
                watcher().event("ncbi_request", utility=utility, seconds=time.monotonic() - sent[0], reason=told)
        raise failed  # outside the handler: nothing that could hold the address or the key hangs on it

    def _may_pass(self, error: BaseException) -> bool:
        wait = getattr(error, "retry_after", None) or 0.0
        return isinstance(error, EUtilitiesError) and error.retryable and wait <= self._settings.longest_wait

    async def _hold_all(self, state: RetryCallState) -> None:
        """Retry-After, and the pause after too many requests, hold every caller; another failure only this one."""
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, RateLimited) or getattr(error, "retry_after", None) is not None:
            asked = getattr(error, "retry_after", None)
            pause = state.upcoming_sleep if asked is None else asked
            await asyncio.get_running_loop().run_in_executor(_HOLDS, self.limiter.hold, pause)

    def _scrubbed(self, error: EUtilitiesError) -> EUtilitiesError:
        """The same without key and e-mail, should the server's own message repeat them, and with too long a pause."""
        what = error.what
        for secret in filter(None, (self._settings.key, self._settings.email)):
            what = what.replace(secret, "[hidden]")
        if (error.retry_after or 0.0) > self._settings.longest_wait:
            what += f" It asks to wait {error.retry_after:.0f} seconds."
        return failure(error.reason, what, error.retry_after)
