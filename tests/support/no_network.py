"""Makes every connection beyond this machine an error, and remembers what was attempted."""

from __future__ import annotations

import sys
from typing import Any

LOCAL = ("127.", "::1", "localhost", "0.0.0.0")  # noqa: S104

attempts: list[str] = []


def install() -> None:
    """Watch and refuse, for the rest of the process."""
    sys.addaudithook(_hook)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect":
        address = arguments[1]
        host = str(address[0]) if isinstance(address, tuple) else ""  # a path is a socket of this machine
    elif event == "socket.getaddrinfo":
        host = str(arguments[0] or "")
    else:
        return
    if host and not host.startswith(LOCAL):
        attempts.append(host)
        raise ConnectionRefusedError(f"a connection to {host} was attempted")
