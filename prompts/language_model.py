"""The one place that talks to a language model: ChatOpenAI, or any server that speaks the same.

It is used only when the settings name a model. A key in the environment alone sends nothing anywhere. Replies are
validated against a schema; an invalid one is handed back once with what was wrong. Use one event loop a process: the
client keeps connections that belong to the loop of its first call.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from pathlib import Path
from string import Template
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from prompts.errors import ServiceError

FOLDER = Path(__file__).parent
SEPARATOR = "\n---\n"  # between what a template says as the system and what it says as the user
TILDES = re.compile(r"~+")
LEAST_FENCE = 3  # ours: as Markdown's
MAX_ERRORS = 5  # ours: faults of a reply that are told back; more would not help to mend it
Reply = TypeVar("Reply", bound=BaseModel)


class ModelSettings(BaseModel):
    """Which model is called, and how. ``name`` "" means none.

    Attributes:
        base_url: the server, "" for the openai client's own default. timeout: seconds a request may take.
        max_retries: further tries of the client after 429, 5xx and lost connections; it honours Retry-After.
        temperature: 0 makes replies as steady as the server allows (ours).
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    name: str = ""
    base_url: str = ""
    api_key: SecretStr | None = None
    timeout: float = Field(default=60.0, gt=0)
    max_retries: int = Field(default=2, ge=0, le=10)
    temperature: float = Field(default=0.0, ge=0, le=2)


class Usage(BaseModel):
    """What calls have cost: requests sent, tokens as the server counts them (0 when it does not), seconds."""

    model_config = ConfigDict(frozen=True)

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        """Both together."""
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            seconds=round(self.seconds + other.seconds, 3),
        )


class InvalidReplyError(ServiceError):
    """The model answered twice, and neither reply was what the schema asks for."""


class LanguageModel:
    """A chat model with typed replies.

    Attributes:
        name: the model's name.
        usage: what all calls of this object have cost so far.
    """

    def __init__(self, settings: ModelSettings) -> None:
        self.name = settings.name
        self.usage = Usage()
        self._settings = settings
        self._client: Any = None

    async def structured(self, template: str, schema: type[Reply], **values: str) -> tuple[Reply, Usage]:
        """Fill a template, ask, and validate the reply; one that is invalid is mended once.

        Args:
            template: name of a file of this folder without ``.md``. Its part before ``---`` is the system message.
            values: what stands for the ``$names`` of the part after it. It is data and never becomes a template.

        Returns:
            The reply, and what this call cost.

        Raises:
            InvalidReplyError: both replies were no JSON, or not of the schema.
            ServiceError: the server failed (429, 5xx, time-out, cut or malformed answer, refused key).
        """
        system, user = _filled(template, values)
        messages = [("system", system), ("human", user)]
        said, spent = await self._ask(messages, schema)
        try:
            return schema.model_validate_json(_object(said)), spent
        except ValidationError as error:
            wrong = _faults(error)
        mend = f"That reply cannot be used: {wrong}. Reply again with one JSON object of the schema and nothing else."
        again, more = await self._ask([*messages, ("ai", said), ("human", mend)], schema)
        spent += more
        try:
            return schema.model_validate_json(_object(again)), spent
        except ValidationError as error:
            what = f"The language model's reply is not what was asked for: {_faults(error)}."
            raise InvalidReplyError(what, "Try again, or set another model.") from None

    async def _ask(self, messages: list[tuple[str, str]], schema: type[BaseModel]) -> tuple[str, Usage]:
        import openai

        started = time.monotonic()
        form = {"type": "json_schema", "json_schema": {"name": schema.__name__, "schema": schema.model_json_schema()}}
        try:
            message = await self._chat().ainvoke(messages, response_format=form)
        except openai.OpenAIError as error:
            raise _failure(error) from None  # the cause could carry the request with its headers
        except (json.JSONDecodeError, TypeError, AttributeError, KeyError, IndexError):
            what = "The language model's server sent an answer that is no chat completion."
            raise ServiceError(what, "Check OPENAI_BASE_URL, then try again.") from None
        counted = message.usage_metadata or {}
        spent = Usage(
            calls=1,
            input_tokens=counted.get("input_tokens", 0),
            output_tokens=counted.get("output_tokens", 0),
            seconds=round(time.monotonic() - started, 3),
        )
        self.usage += spent
        return message.content if isinstance(message.content, str) else json.dumps(message.content), spent

    def _chat(self) -> Any:
        if self._client is None:
            from langchain_openai import ChatOpenAI

            settings = self._settings
            self._client = ChatOpenAI(
                model=settings.name,
                base_url=settings.base_url or None,
                api_key=settings.api_key or SecretStr("none"),  # a server in one's own house needs none
                timeout=settings.timeout,
                max_retries=settings.max_retries,
                temperature=settings.temperature,
            )
        return self._client


def _filled(template: str, values: dict[str, str]) -> tuple[str, str]:
    system, _, user = (FOLDER / f"{template}.md").read_text(encoding="utf-8").partition(SEPARATOR)
    return system.strip(), Template(user.strip()).substitute(values | {"fence": fence_of(values.values())})


def fence_of(texts: Iterable[str]) -> str:
    """A line of tildes that stands in none of the texts: longer than the longest run of tildes in them."""
    longest = max((len(run) for text in texts for run in TILDES.findall(text)), default=0)
    return "~" * max(LEAST_FENCE, longest + 1)


def _object(text: str) -> str:
    """The JSON object of a reply, without the fence that some models put around it."""
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text


def _faults(error: ValidationError) -> str:
    found = [f"{'.'.join(map(str, e['loc'])) or 'reply'}: {e['msg']}" for e in error.errors(include_input=False)]
    return "; ".join(found[:MAX_ERRORS])


def _failure(error: Exception) -> ServiceError:
    import openai

    if isinstance(error, openai.RateLimitError):
        return ServiceError("The language model has had too many requests.", "Wait a minute, then try again.")
    if isinstance(error, openai.APITimeoutError):
        return ServiceError("The language model did not answer in time.", "Try again, or raise the time limit.")
    if isinstance(error, openai.APIConnectionError):
        return ServiceError("The language model cannot be reached.", "Check OPENAI_BASE_URL and the network.")
    if isinstance(error, openai.APIStatusError):
        status = error.status_code
        if status >= 500:
            return ServiceError(f"The language model's server failed (status {status}).", "Try again in a minute.")
        advice = "Check OPENAI_API_KEY." if status in (401, 403) else "Check ANAMNESIS_MODEL and OPENAI_BASE_URL."
        return ServiceError(f"The language model refused the request (status {status}).", advice, retryable=False)
    return ServiceError("The language model's answer was cut off or withheld.", "Try again.")
