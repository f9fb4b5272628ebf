"""What every node shares: it is timed, recorded and streamed as a step."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

from langgraph.runtime import Runtime

from graphs.context import TurnContext
from graphs.state import State

Body = Callable[[State, TurnContext], Awaitable[dict[str, Any]]]
Node = Callable[[State, Runtime[TurnContext]], Awaitable[dict[str, Any]]]

SUMMARY = "summary"  # a body may return this beside its channels: one line for people, streamed and recorded


def step(name: str, body: Body) -> Node:
    """Make a node of a body: (state, context) to channel updates."""

    async def node(state: State, runtime: Runtime[TurnContext]) -> dict[str, Any]:
        context = runtime.context
        runtime.stream_writer({"step": name, "status": "started"})
        context.recorder.event("step_started", step=name)
        started = time.perf_counter()
        update = await body(state, context)
        seconds = time.perf_counter() - started
        summary = str(update.pop(SUMMARY, ""))
        others = update.pop("seconds", {})
        context.recorder.event("step_finished", step=name, seconds=round(seconds, 4), summary=summary)
        runtime.stream_writer({"step": name, "status": "finished", "summary": summary, "seconds": seconds})
        spent = state.get("seconds", {}).get(name, 0.0)
        return {**update, "seconds": {**others, name: round(spent + seconds, 4)}}

    node.__name__ = name
    return node
