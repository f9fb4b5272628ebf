"""One request to the E-utilities through Biopython: base URL, timeout, and failures as values, not as retries.

`Bio.Entrez` has no setting for its base URL or a timeout; it opens everything through its module's ``urlopen``. That
name is replaced once by a function that looks up the route of the current context: other users of `Bio.Entrez` in the
process keep NCBI's address and Biopython's own behaviour. Failures leave it as `RequestError`, which Biopython does
not know and therefore does not retry: the one policy for retries is in `tools.literature.client`.
"""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from importlib import import_module
from typing import Any

from tools.literature.settings import NCBI

TOOL = "anamnesis"  # the name under which NCBI sees the requests
_ROUTE: ContextVar[Route | None] = ContextVar("entrez_route", default=None)
_INSTALL = threading.Lock()
_installed = False


@dataclass(frozen=True)
class Route:
    """Where the requests of a context go, and how many seconds each may take."""

    base_url: str
    timeout: float


class RequestError(Exception):
    """A request did not come back whole.

    Args:
        status: the HTTP status, None when there was no answer.
        retry_after: seconds that the server asks to wait, None when it does not say.
        reason: what happened, without address or key.
    """

    def __init__(self, reason: str, status: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.reason, self.status, self.retry_after = reason, status, retry_after

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later: no answer, too many requests, or the server's own fault."""
        return self.status is None or self.status == 429 or self.status >= 500


def request(utility: str, parameters: Mapping[str, Any], route: Route) -> bytes:
    """Call an E-utility (``esearch``, ``efetch``, ``einfo``) and read the whole answer; blocks.

    Raises:
        RequestError: no answer in time, an HTTP error, or a body shorter than it should be.
    """
    entrez = _entrez()
    token = _ROUTE.set(route)
    try:
        handle = getattr(entrez, utility)(**parameters)
        try:
            body = handle.read()
        finally:
            handle.close()
    except (OSError, HTTPException) as error:
        raise RequestError(_reason(error)) from error
    finally:
        _ROUTE.reset(token)
    return body.encode() if isinstance(body, str) else bytes(body)


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
        if route is None:
            return otherwise(request, *args, **kwargs)
        request.full_url = request.full_url.replace(NCBI, route.base_url.rstrip("/"), 1)
        try:
            return urllib.request.urlopen(request, timeout=route.timeout)  # noqa: S310 - settings allow http(s) only
        except urllib.error.HTTPError as error:
            with error:
                wait = _seconds(error.headers.get("Retry-After"), error.headers.get("Date"))
            raise RequestError(f"it answered with status {error.code}", error.code, wait) from None
        except OSError as error:
            raise RequestError(_reason(error)) from None

    return urlopen


def _reason(error: Exception) -> str:
    cause = getattr(error, "reason", error)
    if isinstance(cause, TimeoutError):
        return "it did not answer in time"
    if isinstance(error, HTTPException):
        return "its answer was cut off"
    return "the connection failed"


def _seconds(header: str | None, now: str | None) -> float | None:
    """Retry-After in seconds, whether it is a number or a date (read against the server's own clock)."""
    if header is None:
        return None
    if header.strip().isdigit():
        return float(header)
    try:
        here = parsedate_to_datetime(now) if now else datetime.now(UTC)
        return max(0.0, (parsedate_to_datetime(header) - here).total_seconds())
    except (TypeError, ValueError):
        return None
