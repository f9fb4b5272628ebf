"""The one policy for every call of an E-utility: both ceilings, time limits, retries, typed failures."""

from __future__ import annotations

import asyncio
import threading
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse
from importlib import import_module
from typing import Any, TypeVar
from urllib.parse import urlsplit

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_exponential

from tools.literature.failures import EUtilitiesError, RateLimited, Reason, failure
from tools.literature.limiter import limiter_for, wait_for_start
from tools.literature.privacy import check_out
from tools.literature.settings import LiteratureSettings
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


# One request to the E-utilities: built by Biopython, sent within its time limits, read whole, failing by type.
# `Bio.Entrez` has no setting for its base URL or a timeout, retries at once and ignores Retry-After, so it writes
# the request (by POST what is longer than 1,000 characters or has 200 ids and more) and the standard library sends
# it: other clients write addresses, and with them the key, into their logs.

TOOL = "anamnesis"  # the name under which NCBI sees the requests
SAID = 2048  # bytes of an error page in which its cause is looked for; ours
LARGEST = 256 * 2**20  # bytes, unpacked; ours: 200 full texts are about 40 MB
PIECE = 2**16  # bytes read at a time; ours
PACKED = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}  # zlib's wbits


@dataclass(frozen=True)
class Route:
    """Where requests go.

    ``timeout``: seconds of silence after which a request is given up; ``longest``: seconds that one may take in all.
    Both begin when the request is sent: waiting for a turn counts in neither.
    """

    base_url: str
    timeout: float
    longest: float


def request(utility: str, parameters: Mapping[str, Any], route: Route) -> bytes:
    """Call an E-utility (``esearch``, ``efetch``, ``einfo``, ...) and read the whole answer; blocks.

    Raises:
        EUtilitiesError: no whole answer in time, an HTTP error, a redirect elsewhere, a body cut or too large.
    """
    entrez: Any = import_module("Bio.Entrez")
    url = f"{route.base_url.rstrip('/')}/{utility}.fcgi"
    written: urllib.request.Request = entrez._build_request(url, dict(parameters), join_ids=False)
    until = time.monotonic() + route.longest
    try:
        with urllib.request.build_opener(_SameServer).open(written, timeout=route.timeout) as response:
            return _body(response, until)
    except urllib.error.HTTPError as error:
        failed = _http_failure(error)
    except (OSError, HTTPException) as error:
        failed = _failure(error)
    raise failed  # outside, so that no exception with the address in it hangs on this one


class _SameServer(urllib.request.HTTPRedirectHandler):
    """Follows a redirect of a GET on the same server only: the key goes nowhere else."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        here, there = urlsplit(req.full_url), urlsplit(newurl)
        same = (here.scheme, here.netloc) == (there.scheme, there.netloc)
        upgrade = (here.scheme, there.scheme, here.port, there.port) == ("http", "https", None, None)
        if req.get_method() != "GET" or not (same or (upgrade and here.hostname == there.hostname)):
            return None  # the redirect is then reported as an HTTP error
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _body(response: HTTPResponse, until: float) -> bytes:
    """The whole body, to its announced length (None when the server does not say, or sends in chunks), unpacked."""
    pieces: list[bytes] = []
    size, announced = 0, response.length
    while (announced is None or size < announced) and (piece := response.read1(PIECE)):
        pieces.append(piece)
        size += len(piece)
        if size > LARGEST:
            raise _too_large()
        if time.monotonic() > until:
            raise TimeoutError
    if announced is not None and size < announced:
        raise _cut_off()
    return _unpacked(b"".join(pieces), (response.headers.get("Content-Encoding") or "").strip().lower())


def _unpacked(data: bytes, encoding: str) -> bytes:
    if encoding in ("", "identity") or not data:
        return data
    if encoding not in PACKED:
        raise _cut_off()
    unpacker = zlib.decompressobj(PACKED[encoding])
    try:
        plain = unpacker.decompress(data, LARGEST)
    except zlib.error:
        raise _cut_off() from None
    if unpacker.unconsumed_tail:
        raise _too_large()
    if not unpacker.eof:
        raise _cut_off()
    return plain


def _cut_off() -> EUtilitiesError:
    return failure(Reason.CUT_OFF, "PubMed's answer was cut off.")


def _too_large() -> EUtilitiesError:
    return failure(Reason.TOO_LARGE, "PubMed's answer is larger than is read.")


def _http_failure(error: urllib.error.HTTPError) -> EUtilitiesError:
    wait = _seconds(error.headers.get("Retry-After"), error.headers.get("Date"))
    said = b""
    with suppress(OSError, HTTPException), error:  # the status alone tells enough
        said = error.read(SAID).lower()
    if error.code == 429:
        return failure(Reason.TOO_MANY_REQUESTS, "PubMed has had too many requests.", wait)
    if 300 <= error.code < 400:
        return failure(Reason.REDIRECTED, "PubMed's address redirects to another server.")
    if error.code >= 500:
        return failure(Reason.SERVER_ERROR, f"PubMed failed: it answered with status {error.code}.", wait)
    if error.code == 408:
        return failure(Reason.NO_ANSWER, "PubMed did not answer in time.", wait)
    if b"api key" in said or b"api-key" in said:
        return failure(Reason.REFUSED, f"PubMed refused the API key (status {error.code}).")
    if b"<error>" in said:
        return failure(Reason.BAD_QUERY, f"PubMed refused the query (status {error.code}).")
    return failure(Reason.REFUSED, f"PubMed refused the request (status {error.code}).")


def _failure(error: Exception) -> EUtilitiesError:
    if isinstance(getattr(error, "reason", error), TimeoutError):
        return failure(Reason.NO_ANSWER, "PubMed did not answer in time.")
    if isinstance(error, HTTPException) and not isinstance(error, ConnectionError):
        return _cut_off()
    return failure(Reason.NO_CONNECTION, "The connection to PubMed failed.")


def _seconds(header: str | None, now: str | None) -> float | None:
    """Retry-After in seconds, whether it is a number or a date (read against the server's own clock)."""
    if header is None:
        return None
    if header.strip().isdecimal():  # of Latin-1, as headers are: 0 to 9 alone
        return float(header)
    try:
        here = parsedate_to_datetime(now) if now else datetime.now(UTC)
        return max(0.0, (parsedate_to_datetime(header) - here).total_seconds())
    except (TypeError, ValueError):
        return None
