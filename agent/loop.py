"""One background event loop a process: it serves the synchronous calls, and owns every connection.

A client or a database connection made on one loop fails on another; so all of the agent runs on this one, whoever
calls.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from prompts.errors import InputError

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def background_loop() -> asyncio.AbstractEventLoop:
    """The process's loop, started with the first call."""
    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="anamnesis", daemon=True).start()
        return _loop


def _forget() -> None:
    """In a forked child the loop's thread is gone, and whoever held the lock with it: the next call starts anew."""
    global _lock, _loop
    _lock, _loop = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def submit(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Start work on the background loop."""
    return asyncio.run_coroutine_threadsafe(work, background_loop())


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The loop that runs in this thread."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def run(work: Coroutine[Any, Any, T]) -> T:
    """Do work on the background loop and wait; an interrupt cancels it.

    Raises:
        InputError: it is called on that loop (in ``replying``, for example), and would wait for itself.
    """
    if _loop is not None and running_loop() is _loop:
        work.close()
        raise InputError("This would wait for the agent's own loop on that loop.", "Await the agent's `a...` methods.")
    future = submit(work)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


async def arun(work: Coroutine[Any, Any, T]) -> T:
    """Do work on the background loop, awaited from any loop."""
    return await asyncio.wrap_future(submit(work))
