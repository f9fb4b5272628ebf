"""The critical path of a turn's calls: the longest chain in which each call starts after the one before has ended."""

from __future__ import annotations

from collections.abc import Sequence

from evals.bench.stopwatch import Interval


def longest_chain(intervals: Sequence[Interval]) -> tuple[int, float]:
    """Calls of the longest chain by number, and seconds of the longest by time.

    A call that starts after another has ended may follow it.
    """
    number: dict[Interval, int] = {}
    seconds: dict[Interval, float] = {}
    for call in sorted(intervals):
        before = [other for other in number if other[1] <= call[0]]
        number[call] = 1 + max((number[o] for o in before), default=0)
        seconds[call] = call[1] - call[0] + max((seconds[o] for o in before), default=0.0)
    return max(number.values(), default=0), max(seconds.values(), default=0.0)


def outside(intervals: Sequence[Interval], others: Sequence[Interval]) -> list[Interval]:
    """The parts of intervals in which none of the others runs."""
    left = list(intervals)
    for start, end in others:
        left = [part for begun, done in left for part in ((begun, min(done, start)), (max(begun, end), done))]
        left = [(begun, done) for begun, done in left if begun < done]
    return left
