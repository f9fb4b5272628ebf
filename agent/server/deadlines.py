"""Connections that may not stall: uvicorn's protocol with deadlines for a request's head and body, and a limit.

uvicorn closes a connection that is silent between two requests, and waits for ever for the rest of one that has begun.
Here the head of a request, and then its body, must be there in time, however slowly they come; and where all
connections are taken, the one whose request is unfinished longest makes room. Requests that are there whole, and so the
answers and the streams of events that run, are never cut off for another one.
"""

from __future__ import annotations

import asyncio
import json
import time
from http import HTTPStatus
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from agent.server import logs
from agent.server.limits import SOON
from agent.server.problems import Refusal, body_of
from agent.server.settings import ServerSettings


class Deadlines(H11Protocol):
    """A connection. Its settings stand in a class made by `protocol_of`."""

    settings: ClassVar[ServerSettings]
    since = 0.0  # when it began to wait for what it waits for now
    _deadline: asyncio.TimerHandle | None = None
    _awaited = ""  # what must come in time: "head", "body", or "" for nothing

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, or refuse it where no place can be made."""
        full = len(self.connections) >= self.settings.connections
        super().connection_made(transport)
        if full and not self._make_room():
            self._refuse(Refusal(503, "busy", "The server is full.", "Try again soon.", retry_after=SOON))
            return
        self._wait_for("head")

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._wait_for("")
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Follow a request from its head to its body to its end."""
        before = self.cycle
        super().handle_events()
        if self.transport.is_closing():
            return
        theirs = self.conn.their_state
        if theirs is h11.SEND_BODY:
            awaited = "body"
        else:
            begun = self._awaited == "head" and self.cycle is before
            awaited = "head" if theirs is h11.IDLE and (begun or self.conn.trailing_data[0]) else ""
        if awaited != self._awaited or self.cycle is not before:
            self._wait_for(awaited)

    @property
    def whole(self) -> bool:
        """Whether a request is there whole, its answer is not, and the client reads what comes of it."""
        answering = self.cycle is not None and not self.cycle.response_complete
        return answering and self.conn.their_state is not h11.SEND_BODY and not self.flow.write_paused

    def _wait_for(self, what: str) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline, self._awaited, self.since = None, what, time.monotonic()
        if what:
            seconds = self.settings.head_seconds if what == "head" else self.settings.body_seconds
            self._deadline = self.loop.call_later(seconds, self._late, seconds)

    def _late(self, seconds: float) -> None:
        what = f"The request's {self._awaited} did not come within {seconds:g} s."
        logs.event("request cut off", awaited=self._awaited)
        self._refuse(Refusal(408, "request_timeout", what, "Send it again, faster or in parts."))

    def _make_room(self) -> bool:
        """Close the connection that waits longest for a request or its rest; False where all are at work."""
        waiting = [c for c in self.connections if c is not self and isinstance(c, Deadlines) and not c.whole]
        if not waiting:
            return False
        min(waiting, key=lambda c: c.since).drop()
        return True

    def drop(self) -> None:
        """Close the connection at once."""
        self.connections.discard(self)  # its place is free now, not when the loop comes to it
        self.transport.abort()

    def _refuse(self, refusal: Refusal) -> None:
        """Say why, unless the answer has begun or nothing was asked, and close."""
        answered = self.conn.their_state is h11.SEND_BODY and self.cycle.response_started
        silent = refusal.status == HTTPStatus.REQUEST_TIMEOUT and not self.cycle and not self.conn.trailing_data[0]
        if not answered and not silent:
            self.transport.write(_answer(refusal))
        if self.transport.get_write_buffer_size():
            self.transport.abort()  # nobody reads it
        else:
            self.transport.close()


def protocol_of(settings: ServerSettings) -> Any:
    """The protocol with these settings, as uvicorn takes one."""
    return type("Connection", (Deadlines,), {"settings": settings})


def _answer(refusal: Refusal) -> bytes:
    body = json.dumps(body_of("", refusal, "")).encode()
    own = {"Content-Type": "application/json", "Content-Length": str(len(body)), "Connection": "close"}
    head = "".join(f"{name}: {value}\r\n" for name, value in {**refusal.headers, **own}.items())
    status = f"HTTP/1.1 {refusal.status} {HTTPStatus(refusal.status).phrase}\r\n"
    return f"{status}{head}\r\n".encode() + body
