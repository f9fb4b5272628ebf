"""Bodies of the OpenAI-compatible endpoints: what of a request is read, and the shape of what comes back."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

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
        """Its text; the parts that are no text are left out (`openai_reading` refuses them from a user)."""
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
