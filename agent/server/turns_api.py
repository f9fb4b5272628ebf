"""Turns over HTTP: ask, resume, review, trace. An answer comes as JSON, or with its steps as server-sent events."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Header, Path, Query, Request, Response

from agent.changes import Changes
from agent.loop import arun
from agent.messages import check_message, check_options, given_evidence
from agent.server.contract import NewFeedback, NewReply, NewReview, NewTurn, Shown, Trace
from agent.server.events import ALIVE, MEDIA, EventStream, told
from agent.server.guard import Asker, Parts, Reviewer, The, Tracer
from agent.server.problems import Refusal, answers
from agent.server.sessions_api import USUAL, SessionPath, no_turn
from agent.server.turns import Question, Running
from agent.sessions import Feedback, Review, TurnRecord
from agent.sessions.contract import LONGEST_CORRECTION
from agent.trace_page.evidence import HowFound, how_found
from graphs.answering.contract import Answer
from prompts.errors import InputError

T = TypeVar("T")
THIS_TURN = {"session": "$response.body#/session", "turn": "$response.body#/turn"}
STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {MEDIA: {"schema": {"type": "string"}}},
        "description": "The answer; with `Accept: text/event-stream` events `step`, then `answer` or `error`.",
        "links": {name: {"operationId": name, "parameters": THIS_TURN} for name in ("review", "trace")},
    }
}
ASKED = {**answers(404, 409, 502, 503, 504), **STREAM}

TurnPath = Annotated[int, Path(ge=1, le=1_000_000, description="The turn, from 1.")]
Once = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        pattern=r"^[!-~]{0,200}$",
        description="Any text of your own: a second message with the same one is answered once.",
    ),
]

# among the events one more, `view`, before the answer
View = Annotated[Shown, Query()]

turns = APIRouter(prefix="/api/sessions/{session}", tags=["turns"], responses=answers(*USUAL))


@turns.post("/turns", response_model=Answer, responses=ASKED)
async def ask(
    session: SessionPath,
    body: NewTurn,
    request: Request,
    the: The,
    caller: Asker,
    shown: View,
    idempotency_key: Once = "",
) -> Response:
    """Send a message and get its answer. The turn goes on, and is stored, when you go away."""
    check(the, body)
    await arun(the.agent.records.get(session, owner=caller.id))
    await _check_documents(the, session, caller.id, body.documents)
    asks = body.ask and MEDIA in request.headers.get("accept", "")  # who gets no events would never see the question
    with_it = body.options, body.given, body.report
    question = Question(session, body.text, *with_it, idempotency_key, asks, body.documents, body.replaces)
    return await _answered(request, the.turns.ask(caller, question), shown.view)


@turns.post("/reply", status_code=204, responses=answers(404, 409))
async def reply(session: SessionPath, body: NewReply, the: The, caller: Asker) -> None:
    """Reply to the question at which the running turn waits (an event `step` whose status is `asks`)."""
    await arun(the.agent.records.get(session, owner=caller.id))
    the.turns.reply(caller, session, body.text)


@turns.post("/stop", status_code=204, responses=answers(404, 409))
async def stop(session: SessionPath, the: The, caller: Asker) -> None:
    """Stop the running turn, or give up the one that was cut off: its answer says that there is none.

    The message is kept and counts no more; whoever follows the turn gets that answer.
    """
    record = await arun(the.agent.records.get(session, owner=caller.id))
    if not record.unfinished and not the.turns.runs(session):
        raise Refusal(409, "no_turn", "No turn of the session runs.", "Its answers: GET /api/sessions/{session}.")
    await the.turns.stop(caller, session)


@turns.post("/resume", response_model=Answer, responses=ASKED)
async def resume(session: SessionPath, request: Request, the: The, caller: Asker, shown: View) -> Response:
    """Follow the turn that runs, finish the one that was cut off, or get the last answer once more."""
    record = await arun(the.agent.records.get(session, owner=caller.id))
    if not record.turns and not the.turns.runs(session):
        raise Refusal(409, "no_turn", "The session holds no message yet.", "Send one: POST .../turns.")
    return await _answered(request, await the.turns.resume(caller, session), shown.view)


@turns.put("/turns/{turn}/review", responses=answers(404))
async def review(session: SessionPath, turn: TurnPath, body: NewReview, the: The, caller: Reviewer) -> TurnRecord:
    """Put a clinician's verdict beside an answer. It is signed with the key's name."""
    if body.verdict == "corrected":
        check_message(body.correction, LONGEST_CORRECTION, "The correction", raised=False)
    said = Review(verdict=body.verdict, correction=body.correction, reviewer=caller.name)
    await _record(the, session, turn, caller.id)
    await arun(the.agent.records.review(session, turn, said, owner=caller.id))
    return await _record(the, session, turn, caller.id)


@turns.put("/turns/{turn}/feedback", responses=answers(404))
async def feedback(session: SessionPath, turn: TurnPath, body: NewFeedback, the: The, caller: Asker) -> TurnRecord:
    """Say whether an answer helped, and why. It is kept beside the answer and deleted with the session."""
    said = Feedback(helpful=body.helpful, reason=body.reason)
    await _record(the, session, turn, caller.id)
    await arun(the.agent.records.feedback(session, turn, said, owner=caller.id))
    return await _record(the, session, turn, caller.id)


@turns.post("/turns/{turn}/changes", responses=answers(404))
async def changes(session: SessionPath, turn: TurnPath, the: The, caller: Asker) -> Changes:
    """What has changed since the answer: its searches are asked again, and what it cites is looked at anew."""
    await _record(the, session, turn, caller.id)
    return await arun(the.agent.records.changes(session, turn, owner=caller.id))


@turns.get("/turns/{turn}/how", responses=answers(404))
async def how(session: SessionPath, turn: TurnPath, the: The, caller: Asker) -> HowFound:
    """How an answer was found: what was done, where was searched with how many hits, what it does not use and why."""
    await _record(the, session, turn, caller.id)
    run = f"{session}/{turn}"

    async def told() -> HowFound:
        return how_found(run, await the.agent.traces.events(run), the.agent.database.texts)

    return await _traced(told(), turn)


@turns.get("/turns/{turn}/trace", responses=answers(404))
async def trace(session: SessionPath, turn: TurnPath, the: The, caller: Tracer) -> Trace:
    """What a turn did: steps, times, queries, what was kept and dropped and why."""
    await _record(the, session, turn, caller.id)
    return Trace(events=await _traced(the.agent.traces.events(f"{session}/{turn}"), turn))


async def _traced(read: Coroutine[Any, Any, T], turn: int) -> T:
    """What is read of a turn's trace; raises Refusal where that is not here."""
    try:
        return await arun(read)
    except InputError:
        what = f"The trace of turn {turn} is not here."
        advice = "It runs in another worker, or was cut off with it: its trace lies in that worker's data folder."
        raise Refusal(404, "no_trace", what, advice) from None


def check(the: Parts, body: NewTurn) -> None:
    """Raise InputError for what the agent would not take, before anything is begun."""
    most = the.agent.settings.max_characters
    check_message(body.text, most)
    check_options(body.options, most)
    given_evidence(body.given, most)


async def _check_documents(the: Parts, session: str, owner: str, wanted: Sequence[str]) -> None:
    """Raise Refusal for a document that the session has not."""
    known = {d.id for d in await arun(the.agent.documents.all(session, owner))} if wanted else set()
    for one in wanted:
        if one not in known:
            raise Refusal(404, "no_document", f"The session has no document {one}.", "Put the file in again.")


async def _answered(request: Request, running: Running, view: bool) -> Response:
    if MEDIA in request.headers.get("accept", ""):
        return EventStream(told(running, request.state.request_id, ALIVE, view=view))
    answer = await running.answer()
    return Response(answer.to_json(), media_type="application/json")


async def _record(the: Parts, session: str, turn: int, owner: str) -> TurnRecord:
    for record in await arun(the.agent.records.turns(session, owner=owner)):
        if record.turn == turn:
            return record
    raise no_turn(turn)
