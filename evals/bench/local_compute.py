"""What the local tools cost in a turn, beside everything that is our own: seconds of the clock and of processors.

Local tools are the five tools, the graph's look-up and the encoder. What they compute runs in threads: a function that
a module of `tools` hands to `asyncio.to_thread`, and the encoder's own. Its processor time is counted there. All else
(the event loop, the client of the model, checkpoints, the local judgements) is our own.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from evals.bench.stopwatch import Interval
from graphs.context import Parts


class LocalCompute:
    """Intervals in which local tools ran, and the processor seconds that they took."""

    def __init__(self) -> None:
        self.intervals: list[Interval] = []
        self.processor = 0.0
        self._lock = threading.Lock()
        self._inside = threading.local()

    def clear(self) -> None:
        """Forget what was measured."""
        with self._lock:
            self.intervals.clear()
            self.processor = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, its processor seconds counted once however deep it stands in others."""

        def call(*args: Any, **kwargs: Any) -> Any:
            if getattr(self._inside, "on", False):
                return function(*args, **kwargs)
            self._inside.on = True
            started, used = time.monotonic(), time.thread_time()
            try:
                return function(*args, **kwargs)
            finally:
                self._inside.on = False
                with self._lock:
                    self.processor += time.thread_time() - used
                    self.intervals.append((started, time.monotonic()))

        return call

    def timed_tool(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """A tool's ``run``, its interval noted."""

        async def call(*args: Any, **kwargs: Any) -> Any:
            started = time.monotonic()
            try:
                return await run(*args, **kwargs)
            finally:
                with self._lock:
                    self.intervals.append((started, time.monotonic()))

        return call


@contextmanager
def watching(parts: Parts) -> Iterator[LocalCompute]:
    """Count what the local tools of a machine do; afterwards nothing is watched any more."""
    from tools.encoders import MiniLMEncoder

    local = LocalCompute()
    in_thread = asyncio.to_thread

    async def to_thread(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        theirs = function is parts.look_up or str(getattr(function, "__module__", "")).startswith("tools.")
        return await in_thread(local.timed(function) if theirs else function, *args, **kwargs)

    undo = [_replaced(asyncio, "to_thread", to_thread)]
    undo += [_replaced(MiniLMEncoder, "_encode_batch", _method(local, MiniLMEncoder._encode_batch))]
    undo += [_replaced(tool, "run", local.timed_tool(tool.run)) for tool in parts.tools]
    try:
        yield local
    finally:
        for restore in undo:
            restore()


def _method(local: LocalCompute, original: Callable[..., Any]) -> Callable[..., Any]:
    def call(encoder: Any, *args: Any, **kwargs: Any) -> Any:
        return local.timed(original)(encoder, *args, **kwargs)

    return call


def _replaced(owner: Any, name: str, by: Any) -> Callable[[], None]:
    own = name in vars(owner)
    original = getattr(owner, name)
    setattr(owner, name, by)
    return (lambda: setattr(owner, name, original)) if own else (lambda: delattr(owner, name))
