"""The application: every endpoint around one agent. `create_app` makes it, `agent.server.start` runs it."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from agent.loop import arun, run
from agent.server import logs
from agent.server.access import COOKIE, ONCE, Access, Caller
from agent.server.contract import DocumentList, Key, Me, State
from agent.server.edge import Edge, too_large
from agent.server.guard import Anyone, Asker, Parts, The, address_of, remember_route
from agent.server.keys import Keys
from agent.server.limits import Rate
from agent.server.openai_api import openai
from agent.server.problems import Refusal, answers, body_of, refusal_of, unmet
from agent.server.sessions_api import USUAL, SessionPath, sessions
from agent.server.settings import ServerSettings
from agent.server.tables import Histories, Tables
from agent.server.turns import Turns
from agent.server.turns_api import turns
from agent.sessions import SessionRecord
from agent.sessions.documents import NAME, SessionDocument
from anamnesis import __version__
from prompts.errors import AnamnesisError, InputError

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
        docs_url=None,  # the pages that FastAPI has load scripts from another host; agent.web has one that does not
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


# Who calls, and the page's log-in.

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


# Documents of a session over HTTP: a file is put in, read apart, and kept with the session alone.

PLACE = re.compile(r"/api/sessions/[^/]+/documents/?\Z")  # where a request may be as long as a document

FileName = Annotated[
    str, Query(alias="name", min_length=1, max_length=NAME, description="The file's name; its ending tells its kind.")
]
BODY = {"requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string"}}}}}

documents = APIRouter(prefix="/api/sessions/{session}/documents", tags=["sessions"], responses=answers(*USUAL, 404))


@documents.post("", status_code=201, openapi_extra=BODY, responses=answers(415))
async def add_document(
    session: SessionPath, request: Request, the: The, caller: Asker, name: FileName
) -> SessionDocument:
    """Put a file into a session: its text is kept with it and nowhere else, and a message may be answered from it."""
    await arun(the.agent.records.get(session, owner=caller.id))  # a stranger's file is not even received
    if request.headers.get("content-type", "").lower().startswith("multipart/"):
        what, advice = "A form is not unpacked.", "Send the file itself as the body: curl --data-binary @FILE."
        raise Refusal(415, "unsupported_media_type", what, advice)
    data = await request.body()
    if not data:
        raise Refusal(400, "bad_input", "The file is empty.", "Save the document again, or leave it out.")
    return await arun(the.agent.documents.add(session, name, data, owner=caller.id))


@documents.get("")
async def list_documents(session: SessionPath, the: The, caller: Asker) -> DocumentList:
    """The documents of a session."""
    return DocumentList(documents=await arun(the.agent.documents.all(session, owner=caller.id)))


# Whether the server is alive, and whether it is ready. Neither needs a key, and neither tells anything else.

PROBE = "cough"  # ours: any word that the graph knows
PATIENCE = 3.0  # ours: seconds for a database that answers in milliseconds

health = APIRouter(tags=["health"], responses=answers(421, 500))


@health.get("/health")
async def alive() -> State:
    """The process answers."""
    return State(status="ok")


@health.get("/ready", responses={503: {"model": State, "description": "Not now, and why."}})
async def ready(the: The, response: Response) -> State:
    """Turns can be taken: the databases answer, the indexes are there, the server is not stopping."""
    problems = [*(["stopping"] if the.turns.closing else []), *await _problems(the)]
    response.status_code = 503 if problems else 200
    return State(status="unready" if problems else "ok", problems=problems)


async def _problems(the: Parts) -> list[str]:
    checks = {
        "database": arun(the.agent.database.check()),
        "indexes": asyncio.to_thread(_indexes, the),
    }
    done = await asyncio.gather(
        *(asyncio.wait_for(check, PATIENCE) for check in checks.values()), return_exceptions=True
    )
    for error in done:
        if isinstance(error, BaseException) and not isinstance(error, (AnamnesisError, TimeoutError, OSError)):
            raise error
    return [name for name, result in zip(checks, done, strict=True) if isinstance(result, BaseException)]


def _indexes(the: Parts) -> None:
    """One look-up, which fails where the indexes that the agent opened cannot be read any more."""
    the.agent.parts.look_up(PROBE, "en", [])


# What the server does for itself: retention, forgotten histories, and turns that a kill or a stop cut off.

PAGE = 200  # ours: sessions looked through at once
DAY = 86_400.0  # seconds between two runs of the retention
FREEING = 10.0  # ours: seconds between two times that freed memory is given back
SCOPES = frozenset({"ask"})
FULL = ("too_many_turns", "busy")  # refusals that pass


class Housekeeping:
    """Runs in the background while the server runs."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin."""
        works = (self._tidy(), self._told(self._finish), self._told(self._free))
        self._tasks = [asyncio.create_task(work) for work in works]

    async def stop(self) -> None:
        """Stop at once; nothing is lost."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _told(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except Exception as error:  # noqa: BLE001  the server goes on, the log says where
            logs.failure("Housekeeping failed.", error)

    async def _tidy(self) -> None:
        """Clean now, then once a day; a day on which it fails is not the last."""
        while True:
            await self._told(self._clean)
            await asyncio.sleep(DAY)

    async def _clean(self) -> None:
        """Delete sessions that are too old, and what leads to sessions that are gone."""
        days = self._parts.agent.settings.sessions.keep_days
        if days is not None:
            gone = await arun(self._parts.agent.records.expire(days))
            logs.event("sessions expired", count=len(gone))
        for session in await self._parts.histories.sessions():
            try:
                await arun(self._parts.agent.records.get(session))
            except InputError:
                await self._parts.histories.forget(session)

    async def _free(self) -> None:
        """Give freed memory back to the system now and then: glibc keeps it, so that a server seems to grow."""
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
        while trim is not None:
            await asyncio.sleep(FREEING)
            await asyncio.to_thread(trim, 0)

    async def _listed(self) -> AsyncIterator[SessionRecord]:
        """Every session of every owner."""
        before: str | None = None
        while page := await arun(self._parts.agent.records.list(limit=PAGE, before=before)):
            for record in page:
                yield record
            before = page[-1].updated

    async def _finish(self) -> None:
        """Finish turns that were cut off, one after another, as their owners would by resuming."""
        settings = self._parts.settings
        if not settings.finish_at_start:
            return
        cut_off = [record async for record in self._listed() if record.unfinished]
        done = [await self._finished(record) for record in cut_off[: settings.finish_most]]
        if cut_off:
            logs.event("cut-off turns finished", count=sum(done), left=len(cut_off) - sum(done))

    async def _finished(self, record: SessionRecord) -> bool:
        """Whether a turn could be finished, once its owner had a place for it; False where another worker runs it."""
        caller = Caller(record.owner, "", SCOPES)
        while True:
            try:
                await (await self._parts.turns.resume(caller, record.id)).answer()
            except Refusal as refusal:
                if refusal.code not in FULL:
                    return False
                await asyncio.sleep(refusal.retry_after or 0)
            else:
                return True
