"""OpenAI's chat completions over the agent: for clients that know nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Response

from agent.server.conversations import Conversations
from agent.server.events import MEDIA, EventStream
from agent.server.guard import Asker, Parts, The
from agent.server.openai_contract import MODEL, ChatCompletion, Completion, Model, ModelList
from agent.server.openai_reading import read
from agent.server.openai_reply import completion_of, streamed
from agent.server.problems import OpenAIErrorBody, answers
from agent.server.sessions_api import USUAL
from agent.server.turns_api import Once
from graphs.answering.contract import Answer

MADE = 1_760_000_000  # ours: when the model was made, which clients want to know; a fixed moment
CHUNKS: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {MEDIA: {"schema": {"type": "string"}}},
        "description": "The completion; with `stream` its chunks as server-sent events.",
    }
}
SessionHeader = Annotated[str, Header(alias="X-Session-Id", description="Go on in this session.")]

openai = APIRouter(prefix="/v1", tags=["openai"], responses=answers(*USUAL, model=OpenAIErrorBody))


@openai.get("/models")
async def models(the: The, caller: Asker) -> ModelList:
    """The one model: the agent as it is configured."""
    del caller
    return ModelList(data=[Model(id=model_of(the), created=MADE)])


@openai.post(
    "/chat/completions",
    response_model=ChatCompletion,
    responses={**answers(404, 409, 502, 503, 504, model=OpenAIErrorBody), **CHUNKS},
)
async def complete(
    body: Completion,
    the: The,
    caller: Asker,
    x_session_id: SessionHeader = "",
    idempotency_key: Once = "",
) -> Response:
    """Answer the last message. The session is the one named, else the one that the messages before belong to."""
    model = model_of(the)
    wanted = read(body, x_session_id, model)
    conversations = Conversations(the, caller)
    begun = await conversations.begin(wanted, idempotency_key)
    headers = {"X-Session-Id": begun.session}
    if body.stream:
        usage = bool(body.stream_options and body.stream_options.include_usage)
        chunks = streamed(conversations.follow(begun), model, begun.session, wanted.ignored, usage=usage)
        return EventStream(chunks, headers=headers)
    answer = await _last(conversations.follow(begun))
    completion = completion_of(answer, wanted.ignored, model)
    return Response(completion.model_dump_json(), media_type="application/json", headers=headers)


def model_of(the: Parts) -> str:
    """The model's name, with the published configuration where there is one."""
    config = the.agent.settings.config
    return f"{MODEL}:{config}" if config else MODEL


async def _last(events: AsyncIterator[Any]) -> Answer:
    answer: Answer | None = None
    async for event in events:
        answer = event if isinstance(event, Answer) else answer
    if answer is None:
        raise RuntimeError("a turn ended without an answer or an error")
    return answer
