"""Where the time goes: intervals of watched methods, by label, and how much of a turn they cover."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

Interval = tuple[float, float]


class Stopwatch:
    """Collects the intervals in which watched methods ran, in any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._intervals: dict[str, list[Interval]] = {}

    def watch(self, owner: Any, method: str, label: str) -> Callable[[], None]:
        """Time every call of ``owner.method`` under a label; the returned function undoes it."""
        original = getattr(owner, method)
        timed = self._timed_async(original, label) if inspect.iscoroutinefunction(original) else None
        setattr(owner, method, timed or self._timed(original, label))
        return lambda: setattr(owner, method, original)

    def clear(self) -> None:
        """Forget what was measured."""
        with self._lock:
            self._intervals.clear()

    def seconds(self, label: str) -> float:
        """Seconds covered by a label, overlaps counted once."""
        return covered(self._intervals.get(label, []))

    def total(self) -> float:
        """Seconds covered by any label, overlaps counted once."""
        return covered([i for part in self._intervals.values() for i in part])

    def _timed(self, original: Callable[..., Any], label: str) -> Callable[..., Any]:
        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            with self._measured(label):
                return original(*args, **kwargs)

        return call

    def _timed_async(self, original: Callable[..., Any], label: str) -> Callable[..., Any]:
        @functools.wraps(original)
        async def call(*args: Any, **kwargs: Any) -> Any:
            with self._measured(label):
                return await original(*args, **kwargs)

        return call

    @contextlib.contextmanager
    def _measured(self, label: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            with self._lock:
                self._intervals.setdefault(label, []).append((started, time.perf_counter()))


def covered(intervals: list[Interval]) -> float:
    """Length of the union of intervals."""
    total, reached = 0.0, float("-inf")
    for start, end in sorted(intervals):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total
