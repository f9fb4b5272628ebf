"""Sessions over HTTP: open, list, read, rename, export, delete. A key sees its own; another's is as an unknown one."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field, WithJsonSchema

from agent.loop import arun
from agent.server.contract import SESSION, NewSession, NewTitle, Sent, SessionList, SessionWhole, Shown
from agent.server.events import view_of
from agent.server.guard import Asker, The
from agent.server.problems import Refusal, answers
from agent.sessions import SessionRecord
from agent.sessions.document import MEDIA
from tools.references.forms import MADE, holds, said_of

FOLLOWING = ("read_session", "rename_session", "delete_session", "export_session", "ask", "resume")  # operations
TIME = r"^([0-9T:.+-]{1,40}Z?)?$"
PAGE, LARGEST_PAGE = 50, 200  # ours: sessions in one answer
EXPORTS = (
    {"json": "application/json", "markdown": "text/markdown"}
    | {form: made.media for form, made in MADE.items()}
    | {"docx": MEDIA}
)
ENDINGS = {"json": "json", "markdown": "md"} | {form: made.suffix for form, made in MADE.items()} | {"docx": "docx"}
ENDINGS["csl-json"] = "csl.json"  # beside the session's own JSON
EXPORTED: dict[int | str, dict[str, Any]] = {
    200: {"content": {media: {"schema": {}} for media in EXPORTS.values()}, "description": "The session."}
}
USUAL = (400, 401, 403, 413, 421, 422, 429, 500, 502)  # what every endpoint of a key can answer

SessionPath = Annotated[str, Path(pattern=SESSION, description="The session's id.")]


class Page(Sent):
    """Which sessions to list."""

    limit: int = Field(default=PAGE, ge=1, le=LARGEST_PAGE)
    before: str = Field(default="", pattern=TIME, description="`updated` of the last session of the page before.")
    search: str = Field(default="", max_length=200, description="A text that the title or a message holds.")


class Wanted(Sent):
    """How to export a session."""

    format: Literal["json", "markdown", "ris", "nbib", "bibtex", "csl-json", "docx"] = "json"
    turn: Annotated[int | None, WithJsonSchema({"type": "integer", "minimum": 1})] = Field(
        default=None, ge=1, description="Only this turn."
    )  # a query cannot say null


def no_turn(turn: int) -> Refusal:
    """The answer to a turn that a session has not."""
    return Refusal(404, "no_turn", f"The session has no turn {turn}.", "GET /api/sessions/{session} lists them.")


THIS = {"parameters": {"session": "$response.body#/id"}}
CREATED: dict[int | str, dict[str, Any]] = {
    201: {"description": "The session.", "links": {name: {"operationId": name, **THIS} for name in FOLLOWING}}
}

sessions = APIRouter(prefix="/api/sessions", tags=["sessions"], responses=answers(*USUAL))


@sessions.post("", status_code=201, responses=CREATED)
async def create_session(body: NewSession, the: The, caller: Asker) -> SessionRecord:
    """Open a session."""
    return await arun(the.agent.records.create(owner=caller.id, title=body.title))


@sessions.get("")
async def list_sessions(the: The, caller: Asker, page: Annotated[Page, Query()]) -> SessionList:
    """Your sessions, last used first."""
    found = the.agent.records.list(
        owner=caller.id, limit=page.limit, before=page.before or None, search=page.search.strip()
    )
    return SessionList(sessions=await arun(found))


@sessions.get("/{session}", responses=answers(404))
async def read_session(session: SessionPath, the: The, caller: Asker, shown: Annotated[Shown, Query()]) -> SessionWhole:
    """A session with its turns."""
    record = await arun(the.agent.records.get(session, owner=caller.id))
    turns = await arun(the.agent.records.turns(session, owner=caller.id))
    views = {t.turn: view_of(t.answer) for t in turns if shown.view and t.answer is not None}
    return SessionWhole(session=record, turns=turns, views=views)


@sessions.patch("/{session}", responses=answers(404))
async def rename_session(session: SessionPath, body: NewTitle, the: The, caller: Asker) -> SessionRecord:
    """Rename a session."""
    return await arun(the.agent.records.rename(session, body.title, owner=caller.id))


@sessions.delete("/{session}", status_code=204, responses=answers(404, 409))
async def delete_session(session: SessionPath, the: The, caller: Asker) -> Response:
    """Delete a session with all that it left: answers, texts, traces, reviews."""
    await arun(the.agent.records.get(session, owner=caller.id))
    if the.turns.runs(session):
        raise Refusal(409, "session_busy", "A turn of the session runs.", "Delete it afterwards.", retry_after=1)
    await arun(the.agent.records.delete(session, owner=caller.id))
    await the.histories.forget(session)
    return Response(status_code=204)


@sessions.get("/{session}/export", responses={**answers(404), **EXPORTED}, response_class=Response)
async def export_session(session: SessionPath, the: The, caller: Asker, wanted: Annotated[Wanted, Query()]) -> Response:
    """A session, or a turn of it, as a file: JSON, Markdown to read, or what it cites for a reference manager."""
    records, turn = the.agent.records, wanted.turn
    if turn is not None and not await arun(records.turns(session, owner=caller.id, only={turn})):
        raise no_turn(turn)
    name = session if turn is None else f"{session}-{turn}"
    headers = {"Content-Disposition": f'attachment; filename="{name}.{ENDINGS[wanted.format]}"'}
    text: str | bytes
    made = next((made for form, made in MADE.items() if form == wanted.format), None)
    if made is not None:
        found = await arun(records.references(session, owner=caller.id, turn=turn))
        said = said_of(found, wanted.format)
        written = sum(holds(r, wanted.format) for r in found.references)
        if not written:
            said = f"There is no reference to write as {wanted.format}. {said}".strip()
        text = made.write(found.references)
        headers["X-References"] = str(written)
        if said:
            headers["X-References-Note"] = said.encode("ascii", "replace").decode().replace("\n", " ")
    elif wanted.format == "docx":
        text = await arun(records.document(session, owner=caller.id, turn=turn))
    else:
        text = await arun(records.export(session, format=wanted.format, owner=caller.id, turn=turn))
    return Response(text, media_type=EXPORTS[wanted.format], headers=headers)
