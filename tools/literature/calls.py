"""The one policy for every call of an E-utility: both ceilings, time limits, retries, typed failures."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from tools.literature.failures import EUtilitiesError, RateLimited, failure
from tools.literature.limiter import limiter_for, slots_for
from tools.literature.settings import LiteratureSettings
from tools.literature.transport import TOOL, Route, request

BACK_OFF = 0.5  # seconds before the second try, doubled before each further one; ours
Parsed = TypeVar("Parsed")
Sleep = Callable[[float], Awaitable[None]]


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
        self._limiter = limiter_for(settings.base_url, bool(settings.key))
        self._slots = slots_for(settings.base_url, settings.concurrency)

    async def call(self, utility: str, parameters: Mapping[str, Any], parse: Callable[[bytes], Parsed]) -> Parsed:
        """Ask and parse, and ask again after a failure that may pass.

        Args:
            utility: of Biopython's `Bio.Entrez` (``esearch``, ``efetch``, ...).
            parse: reads the body; its EUtilitiesError counts as a failure of the call.

        Raises:
            EUtilitiesError: a failure that stays after all attempts, cannot pass, or asks for too long a pause.
        """
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
        await self._sleep(self._limiter.reserve())
        if held := self._limiter.held():  # the server asked for a pause while this call waited for its start
            await self._sleep(held)
        return await asyncio.to_thread(self._work, utility, {**self._common, **parameters}, parse)

    def _work(self, utility: str, parameters: Mapping[str, Any], parse: Callable[[bytes], Parsed]) -> Parsed:
        return parse(request(utility, parameters, self._route))

    async def _pause(self, failed: EUtilitiesError, back_off: float) -> None:
        """Retry-After, and the pause after too many requests, hold every caller; another failure only this one."""
        if failed.retry_after is not None or isinstance(failed, RateLimited):
            self._limiter.hold(back_off if failed.retry_after is None else failed.retry_after)
        else:
            await self._sleep(back_off)

    def _scrubbed(self, error: EUtilitiesError) -> EUtilitiesError:
        """The same without key and e-mail, should the server's own message repeat them."""
        what = error.what
        for secret in filter(None, (self._settings.key, self._settings.email)):
            what = what.replace(secret, "[hidden]")
        return failure(error.reason, what, error.retry_after)
