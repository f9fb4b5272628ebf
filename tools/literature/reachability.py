"""Whether PubMed can be reached, found out once within a few seconds and remembered for a minute."""

from __future__ import annotations

import asyncio
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import Future
from http.client import HTTPException

from prompts.errors import AnamnesisError, ServiceError
from tools.literature.limiter import Limiter, wait_for_start

REMEMBERED = 60.0  # seconds; ours: an outage is noticed within a minute, and costs one probe a minute


class Reachability:
    """Probes a server by HTTP, through the proxy that the environment names. Any HTTP answer counts as reachable.

    Args:
        base_url: of the E-utilities.
        timeout: seconds a probe may take in all, name resolution included.
        clock: seconds that only grow.
        limiter: whose start a probe takes, as every other request does; None for none.
    """

    def __init__(
        self,
        base_url: str,
        timeout: float = 3.0,
        clock: Callable[[], float] = time.monotonic,
        limiter: Limiter | None = None,
    ) -> None:
        self._url = f"{base_url.rstrip('/')}/einfo.fcgi"
        self._timeout = timeout
        self._clock = clock
        self._limiter = limiter
        self._lock = threading.Lock()
        self._known: tuple[float, bool] | None = None
        self._sent: Future[None] = Future()
        self._running: Future[bool] | None = None

    async def check(self) -> bool:
        """Whether the server can be reached; never longer than the timeout, once the probe was sent.

        Raises:
            InputError: no start can be had before something is set right.
        """
        with self._lock:
            if self._known is not None and self._clock() - self._known[0] < REMEMBERED:
                return self._known[1]
            if self._running is None:
                self._running, self._sent = Future(), Future()
                for future in (self._running, self._sent):
                    future.set_running_or_notify_cancel()  # a caller that gives up cannot cancel it for others
                # A daemon: a name server that hangs must not keep the process from ending.
                threading.Thread(target=self._probe, args=(self._sent, self._running), daemon=True).start()
            sent, running = self._sent, self._running
        try:
            await asyncio.wrap_future(sent)
            return await asyncio.wait_for(asyncio.wrap_future(running), self._timeout)
        except TimeoutError:
            self.remember(False)
            return False

    def remember(self, reachable: bool) -> None:
        """Note what a request has shown, so that nobody probes for a minute."""
        with self._lock:
            self._known = (self._clock(), reachable)

    def _probe(self, sent: Future[None], future: Future[bool]) -> None:
        try:
            may = self._may_start()
        except AnamnesisError as error:  # nobody would end the waiting of those who ask
            with self._lock:
                self._running = None
            sent.set_exception(error)
            return
        sent.set_result(None)
        reachable = may and self._answers()
        self.remember(reachable)
        with self._lock:
            self._running = None
        future.set_result(reachable)

    def _may_start(self) -> bool:
        try:
            return self._limiter is None or wait_for_start(self._limiter)
        except ServiceError:
            return False

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(self._url, timeout=self._timeout):  # noqa: S310 - settings allow http(s) only
                return True
        except urllib.error.HTTPError:
            return True
        except (OSError, HTTPException, ValueError):
            return False
