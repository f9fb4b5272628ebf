"""Sockets to a running server, below any client: what is sent, and how slowly, is the test's affair."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

from support.served import Served

PATIENCE = 20.0


def connected(server: Served) -> socket.socket:
    """A connection to the server."""
    address = urlsplit(server.url)
    return socket.create_connection((str(address.hostname), address.port or 80), timeout=PATIENCE)


def everything(stream: socket.socket) -> bytes:
    """All that comes until the server closes; raises TimeoutError where it does not."""
    parts = []
    try:
        while part := stream.recv(65_536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def ended(stream: socket.socket) -> bool:
    """Whether the server has closed the connection."""
    stream.settimeout(0.2)
    try:
        while stream.recv(65_536):
            pass
    except TimeoutError:
        return False
    except OSError:
        return True
    finally:
        stream.settimeout(PATIENCE)
    return True
