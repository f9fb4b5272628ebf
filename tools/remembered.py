"""What was made last, by key: threads share it, and what was used longest ago is forgotten first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")
Asked = TypeVar("Asked")


class Remembered(Generic[Key, Value]):
    """The values that were used last. They are shared and must not be changed.

    Args:
        most: how many are kept. kept: a value as it is kept, where it is part of a larger one.
    """

    def __init__(self, most: int, kept: Callable[[Value], Value] = lambda value: value) -> None:
        self._most, self._kept = most, kept
        self._lock, self._values = Lock(), OrderedDict[Key, Value]()

    def __len__(self) -> int:
        """How many there are."""
        return len(self._values)

    def read(self, asked: Mapping[Key, Asked], make: Callable[[list[Asked]], Iterable[Value]]) -> dict[Key, Value]:
        """The value of each key; ``make`` gives those that are not known, all in one call and in order."""
        with self._lock:
            found = {key: self._values[key] for key in asked if key in self._values}
            for key in found:
                self._values.move_to_end(key)
        missing = {key: one for key, one in asked.items() if key not in found}
        if missing:
            fresh = dict(zip(missing, make(list(missing.values())), strict=True))
            found |= fresh
            with self._lock:
                for key in list(fresh)[-self._most :]:
                    self._values[key] = self._kept(fresh[key])
                while len(self._values) > self._most:
                    self._values.popitem(last=False)
        return found
