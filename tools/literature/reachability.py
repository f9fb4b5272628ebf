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
                self._running = Future()
                self._running.set_running_or_notify_cancel()  # a caller that gives up cannot cancel it for others
                _daemon(self._probe, self._running)
            running = self._running
        return await asyncio.wrap_future(running)

    def remember(self, reachable: bool) -> None:
        """Note what a request has shown, so that nobody probes for a minute."""
        with self._lock:
            self._known = (self._clock(), reachable)

    def _probe(self, future: Future[bool]) -> None:
        reachable, failed = False, None
        try:
            if self._limiter is None or wait_for_start(self._limiter):
                answer: list[bool] = []
                _daemon(lambda: answer.append(self._answers())).join(self._timeout)
                reachable = any(answer)
            self.remember(reachable)
        except ServiceError:
            self.remember(False)
        except AnamnesisError as error:
            failed = error
        with self._lock:
            self._running = None
        if failed is None:
            future.set_result(reachable)
        else:
            future.set_exception(failed)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(self._url, timeout=self._timeout):  # noqa: S310 - settings allow http(s) only
                return True
        except urllib.error.HTTPError:
            return True
        except (OSError, HTTPException, ValueError):
            return False


def _daemon(work: Callable[..., object], *arguments: object) -> threading.Thread:
    """A thread that a name server that hangs cannot keep the process from ending for."""
    thread = threading.Thread(target=work, args=arguments, daemon=True)
    thread.start()
    return thread
