"""What stands before every endpoint, mounted applications too: request ids, the Host list, the Origin check, the body
limit, security headers and the log line."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import re
import secrets
import time
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, ClassVar
from urllib.parse import urlsplit

import h11
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from agent.server import logs
from agent.server.limits import SOON
from agent.server.problems import Refusal, body_of
from agent.server.settings import ServerSettings
from agent.telemetry.contract import NoTelemetry, Telemetry

REQUEST_ID = re.compile(r"^[A-Za-z0-9._-]{8,64}$")
# A name or an address, and a port: nothing else, so that no parser finds another host in it.
HOST = re.compile(r"\A(?:\[(?P<six>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[A-Za-z0-9._-]{1,253}))(?::[0-9]{1,5})?\Z")
CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})  # methods with which a page can change something
LOOPBACK = ("localhost", "127.0.0.1", "::1")
POLICY = (
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; img-src 'self'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
PRIVATE = ("/api/", "/v1/", "/mcp")  # what no cache may keep
YEAR = 31_536_000  # seconds


class Edge:
    """The outermost layer.

    Args:
        app: what it stands before.
        hosts: names under which clients reach the server, beside loopback and any IP address: a page that rebinds its
            own name to this machine sends that name.
        body: bytes of a request at most. longer: paths where another limit holds.
        telemetry: what an operator follows requests by; None for nothing.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Iterable[str],
        body: int,
        telemetry: Telemetry | None = None,
        longer: Mapping[re.Pattern[str], int] | None = None,
    ) -> None:
        self.app, self._body, self._longer = app, body, longer or {}
        self.telemetry = telemetry or NoTelemetry()
        self._hosts = frozenset(name.lower().strip("[]") for name in (*LOOPBACK, *hosts))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http":
            await _Exchange(self, scope, receive, send).run()
        elif scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        else:  # there are no websockets here
            await send({"type": "websocket.close", "code": 1008})

    def check(self, scope: Scope, headers: Headers) -> None:
        """Raise Refusal for a request that is not to be answered at all."""
        host = headers.get("host", "")
        if not self._known(host):
            advice = "The operator can add its name: ANAMNESIS_SERVER__HOSTS."
            raise Refusal(421, "host_refused", "The server is not known under this name.", advice)
        if scope["method"] in CHANGING and "origin" in headers and not from_own_page(headers):
            raise foreign_origin()
        length, most = headers.get("content-length", ""), self.most(scope)
        if length.isdecimal() and (len(length) > len(str(most)) or int(length) > most):
            raise too_large(most)

    def most(self, scope: Scope) -> int:
        """Bytes that the body of a request may have."""
        return next((most for place, most in self._longer.items() if place.search(scope["path"])), self._body)

    def limited(self, scope: Scope, receive: Receive) -> Receive:
        """The same body, refused once it is too long, whatever its length was said to be."""
        taken, most = 0, self.most(scope)
        scope["state"]["most"] = most

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > most:
                raise HTTPException(413)
            return message

        return counted

    def _known(self, host: str) -> bool:
        found = HOST.match(host)
        name = (found["six"] or found["name"]).lower() if found else ""
        return name in self._hosts or _is_address(name)


def too_large(most: int) -> Refusal:
    """The answer to a body beyond the limit."""
    return Refusal(413, "too_large", f"A request has at most {most:,} bytes.", "Send less at once.")


class _Exchange:
    """One request and its answer."""

    def __init__(self, edge: Edge, scope: Scope, receive: Receive, send: Send) -> None:
        self._edge, self._scope, self._receive, self._send = edge, scope, receive, send
        self._headers = Headers(scope=scope)
        given = self._headers.get("x-request-id", "")
        self._id = given if REQUEST_ID.match(given) else secrets.token_hex(8)
        self._started, self._status = time.perf_counter(), 0
        scope.setdefault("state", {})["request_id"] = self._id

    async def run(self) -> None:
        method, scheme, caller = self._scope["method"], self._scope["scheme"], self._headers.get("traceparent", "")
        traced = self._scope["path"].startswith(PRIVATE)  # neither probes nor the page's files
        with self._edge.telemetry.request(method, scheme, caller, traced=traced) as followed:
            try:
                await self._answer()
            finally:
                followed(self._status, self._scope.get("state", {}).get("route", ""))

    async def _answer(self) -> None:
        try:
            self._edge.check(self._scope, self._headers)
            await self._edge.app(self._scope, self._edge.limited(self._scope, self._receive), self._answered)
        except Refusal as refusal:
            await self._refuse(refusal)
        except Exception as error:  # noqa: BLE001  the last line: it is logged, and the client is told
            logs.failure("A request failed.", error, request=self._id)
            if not self._status:
                await self._refuse(Refusal(500, "internal", "The server failed.", "Tell the operator the request id."))
        finally:
            self._log()

    async def _answered(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in self._own_headers().items():
                headers.setdefault(name, value)  # a mounted application may be stricter
        await self._send(message)

    def _own_headers(self) -> dict[str, str]:
        own = {**HEADERS, "X-Request-ID": self._id}
        if self._scope["path"].startswith(PRIVATE):
            own["Cache-Control"] = "no-store"
        if self._scope.get("scheme") == "https":
            own["Strict-Transport-Security"] = f"max-age={YEAR}"
        return own

    async def _refuse(self, refusal: Refusal) -> None:
        body = json.dumps(body_of(self._scope["path"], refusal, self._id)).encode()
        headers = {"content-type": "application/json", "content-length": str(len(body)), **refusal.headers}
        raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        await self._answered({"type": "http.response.start", "status": refusal.status, "headers": raw})
        await self._send({"type": "http.response.body", "body": body})

    def _log(self) -> None:
        state: dict[str, Any] = self._scope.get("state", {})
        logs.event(
            "request",
            request=self._id,
            key=state.get("caller", ""),
            method=self._scope["method"] if self._scope["method"].isalpha() else "",
            route=state.get("route", ""),
            status=self._status,
            ms=round((time.perf_counter() - self._started) * 1000, 1),
        )


def from_own_page(headers: Headers) -> bool:
    """Whether a browser says that a page of this server sends the request.

    Every browser says so with a request that changes something. What is authenticated by the log-in cookie must have
    it (`guard.caller_of`), because a browser adds the cookie by itself; with a key in a header, no page of another
    site can have sent it.
    """
    origin = headers.get("origin")
    if origin is None:
        return headers.get("sec-fetch-site") == "same-origin"
    try:
        return urlsplit(origin).netloc.lower() == headers.get("host", "").lower()
    except ValueError:
        return False


def foreign_origin() -> Refusal:
    """The answer to another site's page."""
    return Refusal(403, "origin_refused", "Another site's page may not do this.", "Use the server's own page.")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


# Connections that may not stall: uvicorn's protocol with deadlines for a request's head and body, and a limit.
#
# uvicorn closes a connection that is silent between two requests, and waits for ever for the rest of one that has
# begun. Here the head of a request, and then its body, must be there in time, however slowly they come; and where all
# connections are taken, the one whose request is unfinished longest makes room. Requests that are there whole, and so
# the answers and the streams of events that run, are never cut off for another one.


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
