"""The bytes of a chat completion as OpenAI's protocol has them: whole, or as a stream of events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from evals.scripted.contract import Request, Scripted

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
