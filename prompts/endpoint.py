"""A server of chat completions: its client, its limit of requests at once, and what it was found to support."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, NamedTuple

from pydantic import SecretStr

from prompts.forms import METHODS, Method, is_strict, loosened
from prompts.metering import Usage, meter
from prompts.model_failures import FILTERED, UnsupportedError, declined, failure, malformed, too_slow
from prompts.model_settings import OPENAI, ModelSettings
from prompts.replies import LONGEST

# What the client's libraries raise for a body that is no completion; RecursionError: JSON nested without end.
MALFORMED = (json.JSONDecodeError, TypeError, AttributeError, KeyError, IndexError, ValueError, RecursionError)
# Words by which a server names a part of a request that it does not take.
WORDS = {
    "temperature": ("temperature",),
    "max_tokens": ("max_tokens", "max_completion_tokens"),
    "max_completion_tokens": ("max_tokens", "max_completion_tokens"),
    "reasoning_effort": ("reasoning_effort", "reasoning.effort"),
    "stream_usage": ("stream_options", "include_usage"),
    "strict": ("strict", "invalid schema"),
}
# Names of the bound of a reply, the first that is tried first. OpenAI's reasoning models take the second alone; Ollama
# heeds the first alone, and takes the second without a word (both code).
BOUNDS = ("max_tokens", "max_completion_tokens")
CUT = "length"  # code: why a reply ended that reached its bound
Message = tuple[str, str] | Any  # (role, text), or a message of LangChain


class Call(NamedTuple):
    """A tool call as a model wrote it. ``error`` says what is wrong with its arguments, "" nothing; ``written`` is
    their text where they are no object."""

    id: str
    name: str
    arguments: dict[str, Any]
    error: str = ""
    written: str = ""


class Said(NamedTuple):
    """What a request brought: text, tool calls, what it cost; and the form in which a reply was asked for.

    ``cut``: it ended at its bound of tokens.
    """

    text: str
    calls: tuple[Call, ...]
    usage: Usage
    method: Method = "plain"
    cut: bool = False


class Endpoint:
    """One model at one address. Use one event loop a process: connections belong to the loop of the first call.

    Args:
        settings: the model, its address and key, and how many requests there may be at once.
        method: the form of structured replies that was found to work here before, None while it is unknown.
        found: is told of that form once it is known.
    """

    def __init__(
        self, settings: ModelSettings, method: Method | None = None, found: Callable[[Method], None] | None = None
    ) -> None:
        self.name, self.place = settings.name, f"{settings.name} at {settings.address}"
        self.method = method
        self.requires_calls = True  # until it refuses ``tool_choice``
        self._found = found or (lambda _: None)
        self._settings = settings
        self._turns = asyncio.Semaphore(settings.concurrency)
        self._opening = asyncio.Lock()
        self._refused: set[Method] = set()
        self._left_out: set[str] = set()
        self._bounds = BOUNDS[::-1] if settings.address == OPENAI else BOUNDS
        self._client: Any = None

    def methods(self) -> tuple[Method, ...]:
        """The forms to try, best first; only the one that works, once that is known."""
        return (self.method,) if self.method else tuple(m for m in METHODS if m not in self._refused)

    def unheeded(self, method: Method) -> None:
        """The server takes a form without heeding it: the next one is tried, unless this one has worked before."""
        if self.method is None and method != METHODS[-1]:
            self._refused.add(method)

    def took(self, method: Method) -> None:
        """The server takes a form, and so refused those before it for their form."""
        if self.method is None:
            self._refused.update(METHODS[: METHODS.index(method)])

    def works(self, method: Method) -> None:
        """Remember the form that works."""
        if self.method != method:
            self.method = method
            self._found(method)

    def forget(self) -> bool:
        """Forget the form that worked once, because the server refuses it now; returns whether there was one."""
        forgot, self.method = self.method is not None, None
        self._refused.clear()
        return forgot

    @asynccontextmanager
    async def turn(self, seconds: float) -> AsyncIterator[Callable[[], float]]:
        """A turn within the limit of requests at once; the deadline starts when the turn has come.

        The client is made before that: its library alone takes seconds to import. Gives a function that tells the
        seconds left.

        Raises:
            ServiceError: the deadline passed, or the turn's budget of seconds, which counts the waiting too.
        """
        clock = asyncio.get_running_loop().time
        try:
            async with self._opening:
                self._client = self._client or await asyncio.to_thread(self._new_client)
            async with asyncio.timeout(meter().seconds_left()) as bound, self._turns:
                bound.reschedule(min(clock() + seconds, bound.when() or float("inf")))
                yield lambda: (bound.when() or 0.0) - clock()
        except TimeoutError:
            raise too_slow() from None

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        temperature: float,
        max_tokens: int | None = None,
        reasoning_effort: str | None = None,
        on_text: Callable[[str], None] | None = None,
        **form: Any,
    ) -> Said:
        """One request; what the server does not take of its options is left out from then on.

        Args:
            on_text: is told the text so far, as it comes; the reply is then streamed.
            form: as `form_of` or `form_of_tools` gives it.

        Raises:
            UnsupportedError: the server refuses the form of the request.
            RefusalError: the model, or a filter of its server, declines.
            ServiceError: any other failure.
        """
        options = {
            "temperature": temperature,
            "reasoning_effort": reasoning_effort,
            "stream_usage": on_text is not None or None,
            "strict": is_strict(form) or None,
        }
        refused: set[str] = set()
        while True:
            left_out = self._left_out | refused
            bound = next((name for name in self._bounds if name not in left_out), "")
            wanted = {n: v for n, v in {**options, bound: max_tokens}.items() if v is not None and n not in left_out}
            try:
                said = await self._send(messages, on_text, form, wanted)
            except UnsupportedError as error:
                named = {n for n in wanted if any(word in error.told.lower() for word in WORDS.get(n, ()))}
                if not named:
                    raise
                refused |= named
                continue
            self._left_out |= refused  # only now is it known that this was what the server refused
            return said

    async def _send(
        self,
        messages: Sequence[Message],
        on_text: Callable[[str], None] | None,
        form: Mapping[str, Any],
        options: Mapping[str, Any],
    ) -> Said:
        import httpx2
        import openai

        named = {name: value for name, value in options.items() if name in ("temperature", "stream_usage")}
        body = {name: value for name, value in options.items() if name not in ("strict", *named)}
        form = form if "strict" in options else loosened(form)
        values = {**form, **named, "extra_body": {**form.get("extra_body", {}), **body}}
        try:
            if on_text is None:
                message = await self._client.ainvoke(list(messages), **values)
            else:
                message = await self._streamed(messages, on_text, **values)
        except (openai.OpenAIError, httpx2.HTTPError) as error:
            raise failure(error, self.place) from None  # the cause could carry the request with its headers
        except MALFORMED:
            raise malformed() from None
        ended = message.response_metadata.get("finish_reason")
        if message.additional_kwargs.get("refusal") or ended == FILTERED:
            raise declined()
        return _said(message)._replace(cut=ended == CUT)

    async def _streamed(self, messages: Sequence[Message], on_text: Callable[[str], None], **values: Any) -> Any:
        from langchain_core.messages.ai import add_ai_message_chunks

        chunks: list[Any] = []
        text = ""
        async for chunk in self._client.astream(list(messages), **values):
            chunks.append(chunk)
            if piece := _text(chunk) or _arguments(chunk):
                text += piece
                on_text(text)
            if len(text) > LONGEST:  # such a reply is not read: its end is not waited for
                return add_ai_message_chunks(*chunks)
        whole = add_ai_message_chunks(*chunks) if chunks else None
        if whole is None or not whole.response_metadata.get("finish_reason"):
            raise TypeError  # a stream that ends without its end is no completion
        return whole

    def _new_client(self) -> Any:
        import openai

        settings = self._settings
        return _chat()(
            model=settings.name,
            base_url=settings.address,  # never left to the client, which reads other variables too
            api_key=settings.api_key or SecretStr("none"),  # a server in one's own house needs none
            # The deadline of `turn` holds, which is the role's. A time-out that has no hash gives this endpoint
            # connections of its own: the library keeps others by address, beyond the event loop that they belong to.
            timeout=openai.Timeout(None),
            stream_chunk_timeout=None,  # its wait can swallow the cancellation by which the deadline ends a stream
            max_retries=0,  # `LanguageModel` tries again: each try is counted, and none outlasts the deadline
            use_responses_api=False,  # chat completions alone, whatever the model is called
        )


@cache
def _chat() -> Any:
    """LangChain's client, which keeps a refusal in a stream too: its own drops it, and the reply looks empty."""
    from langchain_openai import ChatOpenAI

    class Chat(ChatOpenAI):
        """The client."""

        def _convert_chunk_to_generation_chunk(self, chunk: dict[str, Any], *others: Any) -> Any:
            made = super()._convert_chunk_to_generation_chunk(chunk, *others)
            for choice in chunk.get("choices") or ():
                refusal = (choice.get("delta") or {}).get("refusal")
                if refusal and made is not None:
                    made.message.additional_kwargs["refusal"] = refusal
            return made

    return Chat


def _said(message: Any) -> Said:
    counted = message.usage_metadata or {}
    usage = Usage(calls=1, input_tokens=counted.get("input_tokens", 0), output_tokens=counted.get("output_tokens", 0))
    calls = [Call(c.get("id") or "", c["name"], dict(c["args"])) for c in message.tool_calls]
    calls += [
        Call(c.get("id") or "", c.get("name") or "", {}, "the arguments are no JSON object", str(c.get("args") or ""))
        for c in getattr(message, "invalid_tool_calls", ())
    ]
    return Said(_text(message), tuple(calls), usage)


def _arguments(chunk: Any) -> str:
    """What a piece of a stream adds to the arguments of a call: a reply in the form of one."""
    return "".join(part.get("args") or "" for part in getattr(chunk, "tool_call_chunks", ()))


def _text(message: Any) -> str:
    content = message.content
    if isinstance(content, str):
        return content
    texts = [part if isinstance(part, str) else part.get("text", "") for part in content if not _thought(part)]
    return "".join(map(str, texts))


def _thought(part: Any) -> bool:
    """Whether a part of a message is the model's thinking."""
    return isinstance(part, dict) and part.get("type", "text") not in ("text", "output_text")
