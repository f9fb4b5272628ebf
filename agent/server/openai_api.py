"""OpenAI's chat completions over the agent: for clients that know nothing else."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Response
from pydantic import BaseModel, ConfigDict, Field

from agent.conversation import Step
from agent.loop import arun
from agent.messages import check_message
from agent.server.access import Caller
from agent.server.events import ALIVE, COMMENT, MEDIA, EventStream
from agent.server.guard import Asker, Parts, The
from agent.server.problems import OpenAIErrorBody, Refusal, answers, body_of, refusal_of
from agent.server.sessions_api import USUAL
from agent.server.tables import Place, Said, hash_of
from agent.server.turns import VERIFIED, Question, Running
from agent.server.turns_api import Once
from agent.sessions import new_session_id, unknown_session
from agent.trace import SESSION_NAME
from graphs.answering.contract import Answer
from graphs.answering.rendering import alerts_of, markdown_of
from prompts.errors import AnamnesisError, InputError
from tools.messages import messages

MODEL = "anamnesis"


class Part(BaseModel):
    """A part of a message; only text can be read."""

    model_config = ConfigDict(extra="allow")

    type: str
    text: str | None = None


class Message(BaseModel):
    """A message. Its other fields are not read."""

    model_config = ConfigDict(extra="allow")

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None

    @property
    def text(self) -> str:
        """Its text; the parts that are no text are left out (`read` refuses them from a user)."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content or [] if part.text is not None)


class StreamOptions(BaseModel):
    """How to stream."""

    model_config = ConfigDict(extra="allow")

    include_usage: bool | None = None


class ResponseFormat(BaseModel):
    """The form of the message: only text."""

    model_config = ConfigDict(extra="allow")

    type: str = "text"


class Metadata(BaseModel):
    """``session`` goes on in a session of this server; the rest is not read."""

    model_config = ConfigDict(extra="allow")

    session: str | None = None


class Completion(BaseModel):
    """A request for a chat completion. Fields that are not here are taken, and named in the answer as ignored."""

    model_config = ConfigDict(extra="allow")

    model: str = Field(description=f"`{MODEL}`.")
    messages: list[Message] = Field(min_length=1)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=None, description="Only 1.")
    response_format: ResponseFormat | None = None
    metadata: Metadata | None = None
    tool_choice: str | dict[str, Any] | None = Field(default=None, description="Only `auto` or `none`.")


class ReplyMessage(BaseModel):
    """The answer as a message. ``anamnesis``: its session, the whole Answer, and what of the request was ignored."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: str | None = None
    anamnesis: dict[str, Any]


class ReplyChoice(BaseModel):
    """The one choice."""

    index: int = 0
    message: ReplyMessage
    logprobs: None = None
    finish_reason: Literal["stop"] = "stop"


class TokenUsage(BaseModel):
    """Tokens of the language model's calls in this turn; 0 where none is configured."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatCompletion(BaseModel):
    """A chat completion."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[ReplyChoice]
    usage: TokenUsage


class Model(BaseModel):
    """A model that can be named."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "anamnesis"


class ModelList(BaseModel):
    """All of them."""

    object: Literal["list"] = "list"
    data: list[Model]


# An answer in the shapes of OpenAI's chat completions: whole, and as the chunks of a stream.
BETWEEN = "\n\n"  # paragraphs of Markdown
DONE = "data: [DONE]\n\n"


def completion_of(answer: Answer, ignored: Sequence[str], model: str) -> ChatCompletion:
    """An answer as a completion."""
    message = ReplyMessage(content=markdown_of(answer), anamnesis=extra(answer, ignored))
    return ChatCompletion(
        id=f"chatcmpl-{answer.session}-{answer.turn}",
        created=int(time.time()),
        model=model,
        choices=[ReplyChoice(message=message)],
        usage=usage_of(answer),
    )


def extra(answer: Answer, ignored: Sequence[str]) -> dict[str, Any]:
    """What goes beside the text: the session, the whole Answer, and what of the request had no effect."""
    return {"session": answer.session, "answer": answer.model_dump(mode="json"), "ignored": list(ignored)}


def usage_of(answer: Answer) -> TokenUsage:
    """Tokens of the language model in this turn."""
    used = answer.usage
    total = used.input_tokens + used.output_tokens
    return TokenUsage(prompt_tokens=used.input_tokens, completion_tokens=used.output_tokens, total_tokens=total)


async def streamed(
    events: AsyncIterator[Step | Answer | None], model: str, session: str, ignored: Sequence[str], *, usage: bool
) -> AsyncIterator[str]:
    """Chunks: finished steps, and what tools do meanwhile, as ``reasoning_content``, until the answer begins; then its
    text by paragraphs, each as soon as nothing can change it: emergencies after triage, what is verified, the rest.

    A draft is never sent: a text that was sent cannot be taken back when the verification drops a sentence of it.
    """
    shape, sent = _Chunks(model, session, usage=usage), ""
    try:
        yield shape.delta({"role": "assistant", "content": ""})
        async for event in events:
            if event is None:
                yield COMMENT
            elif isinstance(event, Answer):
                for text in _pieces(_after(sent, markdown_of(event))):
                    yield shape.delta({"content": text})
                yield shape.delta({"anamnesis": extra(event, ignored)}, finish="stop")
                if usage:
                    yield shape.usage(event)
            else:
                if event.status in ("progress", "finished") and not sent:
                    line = f"{event.tool or event.step}: {event.summary or 'done'}\n"
                    yield shape.delta({"reasoning_content": line})
                begun = _begun(event)
                for text in _pieces(_after(sent, begun)) if begun else ():
                    yield shape.delta({"content": text})
                sent = begun or sent
    except Refusal as refusal:
        yield _data(body_of("/v1/", refusal, ""))
    except AnamnesisError as error:  # the answer is stored; what leads to it could not be
        yield _data(body_of("/v1/", refusal_of(error), ""))
    yield DONE


def _begun(step: Step) -> str:
    """The text with which the message begins, as far as it is settled by a step; "" where that says nothing of it."""
    if step.status == VERIFIED:
        return step.text
    alerts = [(flag["advice"], flag["seen"]) for flag in step.data.get("emergency", ())]
    return BETWEEN.join(alerts_of(alerts, messages(step.data["language"]))) if alerts else ""


def _after(sent: str, text: str) -> str:
    """What is to be sent of a text after its beginning; all of it where it begins otherwise: the turn was stopped."""
    if text.startswith(sent):
        return text[len(sent) :]
    return f"{BETWEEN}{text}"


def _pieces(text: str) -> list[str]:
    """A text in pieces that join to exactly it."""
    first, *others = text.split(BETWEEN)
    return [piece for piece in (first, *(f"{BETWEEN}{text}" for text in others)) if piece]


class _Chunks:
    """Chunks of one completion."""

    def __init__(self, model: str, session: str, *, usage: bool) -> None:
        self._head = {
            "id": f"chatcmpl-{session}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": model,
        }
        self._usage: dict[str, Any] = {"usage": None} if usage else {}

    def delta(self, delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _data({**self._head, "choices": [choice], **self._usage})

    def usage(self, answer: Answer) -> str:
        return _data({**self._head, "choices": [], "usage": usage_of(answer).model_dump()})


def _data(value: dict[str, Any]) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"


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


@openai.get("/models/{model}", responses=answers(404, model=OpenAIErrorBody))
async def model(model: str, the: The, caller: Asker) -> Model:
    """The model of this name."""
    del caller
    return Model(id=_named(model, model_of(the)), created=MADE)


# Bodies of the OpenAI-compatible endpoints: what of a request is read, and the shape of what comes back.


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


# A conversation that a client sends whole, as turns of a session: the one named, the one it belongs to, or a new
# one.
# In a new session for a conversation that is not known (it was held with another model, or changed), the user's
# earlier messages are asked again in order, so that the session knows what they said; what others answered to them
# is not read.

ID = 16  # characters of a session's id, as agent.sessions makes them


# What is asked in a request for a chat completion, and what of it has no effect.

READ = frozenset({"model", "messages", "stream", "stream_options", "n", "response_format", "metadata", "user"})
NOT_READ = ("system", "developer", "tool", "function")  # roles


@dataclass(frozen=True)
class Wanted:
    """A request, read.

    Attributes:
        text: the message to answer. before: the conversation before it.
        session: the session that the client names, "" for none.
        ignored: fields and roles of the request that have no effect.
    """

    text: str
    before: tuple[Said, ...]
    session: str
    ignored: tuple[str, ...]

    @property
    def said(self) -> tuple[Said, ...]:
        """The conversation with the message to answer."""
        return (*self.before, Said("user", self.text))


def read(body: Completion, header: str, model: str) -> Wanted:
    """Read a request.

    Args:
        header: the value of X-Session-Id, which stands above the metadata.
        model: the one model that there is.

    Raises:
        Refusal: 404 another model; 400 what cannot be done, where doing something else would mislead.
    """
    _named(body.model, model)
    if body.n not in (None, 1):
        raise Refusal(400, "n_unsupported", "One message is answered by one answer: n must be 1.")
    if body.response_format is not None and body.response_format.type != "text":
        what, advice = "The message is always text.", "The answer as JSON is in the message's field `anamnesis`."
        raise Refusal(400, "response_format_unsupported", what, advice)
    if body.tool_choice not in (None, "auto", "none"):
        what, advice = "No tool of the client's is called.", "Leave out `tool_choice`; `tools` has no effect."
        raise Refusal(400, "tool_choice_unsupported", what, advice)
    if body.messages[-1].role != "user":
        raise Refusal(400, "no_user_message", "The last message must be the user's.")
    said = _conversation(body.messages)
    session = header or (body.metadata.session if body.metadata and body.metadata.session else "")
    if session and not SESSION_NAME.match(session):
        raise refusal_of(unknown_session(session[:80]))
    return Wanted(said[-1].text, tuple(said[:-1]), session, _ignored(body))


def _named(asked: str, model: str) -> str:
    """The name of the one model; raises Refusal for another."""
    if asked != model:
        what = f"The model {asked[:80]!r} does not exist."
        raise Refusal(404, "model_not_found", what, f"There is {model!r}: GET /v1/models.")
    return model


def _conversation(messages: Sequence[Message]) -> list[Said]:
    for message in messages:
        if message.role == "user" and isinstance(message.content, list):
            strange = [part.type for part in message.content if part.type != "text"]
            if strange:
                what = f"Only text can be read, not {strange[0][:40]!r}."
                raise Refusal(400, "content_unsupported", what, "Describe in words what it shows.")
    told = [m for m in messages if m.role == "user" or (m.role == "assistant" and m.text)]
    return [Said(m.role, m.text) for m in told]


def _ignored(body: Completion) -> tuple[str, ...]:
    sent = [name for name in body.model_fields_set | set(body.model_extra or {}) if name not in READ]
    roles = {f"{m.role} messages" for m in body.messages if m.role in NOT_READ}
    return (*sorted(sent), *sorted(roles))


@dataclass(frozen=True)
class Begun:
    """A conversation whose first turn runs; ``questions`` are all its turns, the last one's answer is wanted."""

    session: str
    wanted: Wanted
    questions: tuple[Question, ...]
    running: Running


class Conversations:
    """The conversations of a caller."""

    def __init__(self, the: Parts, caller: Caller) -> None:
        self._the, self._caller = the, caller

    async def begin(self, wanted: Wanted, key: str = "") -> Begun:
        """Find or open the session and start its first turn.

        Args:
            key: makes the message be answered once, however often it is sent; "" for none.

        Raises:
            InputError, Refusal: the message or the named session cannot be taken, or no turn can be started.
        """
        check_message(wanted.text, self._the.agent.settings.max_characters)
        if wanted.session:
            await arun(self._the.agent.records.get(wanted.session, owner=self._caller.id))
            questions = [Question(wanted.session, wanted.text, key=key)]
        else:
            known = await self._known(wanted)
            if known is not None:
                questions = [Question(known, wanted.text, key=key or hash_of(self._caller.id, wanted.said))]
            else:
                questions = await self._opened(wanted, key)
        running = self._the.turns.ask(self._caller, questions[0])
        return Begun(questions[0].session, wanted, tuple(questions), running)

    async def follow(self, begun: Begun) -> AsyncIterator[Step | Answer | None]:
        """The steps of all its turns, a None where nothing happens for a while, and the last turn's answer."""
        running = begun.running
        for question in begun.questions[1:]:
            async for event in running.follow(ALIVE):
                if event is None or (isinstance(event, Step) and event.status != VERIFIED):
                    yield event and event.model_copy(update={"data": {}})  # another message's answer is not told
            running = self._the.turns.ask(self._caller, question)
        async for event in running.follow(ALIVE):
            if isinstance(event, Answer):
                said = (*begun.wanted.said, Said("assistant", markdown_of(event)))
                place = Place(begun.session, event.turn)
                await self._the.histories.note(self._caller.id, said, place)
            yield event

    async def _known(self, wanted: Wanted) -> str | None:
        """The session that holds exactly the conversation so far, or with this message as its newest turn."""
        place = await self._the.histories.find(self._caller.id, wanted.before) if wanted.before else None
        if place is None:
            return None
        try:
            turns = await arun(self._the.agent.records.turns(place.session, owner=self._caller.id))
        except InputError:  # it was deleted
            return None
        sent_before = len(turns) == place.turns + 1 and turns[-1].asked.strip() == wanted.text.strip()
        return place.session if sent_before or len(turns) == place.turns else None

    async def _opened(self, wanted: Wanted, key: str) -> list[Question]:
        """A new session, in which the earlier messages are asked again. The same key opens the same one."""
        earlier = [said.text for said in wanted.before if said.role == "user"]
        most = self._the.settings.replay_most
        if len(earlier) > most:
            what = f"The conversation is not known, and its {len(earlier)} earlier messages are more than {most}."
            raise Refusal(400, "too_long_a_history", what, "Start a new one, or name its session: X-Session-Id.")
        for text in earlier:
            check_message(text, self._the.agent.settings.max_characters, "An earlier message")
        session = self._named(key) if key else new_session_id()
        await arun(self._the.agent.records.create(owner=self._caller.id, session=session))
        asked = [*earlier, wanted.text]
        # the session's id stands for the key, which may be as long as a turn's key may be
        return [Question(session, text, key=f"{session}:{n}" if key else "") for n, text in enumerate(asked)]

    def _named(self, key: str) -> str:
        return hashlib.sha256(f"{self._caller.id}\0{key}".encode()).hexdigest()[:ID]
