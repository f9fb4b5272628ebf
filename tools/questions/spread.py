"""Orders in which a few of many stand for all: spread over a document, and in turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TypeVar

T = TypeVar("T")


def spread(items: Sequence[T]) -> list[T]:
    """All items, in an order of which every beginning is spread evenly over them: the first, that of the middle, those
    of the quarters, and so on (van der Corput's order).
    """
    bits = max(1, (len(items) - 1).bit_length())
    order = (int(format(number, f"0{bits}b")[::-1], 2) for number in range(1 << bits))
    return [items[place] for place in order if place < len(items)]


def in_turns(*sources: Iterable[T]) -> Iterator[T]:
    """The first of each, the second of each, and so on."""
    nothing = object()
    for row in zip_longest(*sources, fillvalue=nothing):
        yield from (item for item in row if item is not nothing)  # type: ignore[misc]
