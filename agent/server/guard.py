"""What every endpoint depends on: the parts of the running server, who calls, and the route for the log."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.types import Scope

from agent.server.access import COOKIE, Access, Caller
from agent.server.edge import CHANGING, foreign_origin, from_own_page
from agent.server.settings import ServerSettings
from agent.server.tables import Histories
from agent.server.turns import Turns

if TYPE_CHECKING:
    from agent.agent import Agent


@dataclass(frozen=True)
class Parts:
    """What the running server is made of."""

    agent: Agent
    access: Access
    turns: Turns
    histories: Histories
    settings: ServerSettings


bearer = HTTPBearer(
    auto_error=False,
    description="A key of `anamnesis keys create`. The page sends the cookie of POST /api/login in its place.",
)


def parts_of(request: Request) -> Parts:
    """The server's parts."""
    found: Parts = request.app.state.parts
    return found


def address_of(scope: Scope) -> str:
    """Whence a request comes, as the server, or a proxy on this machine, says; "" where nothing does."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def remember_route(request: Request) -> None:
    """Note the route's template for the log: it names no session."""
    request.state.route = getattr(request.scope.get("route"), "path", "")


async def caller_of(
    request: Request,
    authorization: Annotated[HTTPAuthorizationCredentials | None, Security(bearer)],
) -> Caller:
    """Who calls; raises AccessRefused, or Refusal 403 where the log-in cookie came with another site's request."""
    del authorization  # declared for the description; the header is read whole, to say what is wrong with it
    header, access = request.headers.get("authorization"), parts_of(request).access
    caller = await access.authenticate(header, request.cookies.get(COOKIE), address_of(request.scope))
    request.state.caller = caller.id
    if access.enabled and not header and request.method in CHANGING and not from_own_page(request.headers):
        raise foreign_origin()
    return caller


def scoped(scope: str) -> Callable[[Caller], Coroutine[Any, Any, Caller]]:
    """A dependency: who calls, with a scope."""

    async def caller(caller: Annotated[Caller, Depends(caller_of)]) -> Caller:
        caller.require(scope)
        return caller

    return caller


The = Annotated[Parts, Depends(parts_of)]
Anyone = Annotated[Caller, Depends(caller_of)]
Asker = Annotated[Caller, Depends(scoped("ask"))]
Reviewer = Annotated[Caller, Depends(scoped("review"))]
Tracer = Annotated[Caller, Depends(scoped("traces"))]
