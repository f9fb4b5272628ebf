"""The steps of a turn on the background loop, handed to whoever waits for them on another loop or in another thread."""

from __future__ import annotations

import asyncio
import contextlib
import queue
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any

from agent.conversation import Step
from agent.loop import submit
from graphs.answering.contract import Answer

LETTING_GO = 5.0  # ours: seconds; a turn that is stopped ends at its next await

Turn = Callable[[Callable[[Step], None]], Coroutine[Any, Any, Answer]]
"""Starts a turn that tells each of its steps."""


async def awaited(turn: Turn) -> AsyncIterator[Step | Answer]:
    """The steps of a turn as they happen, then its answer, on the caller's loop.

    Whoever stops listening stops the turn, and goes on when it has let go of its session and its files.
    """
    events: asyncio.Queue[Step] = asyncio.Queue()
    here = asyncio.get_running_loop()

    def emit(step: Step) -> None:
        here.call_soon_threadsafe(events.put_nowait, step)

    ended = asyncio.Event()

    async def whole() -> Answer:
        try:
            return await turn(emit)
        finally:
            with contextlib.suppress(RuntimeError):  # the caller's loop is closed: nobody waits
                here.call_soon_threadsafe(ended.set)

    future = submit(whole())
    done = asyncio.wrap_future(future)
    try:
        while not done.done() or not events.empty():
            getter = asyncio.ensure_future(events.get())
            either: set[asyncio.Future[Any]] = {getter, done}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if getter.done():
                yield getter.result()
            else:
                getter.cancel()
        yield done.result()
    finally:
        if future.cancel():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), LETTING_GO)


def waited(turn: Turn) -> Iterator[Step | Answer]:
    """The same, in a thread without a loop."""
    events: queue.SimpleQueue[Step | None] = queue.SimpleQueue()
    future = submit(turn(events.put))
    future.add_done_callback(lambda _: events.put(None))
    try:
        while (event := events.get()) is not None:
            yield event
        yield future.result()
    finally:
        future.cancel()
