"""The protocol over streamable HTTP, at one address of the server, with the server's keys.

What stands before every endpoint of the server stands before this one too: the Host list, the Origin check, the body
limit, request ids and the log. Every request is let in by its key, so that one that is taken back is refused with the
next; the log-in cookie of the page opens nothing here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.loop import run
from agent.mcp.asking import TimedOutError
from agent.mcp.callers import IN_SCOPE, SCOPES, Caller, ScopeError
from agent.mcp.opening import Opening
from agent.mcp.server import Service, server_of
from agent.server.access import Access, AccessRefused
from agent.server.access import Caller as KeyHolder
from agent.server.edge import Edge
from agent.server.guard import Parts, address_of
from agent.server.keys import Keys
from agent.server.limits import SOON, Rate
from agent.server.problems import Refusal, body_of
from agent.server.settings import ServerSettings
from agent.server.tables import Histories, Tables
from agent.server.turns import Question, Turns, stopping
from prompts.errors import AnamnesisError, InputError, ServiceError

if TYPE_CHECKING:
    from agent.agent import Agent
    from agent.conversation import Step
    from agent.mcp.asking import Ask
    from graphs.answering.contract import Answer


PATH = "/mcp"
METHODS = ["GET", "POST", "DELETE"]
IDLE = 1800.0  # ours: seconds after which a connection that nobody uses is forgotten
CONNECTIONS = 1000  # ours: connections of all keys at once; the protocol's newest version needs none


class Endpoint:
    """The address as an application.

    Args:
        agent: the agent. access: lets callers in.
    """

    def __init__(self, agent: Agent, access: Access) -> None:
        self._agent, self._access = agent, access
        self._connections: Connections | None = None

    @asynccontextmanager
    async def running(self, turns: Any, settings: ServerSettings) -> AsyncIterator[None]:
        """Serve the server's turns while inside, within its limits."""
        from anamnesis import __version__

        service = Service(Opening(lambda: self._agent, own=False), Served(turns, settings.turn_seconds))
        manager = StreamableHTTPSessionManager(
            server_of(service, __version__),
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the server's own is
            max_request_body_size=settings.body,
            session_idle_timeout=IDLE,
            max_sessions=CONNECTIONS,
        )
        self._connections = Connections(manager.handle_request, settings.mcp_connections)
        try:
            async with manager.run():
                yield
        finally:
            self._connections = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        state = scope.setdefault("state", {})
        state["route"] = PATH
        try:
            await self._answer(scope, receive, send)
        except Refusal as refused:
            body = body_of(PATH, refused, state.get("request_id", ""))
            await JSONResponse(body, refused.status, refused.headers)(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        header = Headers(scope=scope).get("authorization")
        caller = await self._access.authenticate(header, None, address_of(scope))
        scope["state"]["caller"] = caller.id
        if not SCOPES & caller.scopes:
            raise AccessRefused(403, "scope_missing", "This key opens nothing here.", "Ask for one that does.")
        if self._connections is None:
            raise RuntimeError("the endpoint was called outside `running`")
        scope[IN_SCOPE] = caller
        scope["user"] = _user(caller)
        await self._connections.handle(caller.id, scope, receive, send)


def mount(app: Starlette, agent: Agent, access: Access) -> None:
    """Serve the protocol at /mcp of the server, for as long as the server runs.

    The server's parts (``app.state.parts``) must be there when it starts.
    """
    endpoint = Endpoint(agent, access)
    before = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(application: Any) -> AsyncIterator[Any]:
        async with before(application) as state:
            parts = app.state.parts
            async with endpoint.running(parts.turns, parts.settings):
                yield state

    app.router.lifespan_context = lifespan
    app.router.routes.insert(0, Route(PATH, endpoint=endpoint, methods=METHODS, include_in_schema=False))


def create_app(agent: Agent, *, authentication: bool = True) -> Starlette:
    """An application with nothing but the protocol, guarded as the whole server is."""
    chosen = agent.settings.server
    tables = run(Tables(agent.database).open())
    access = Access(Keys(tables), Rate(chosen.requests), Rate(chosen.failed_keys), enabled=authentication)
    app = Starlette()
    parts = Parts(agent, access, Turns(agent, chosen), Histories(tables), chosen)
    app.state.parts, app.state.turns = parts, parts.turns
    app.add_middleware(Edge, hosts=[chosen.host, *chosen.hosts], body=chosen.body)
    mount(app, agent, access)
    return app


def serve(host: str | None, port: int | None, *, authentication: bool) -> None:
    """Serve the protocol alone until a signal says stop; None takes the setting. Raises as the server does."""
    from agent.server import start
    from agent.settings import load_settings

    settings = load_settings()
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    server = settings.server.model_copy(update=given)
    start.serve(settings.model_copy(update={"server": server}), authentication=authentication, make=create_app)


def _user(caller: KeyHolder) -> AuthenticatedUser:
    """The caller as the library knows one: it binds a connection to who opened it."""
    return AuthenticatedUser(AccessToken(token="", client_id=caller.id, scopes=sorted(caller.scopes)))


# The protocol's connections of each key: at most so many, and the one that is idle longest makes room for a new
# one.
# A connection holds some 0.9 MB, so that a key which opens and never closes would fill the server for all others.
# One is idle while no request of it is answered; a client that listens (an open GET) is not. The protocol's newest
# version needs no connections and is not counted.

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


# Turns on the server: with its places and times, and stored whether or not the client stays, as those of its API.

FORBIDDEN, NOT_FOUND, BUSY, BAD, LATE = 403, 404, 409, 400, 504  # statuses of the server's refusals
KINDS: dict[int, type[AnamnesisError]] = {
    FORBIDDEN: ScopeError,
    NOT_FOUND: InputError,
    BUSY: InputError,
    BAD: InputError,
    LATE: TimedOutError,
}


class Served:
    """Turns of the server's own kind.

    Args:
        turns: the server's. seconds: how long a call may take.
    """

    def __init__(self, turns: Turns, seconds: float) -> None:
        self._turns = turns
        self.seconds: float | None = seconds

    def turn(self, agent: Agent, asked: Ask, session: str, caller: Caller) -> AsyncIterator[Step | Answer]:
        """The steps of a turn, then its answer."""
        del agent  # the server's turns have it
        return self._turn(asked, session, caller)

    def call(self, caller: Caller) -> AbstractContextManager[object]:
        """A place for a call, as for a turn."""
        return self._call(caller)

    async def _turn(self, asked: Ask, session: str, caller: Caller) -> AsyncIterator[Step | Answer]:
        question = Question(session, asked.message, asked.options, asked.given, asked.report)
        with _told():
            async for event in self._turns.ask(cast(Any, caller), question):
                yield event

    @contextmanager
    def _call(self, caller: Caller) -> Iterator[None]:
        with _told():
            if self._turns.closing:
                raise stopping()
            give_back = self._turns.places.take(caller.id)
        try:
            yield
        finally:
            give_back()


@contextmanager
def _told() -> Iterator[None]:
    """What the server refuses becomes a typed error."""
    try:
        yield
    except Refusal as refusal:
        raise KINDS.get(refusal.status, ServiceError)(refusal.what, refusal.advice) from None
