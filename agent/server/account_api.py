"""Who calls, and the page's log-in."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from agent.server.access import COOKIE, ONCE, Caller
from agent.server.contract import Key, Me
from agent.server.guard import Anyone, Parts, The, address_of
from agent.server.problems import answers
from anamnesis import __version__

HOUR = 3600

account = APIRouter(prefix="/api", tags=["account"], responses=answers(400, 403, 413, 421, 422, 429, 500, 502))


@account.get("/me", responses=answers(401))
async def me(the: The, caller: Anyone) -> Me:
    """Who you are, and what you may do."""
    return _me(the, caller)


@account.post("/login", responses=answers(401))
async def login(body: Key, request: Request, response: Response, the: The) -> Me:
    """Log a page in: sets a cookie that stands for the key, which the page then need not keep."""
    access, hours, address = the.access, the.settings.login_hours, address_of(request.scope)
    token = await access.redeem(body.key, hours, address) if access.enabled and body.key.startswith(ONCE) else None
    caller = await access.authenticate(None if token else f"Bearer {body.key}", token, address)
    if access.enabled:
        token = token or await access.login(body.key, hours)
        response.set_cookie(
            COOKIE,
            token,
            max_age=round(the.settings.login_hours * HOUR),
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
    return _me(the, caller)


@account.post("/logout", status_code=204)
async def logout(request: Request, the: The) -> Response:
    """Forget the log-in."""
    token = request.cookies.get(COOKIE)
    if token:
        await the.access.logout(token)
    response = Response(status_code=204)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response


def _me(the: Parts, caller: Caller) -> Me:
    scopes = sorted(caller.scopes)
    return Me(id=caller.id, name=caller.name, scopes=scopes, authentication=the.access.enabled, version=__version__)
