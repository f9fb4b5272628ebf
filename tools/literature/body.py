"""The body of an answer: read within its time, to its announced length, unpacked, and bounded."""

from __future__ import annotations

import time
import zlib
from email.message import Message
from http.client import HTTPResponse
from typing import Protocol

LARGEST = 256 * 2**20  # bytes, unpacked; ours: 200 full texts are about 40 MB
PIECE = 2**16  # bytes read at a time; ours
PACKED = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}  # zlib's wbits


class CutOffError(Exception):
    """Fewer bytes came than were announced, or they cannot be unpacked."""


class TooLargeError(Exception):
    """More bytes come than are read."""


class Readable(Protocol):
    """What `read_body` reads."""

    def read(self, amount: int = -1) -> bytes:
        """All that is left."""

    def close(self) -> None:
        """Hang up."""


class Body:
    """An HTTP response whose `read` gives the whole body or raises.

    Args:
        response: opened, not yet read.
        until: the monotonic time at which reading is given up.
    """

    def __init__(self, response: HTTPResponse, until: float) -> None:
        self._response, self._until = response, until
        self.headers: Message = response.headers
        self.url = ""  # Biopython asks for it; the real one holds the key

    def read(self, _amount: int = -1) -> bytes:
        """The whole body, unpacked.

        Raises:
            TimeoutError, OSError, HTTPException: reading failed. CutOffError, TooLargeError: see there.
        """
        pieces: list[bytes] = []
        size = 0
        announced = self._response.length  # None when the server does not say, or sends in chunks
        while (announced is None or size < announced) and (piece := self._response.read1(PIECE)):
            pieces.append(piece)
            size += len(piece)
            if size > LARGEST:
                raise TooLargeError
            if time.monotonic() > self._until:
                raise TimeoutError
        if announced is not None and size < announced:
            raise CutOffError
        return _unpacked(b"".join(pieces), (self.headers.get("Content-Encoding") or "").strip().lower())

    def readable(self) -> bool:
        """For `io.TextIOWrapper`, which Biopython puts around plain text."""
        return True

    def writable(self) -> bool:
        """Never."""
        return False

    def seekable(self) -> bool:
        """Never."""
        return False

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self._response.closed

    def flush(self) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Hang up."""
        self._response.close()


def read_body(handle: Readable) -> bytes:
    """Everything, and hang up."""
    try:
        return handle.read()
    finally:
        handle.close()


def _unpacked(data: bytes, encoding: str) -> bytes:
    if encoding in ("", "identity") or not data:
        return data
    if encoding not in PACKED:
        raise CutOffError
    unpacker = zlib.decompressobj(PACKED[encoding])
    try:
        plain = unpacker.decompress(data, LARGEST)
    except zlib.error:
        raise CutOffError from None
    if unpacker.unconsumed_tail:
        raise TooLargeError
    if not unpacker.eof:
        raise CutOffError
    return plain
