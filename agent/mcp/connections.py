"""The protocol's connections of each key: at most so many, and the one that is idle longest makes room for a new one.

A connection holds some 0.9 MB, so that a key which opens and never closes would fill the server for all others. One is
idle while no request of it is answered; a client that listens (an open GET) is not. The protocol's newest version
needs no connections and is not counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from http import HTTPStatus

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.server.limits import SOON
from agent.server.problems import Refusal

ID, VERSION = "mcp-session-id", "mcp-protocol-version"
Held = dict[object, int]
"""A key's connections, the one used longest ago first, each with how many requests of it are being answered."""


class Connections:
    """Counts the connections of each key before what serves them.

    Args:
        serve: serves a request of the protocol.
        each: connections of one key at once.
    """

    def __init__(self, serve: ASGIApp, each: int) -> None:
        self._serve, self._each = serve, each
        self._held: defaultdict[str, Held] = defaultdict(dict)

    async def handle(self, key: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of a key; raises Refusal 429 where it would open one connection too many."""
        headers = Headers(scope=scope)
        name = headers.get(ID)
        if name is not None:
            await self._used(self._held[key], name, scope, receive, send)
        elif headers.get(VERSION) in (None, *HANDSHAKE_PROTOCOL_VERSIONS):
            await self._opened(self._held[key], scope, receive, send)
        else:
            await self._serve(scope, receive, send)

    async def _used(self, held: Held, name: str, scope: Scope, receive: Receive, send: Send) -> None:
        if name in held:
            held[name] = held.pop(name) + 1  # now the one used last
        status = HTTPStatus.OK
        try:
            status, _ = await self._watched(scope, receive, send)
        finally:
            if name in held:
                held[name] -= 1
                if status == HTTPStatus.NOT_FOUND or (scope["method"] == "DELETE" and status < HTTPStatus.BAD_REQUEST):
                    del held[name]

    async def _opened(self, held: Held, scope: Scope, receive: Receive, send: Send) -> None:
        place = object()
        if len(held) >= self._each:
            idle = self._idle(held)
            del held[idle]
            held[place] = 1  # before anything is awaited, so that many at once are as many
            await self._end(str(idle), scope)
        held[place] = 1
        name = ""
        try:
            _, name = await self._watched(scope, receive, send, lambda name: held.update({name: held.pop(place)}))
        finally:
            held.pop(place, None)
            if name in held:
                held[name] -= 1

    def _idle(self, held: Held) -> object:
        """The connection that is idle longest; raises Refusal where all are in use."""
        for name, requests in held.items():
            if not requests:
                return name
        what = f"This key has {self._each} connections open and uses them all."
        advice = "End one (DELETE with its mcp-session-id), or make several calls through one."
        raise Refusal(429, "too_many_connections", what, advice, retry_after=SOON)

    async def _end(self, name: str, scope: Scope) -> None:
        """End a connection as its client would."""
        ending = {**scope, "method": "DELETE", "headers": [(ID.encode(), name.encode())]}
        await self._serve(ending, _nothing, _unsent)

    async def _watched(
        self, scope: Scope, receive: Receive, send: Send, opened: Callable[[str], None] = lambda _: None
    ) -> tuple[HTTPStatus, str]:
        """Serve a request: the status, and the connection that the answer opens, told as soon as it begins."""
        status, name = HTTPStatus.INTERNAL_SERVER_ERROR, ""

        async def watch(message: Message) -> None:
            nonlocal status, name
            if message["type"] == "http.response.start":
                status = HTTPStatus(message["status"])
                if status < HTTPStatus.BAD_REQUEST and (name := Headers(raw=message["headers"]).get(ID, "")):
                    opened(name)
            await send(message)

        await self._serve(scope, receive, watch)
        return status, name


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unsent(_: Message) -> None:
    """What the ended connection is told is sent to nobody."""
