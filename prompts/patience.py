"""How long a turn goes on asking a server that fails: not at all after a refused key, twice when it is silent.

Without this a server that hangs would cost the deadline of every judgement in turn.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from prompts.errors import ServiceError
from prompts.model_failures import DeniedError, SilentError

SILENT = 2  # judgements one after another that a silent server may cost a turn; ours: one may be an accident


@dataclass
class _Server:
    """What a turn knows of a server: times in a row that it was silent, the last time, and why it is given up."""

    silent: int = 0
    at: float = float("-inf")
    given_up: ServiceError | None = None


class Patience:
    """The servers of a turn."""

    def __init__(self) -> None:
        self._servers: dict[str, _Server] = {}

    @contextmanager
    def asking(self, place: str) -> Iterator[None]:
        """Around a judgement by the server at a place.

        Raises:
            ServiceError: the server is given up for this turn; or what the judgement raised.
        """
        server = self._servers.setdefault(place, _Server())
        if server.given_up is not None:
            given_up = server.given_up
            raise type(given_up)(given_up.what, given_up.advice, retryable=given_up.retryable)
        started = time.monotonic()
        try:
            yield
        except DeniedError as error:
            server.given_up = error
            raise
        except SilentError as error:
            self._was_silent(server, started, error)
            raise
        except ServiceError:
            server.silent = 0  # it failed, but it answered
            raise
        server.silent = 0

    @staticmethod
    def _was_silent(server: _Server, started: float, error: SilentError) -> None:
        """Count a silence that began after the one before: judgements that waited together count once."""
        if started >= server.at:
            server.silent += 1
            server.at = time.monotonic()
        if server.silent >= SILENT:
            server.given_up = error
