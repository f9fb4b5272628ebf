"""Server-sent events: a running turn as a stream that stays open while nothing happens."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.responses import StreamingResponse

from agent.conversation import Step
from agent.server.problems import Problem, Refusal
from agent.server.turns import VERIFIED, Running
from graphs.answering.contract import Answer
from graphs.answering.presentation import as_data, present
from graphs.answering.rendering import markdown_of

MEDIA = "text/event-stream"
ALIVE = 15.0  # ours: seconds between comments; proxies close what is silent for 30 or 60
COMMENT = ": alive\n\n"
HEADERS = {"X-Accel-Buffering": "no"}  # a proxy that buffers would hold the steps back


class EventStream(StreamingResponse):
    """A stream of server-sent events."""

    media_type = MEDIA

    def __init__(self, events: AsyncIterator[str], headers: dict[str, str] | None = None):
        super().__init__(events, headers={**HEADERS, **(headers or {})})


async def told(turn: Running, request_id: str, every: float, *, view: bool = False) -> AsyncIterator[str]:
    """Events ``step`` and ``verified``, then ``answer`` or ``error``, with a comment wherever nothing else is said for
    a while.

    ``view``: an event ``view`` before the answer, which says how it is shown.
    """
    try:
        async for event in turn.follow(every):
            if event is None:
                yield COMMENT
            else:
                if view and isinstance(event, Answer):
                    yield frame("view", json.dumps(view_of(event), ensure_ascii=False))
                yield frame(_name(event), event.model_dump_json())
    except Refusal as refusal:
        problem = Problem(code=refusal.code, message=refusal.what, advice=refusal.advice, request_id=request_id)
        yield frame("error", problem.model_dump_json())


def _name(event: Step | Answer) -> str:
    if isinstance(event, Answer):
        return "answer"
    return VERIFIED if event.status == VERIFIED else "step"


def view_of(answer: Answer) -> dict[str, Any]:
    """An answer as it is shown, with the text of it that can be copied."""
    shown: dict[str, Any] = as_data(present(answer))
    return shown | {"text": markdown_of(answer)}


def frame(name: str, data: str) -> str:
    """An event. ``data`` is JSON in one line."""
    return f"event: {name}\ndata: {data}\n\n"
