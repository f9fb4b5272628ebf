"""A model server by a script: HTTP over a real socket of this machine, in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

Request = dict[str, Any]  # the body of a request for a chat completion
ToolCall = tuple[str, dict[str, Any] | str]  # name, and arguments: an object, or the text as it is sent

COUNTED = (11, 7)  # tokens in and out of an answer that does not say; ours: any two numbers that differ
PIECE = 24  # characters of a piece of a streamed answer; ours: a few tokens


@dataclass
class Scripted:
    """One answer.

    Attributes:
        content: what the model says. calls: the tools that it calls. refusal: its refusal, "" for none.
        reasoning: its thinking, in the field beside the content (`content` can hold thinking too).
        status, headers: of the answer. body: replaces the whole body.
        pause: seconds before the first byte. between: seconds between pieces of a stream, or before the second half
            of a body.
        cut: bytes that are dropped at the end (of a stream: whole events). cleanly: the cut looks like a proper end
            of the connection.
        piece: characters of a streamed piece. tokens: in and out; None when the server does not count.
        finish: why the model stopped; "" leaves it to the protocol.
    """

    content: str = ""
    status: int = 200
    body: str | None = None
    cut: int = 0
    pause: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)
    calls: Sequence[ToolCall] = ()
    refusal: str = ""
    reasoning: str = ""
    between: float = 0.0
    cleanly: bool = False
    piece: int = PIECE
    tokens: tuple[int, int] | None = COUNTED
    finish: str = ""


Respond = Callable[[Request], Scripted]
Answering = Callable[[Request], Scripted | Awaitable[Scripted]]
"""The same, or one whose answer is awaited while other requests are answered."""


@dataclass(frozen=True)
class Exchange:
    """A request that was answered: its body and headers, and when it came and was done (monotonic seconds)."""

    request: Request
    headers: dict[str, str]
    started: float
    ended: float
    answer: Scripted


# The bytes of a chat completion as OpenAI's protocol has them: whole, or as a stream of events.
COMMON = {"id": "c1", "created": 1, "model": "scripted"}


def completion(answer: Scripted) -> bytes:
    """The body of a whole answer."""
    if answer.body is not None:
        return answer.body.encode()
    message: dict[str, Any] = {"role": "assistant", "content": answer.content or None}
    if not answer.calls:
        message["content"] = answer.content
    if answer.calls:
        message["tool_calls"] = [_call(i, name, _text(given)) for i, (name, given) in enumerate(answer.calls)]
    if answer.refusal:
        message |= {"refusal": answer.refusal, "content": None}
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    choice = {"index": 0, "message": message, "finish_reason": _finish(answer)}
    usage = {} if answer.tokens is None else {"usage": _usage(answer.tokens)}
    return json.dumps({**COMMON, "object": "chat.completion", "choices": [choice], **usage}).encode()


def events(answer: Scripted, request: Request) -> list[bytes]:
    """The events of a streamed answer, the last one ``[DONE]``."""
    chunks = [_chunk(delta) for delta in _deltas(answer)]
    chunks.append(_chunk({}, _finish(answer)))
    if request.get("stream_options", {}).get("include_usage") and answer.tokens is not None:
        chunks.append({**COMMON, "object": "chat.completion.chunk", "choices": [], "usage": _usage(answer.tokens)})
    return [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks] + [b"data: [DONE]\n\n"]


def _deltas(answer: Scripted) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    for piece in _pieces(answer.reasoning, answer.piece):
        yield {"reasoning_content": piece}
    for piece in _pieces(answer.content, answer.piece):
        yield {"content": piece}
    if answer.refusal:
        yield {"refusal": answer.refusal}
    for i, (name, given) in enumerate(answer.calls):
        yield {"tool_calls": [{"index": i, **_call(i, name, "")}]}
        for piece in _pieces(_text(given), answer.piece):
            yield {"tool_calls": [{"index": i, "function": {"arguments": piece}}]}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {**COMMON, "object": "chat.completion.chunk", "choices": [choice]}


def _call(index: int, name: str, arguments: str) -> dict[str, Any]:
    return {"id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": arguments}}


def _text(given: dict[str, Any] | str) -> str:
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _pieces(text: str, size: int) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]


def _finish(answer: Scripted) -> str:
    return answer.finish or ("tool_calls" if answer.calls else "stop")


def _usage(tokens: tuple[int, int]) -> dict[str, int]:
    return {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}


@dataclass
class ScriptedModel:
    """What a running server was asked. ``script`` is played in order, the last answer again and again.

    Attributes:
        requests: bodies as they came. exchanges: those that were answered, with their times.
        open, most_at_once: requests that are being answered now, and the most that ever were.
        errors: what the responding function raised; `serving_by` raises the first one when it ends.
    """

    script: list[Scripted] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    url: str = ""
    exchanges: list[Exchange] = field(default_factory=list)
    open: int = 0
    most_at_once: int = 0
    errors: list[BaseException] = field(default_factory=list)

    def next(self) -> Scripted:
        """The next answer of the script."""
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]

    def done(self, exchange: Exchange) -> None:
        """Remember an exchange."""
        self.exchanges.append(exchange)


@contextmanager
def serving(*script: Scripted) -> Iterator[ScriptedModel]:
    """A server that gives these answers, in order."""
    model = ScriptedModel(list(script))
    with running(model, lambda _: model.next()):
        yield model


@contextmanager
def serving_by(respond: Respond) -> Iterator[ScriptedModel]:
    """A server that answers by a function of the request; what that raises is raised here at the end.

    ``respond`` is called by one thread, one request at a time.
    """
    model = ScriptedModel()
    with running(model, respond):
        yield model
    if model.errors:
        raise model.errors[0]


@contextmanager
def running(model: ScriptedModel, respond: Answering, port: int = 0) -> Iterator[None]:
    """A server of an object of one's own, in a thread; ``port`` 0 takes a free one.

    Raises:
        OSError: the port is taken.
    """
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    refused: list[OSError] = []

    def serve() -> None:
        try:
            loop.run_until_complete(_serve(model, respond, ready, stop, port))
        except OSError as error:
            refused.append(error)
            ready.set()

    thread = threading.Thread(target=serve)
    thread.start()
    ready.wait()
    try:
        if refused:
            raise refused[0]
        yield
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


async def _serve(
    model: ScriptedModel, respond: Answering, ready: threading.Event, stop: asyncio.Event, port: int
) -> None:
    connections: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            connections.add(task)
            task.add_done_callback(connections.discard)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await _exchange(model, respond, reader, writer):
                pass
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", port)
    model.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    ready.set()
    await stop.wait()
    server.close()
    left = list(connections)
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


async def _exchange(
    model: ScriptedModel, respond: Answering, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bool:
    """One request and its answer; whether the connection stays open."""
    headers, request = await _read(reader)
    started = time.monotonic()
    model.requests.append(request)
    model.open += 1
    model.most_at_once = max(model.most_at_once, model.open)
    try:
        answer = await _answer(model, respond, request)
        await asyncio.sleep(answer.pause)
        *pieces, last = _sent(answer, request)
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(answer.between)
    finally:
        model.open -= 1
    # Before the last bytes: whoever has read them finds the exchange.
    model.done(Exchange(request, headers, started, time.monotonic(), answer))
    writer.write(last)
    await writer.drain()
    return not answer.cut


async def _answer(model: ScriptedModel, respond: Answering, request: Request) -> Scripted:
    try:
        answer = respond(request)
        return answer if isinstance(answer, Scripted) else await answer
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001  the test's thread is told
        model.errors.append(error)
        return Scripted(status=500, body="the script failed")


async def _read(reader: asyncio.StreamReader) -> tuple[dict[str, str], Request]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").splitlines()
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    request: Any = json.loads(body) if body else {}
    return headers, request


def _sent(answer: Scripted, request: Request) -> list[bytes]:
    """The bytes of an answer, as they are sent one after another: at least one piece."""
    if request.get("stream") and answer.body is None and answer.status == HTTPStatus.OK:
        told = events(answer, request)
        pieces = [b"%x\r\n%s\r\n" % (len(e), e) for e in told[: max(len(told) - answer.cut, 0)]] or [b""]
        pieces[0] = _head(answer, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"}) + pieces[0]
        if not answer.cut or answer.cleanly:
            pieces[-1] += b"0\r\n\r\n"
        return pieces
    body = completion(answer)
    length = len(body) - (answer.cut if answer.cleanly else 0)
    head = _head(answer, {"Content-Type": "application/json", "Content-Length": str(length)})
    kept = body[: max(len(body) - answer.cut, 0)]
    half = len(kept) // 2 if answer.between else 0
    return [head + kept[:half], kept[half:]] if half else [head + kept]


def _head(answer: Scripted, usual: dict[str, str]) -> bytes:
    phrase = HTTPStatus(answer.status).phrase
    lines = [f"HTTP/1.1 {answer.status} {phrase}", *(f"{n}: {v}" for n, v in {**usual, **answer.headers}.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
