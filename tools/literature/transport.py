"""One request to the E-utilities through Biopython: base URL, time limits, and typed failures instead of retries.

`Bio.Entrez` has no setting for its base URL or a timeout; it opens everything through its module's ``urlopen``. That
name is replaced once by a function that looks up the route of the current context: other users of `Bio.Entrez` in the
process keep NCBI's address and Biopython's own behaviour. Failures leave it as `EUtilitiesError`, which Biopython
does not know and therefore does not retry: the one policy for retries is in `tools.literature.calls`. Biopython sends
by POST what is longer than 1,000 characters or has 200 ids and more.
"""

from __future__ import annotations

import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from tools.literature.body import Body, CutOffError, TooLargeError, read_body
from tools.literature.failures import EUtilitiesError, Reason, failure
from tools.literature.settings import NCBI

TOOL = "anamnesis"  # the name under which NCBI sees the requests
SAID = 2048  # bytes of an error page in which its cause is looked for; ours
_ROUTE: ContextVar[Route | None] = ContextVar("entrez_route", default=None)
_INSTALL = threading.Lock()
_installed = False


@dataclass(frozen=True)
class Route:
    """Where the requests of a context go.

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
    entrez = _entrez()
    token = _ROUTE.set(route)
    try:
        opened = getattr(entrez, utility)(**parameters)
        # Biopython wraps what calls itself text; the wrapper is held, since it closes the body when it goes
        return read_body(getattr(opened, "buffer", opened))
    except (OSError, HTTPException, CutOffError, TooLargeError) as error:
        failed = _failure(error)
    finally:
        _ROUTE.reset(token)
    raise failed  # outside, so that no exception with the address in it hangs on this one


def _entrez() -> Any:
    global _installed
    entrez: Any = import_module("Bio.Entrez")
    with _INSTALL:
        if not _installed:
            entrez.urlopen = _routed(entrez.urlopen)
            _installed = True
    return entrez


def _routed(otherwise: Any) -> Any:
    def urlopen(request: urllib.request.Request, *args: Any, **kwargs: Any) -> Any:
        route = _ROUTE.get()
        return otherwise(request, *args, **kwargs) if route is None else _open(request, route)

    return urlopen


def _open(request: urllib.request.Request, route: Route) -> Body:
    request.full_url = request.full_url.replace(NCBI, route.base_url.rstrip("/"), 1)
    until = time.monotonic() + route.longest
    try:
        response: HTTPResponse = urllib.request.build_opener(_SameServer).open(request, timeout=route.timeout)
        return Body(response, until)
    except urllib.error.HTTPError as error:
        failed = _http_failure(error)
    except (OSError, HTTPException) as error:
        failed = _failure(error)
    raise failed


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


def _http_failure(error: urllib.error.HTTPError) -> EUtilitiesError:
    wait = _seconds(error.headers.get("Retry-After"), error.headers.get("Date"))
    said = b""
    try:
        with error:
            said = error.read(SAID).lower()
    except (OSError, HTTPException):
        pass  # the status alone tells enough
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
    cause = getattr(error, "reason", error)
    if isinstance(cause, TimeoutError | socket.timeout):
        return failure(Reason.NO_ANSWER, "PubMed did not answer in time.")
    if isinstance(error, TooLargeError):
        return failure(Reason.TOO_LARGE, "PubMed's answer is larger than is read.")
    if isinstance(error, HTTPException | CutOffError) and not isinstance(error, ConnectionError):
        return failure(Reason.CUT_OFF, "PubMed's answer was cut off.")
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
