"""The application: every endpoint around one agent. `create_app` makes it, `agent.server.start` runs it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from agent.loop import run
from agent.server.access import Access
from agent.server.account_api import account
from agent.server.documents_api import PLACE, documents
from agent.server.edge import Edge, too_large
from agent.server.guard import Parts, remember_route
from agent.server.health_api import health
from agent.server.histories import Histories
from agent.server.housekeeping import Housekeeping
from agent.server.keys import Keys
from agent.server.limits import Rate
from agent.server.openai_api import openai
from agent.server.problems import Refusal, body_of, refusal_of, unmet
from agent.server.sessions_api import sessions
from agent.server.settings import ServerSettings
from agent.server.tables import Tables
from agent.server.turns import Turns
from agent.server.turns_api import turns
from anamnesis import __version__
from prompts.errors import AnamnesisError

if TYPE_CHECKING:
    from agent.agent import Agent

NO_TELEMETRY: Any = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
ABOUT = (
    "An agentic medical evidence assistant that cites every sentence. Errors under /api have the form "
    '`{"error": {"code", "message", "advice", "request_id"}}`, under /v1 OpenAI\'s.'
)


def create_app(agent: Agent, settings: ServerSettings | None = None, *, authentication: bool = True) -> FastAPI:
    """The server around an agent, which stays the caller's to close.

    Args:
        settings: None takes the agent's own.
        authentication: False lets everybody in, as the owner "": for loopback only.
    """
    chosen = settings or agent.settings.server
    tables = run(Tables(agent.database).open())
    access = Access(Keys(tables), Rate(chosen.requests), Rate(chosen.failed_keys), enabled=authentication)
    parts = Parts(agent, access, Turns(agent, chosen), Histories(tables), chosen)
    app = FastAPI(
        title="Anamnesis",
        version=__version__,
        description=ABOUT,
        docs_url=None,  # the pages that FastAPI has load scripts from another host
        redoc_url=None,
        lifespan=_lifespan(parts),
        dependencies=[Depends(remember_route)],
        generate_unique_id_function=lambda route: route.name,
        telemetry=NO_TELEMETRY,
    )
    app.state.parts, app.state.turns, app.state.access = parts, parts.turns, access
    hosts = [chosen.host, *chosen.hosts]
    longer = {PLACE: chosen.document}
    app.add_middleware(Edge, hosts=hosts, body=chosen.body, longer=longer, telemetry=agent.telemetry)
    for router in (health, account, sessions, turns, documents, openai):
        app.include_router(router)
        agent.telemetry.know(_templates(router.routes))
    _handle_errors(app)
    _mount(app, agent, access)
    agent.telemetry.know(_templates(app.routes))
    return app


def _templates(routes: Iterable[Any]) -> list[str]:
    return [getattr(route, "path", None) or "" for route in routes]


def _lifespan(parts: Parts) -> Any:
    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        del app
        work = Housekeeping(parts)
        work.start()
        try:
            yield
        finally:
            await work.stop()
            await parts.turns.close(0)

    return lifespan


def _mount(app: FastAPI, agent: Agent, access: Access) -> None:
    """The model context protocol and the page, where they are installed. The page comes last: it takes all paths."""
    if find_spec("mcp") is not None and find_spec("agent.mcp.http") is not None:
        import_module("agent.mcp.http").mount(app, agent, access)
    if find_spec("agent.web") is not None:
        import_module("agent.web").mount(app)


def _handle_errors(app: FastAPI) -> None:
    """Every error in the one form of its path."""

    def answer(request: Request, refusal: Refusal) -> JSONResponse:
        body = body_of(request.url.path, refusal, request.state.request_id)
        return JSONResponse(body, refusal.status, refusal.headers)

    async def refused(request: Request, error: Any) -> JSONResponse:
        return answer(request, error)

    async def typed(request: Request, error: Any) -> JSONResponse:
        return answer(request, refusal_of(error))

    async def malformed(request: Request, error: Any) -> JSONResponse:
        said = sorted({f"{'.'.join(map(str, found['loc']))}: {found['msg']}" for found in error.errors()})
        advice = "GET /openapi.json describes what is taken."
        return answer(request, Refusal(422, "malformed", f"The request is malformed: {'; '.join(said)}.", advice))

    async def other(request: Request, error: Any) -> JSONResponse:
        if error.status_code == 413:
            return answer(request, too_large(request.state.most))
        refusal = unmet(error.status_code)
        refusal.headers.update(error.headers or {})
        return answer(request, refusal)

    app.add_exception_handler(Refusal, refused)
    app.add_exception_handler(AnamnesisError, typed)
    app.add_exception_handler(RequestValidationError, malformed)
    app.add_exception_handler(HTTPException, other)
