"""The resident memory of a process while something goes on."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, Self

EVERY = 0.5  # seconds; ours
TENTH = 0.1
LEFT, TOP, WIDE, TALL = 80, 24, 560, 240  # ours: pixels of a plot, and of its margins


class Sample(NamedTuple):
    """A moment: seconds from the start, what is done by then, resident MB."""

    seconds: float
    done: int
    resident: float


class Memory:
    """Samples a process's resident memory while inside.

    Args:
        pid: the process. done: how much is done so far.
    """

    def __init__(self, pid: int, done: Callable[[], int]) -> None:
        import psutil

        self._process, self._done = psutil.Process(pid), done
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self.samples: list[Sample] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._end.set()
        self._thread.join()

    def _sample(self) -> None:
        started = time.perf_counter()
        while True:
            resident = self._process.memory_info().rss / 1e6
            self.samples.append(Sample(time.perf_counter() - started, self._done(), resident))
            if self._end.wait(EVERY):
                return


def drawn(samples: Sequence[Sample]) -> str:
    """Resident memory by what is done, as SVG."""
    most, done = max((s.resident for s in samples), default=1.0), max((s.done for s in samples), default=1) or 1
    points = " ".join(f"{LEFT + WIDE * s.done / done:.1f},{TOP + TALL * (1 - s.resident / most):.1f}" for s in samples)
    ticks = [(TOP + TALL * (1 - part), f"{most * part:,.0f} MB") for part in (0, 0.25, 0.5, 0.75, 1)]
    lines = [f'<line x1="{LEFT}" x2="{LEFT + WIDE}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>' for y, _ in ticks]
    lines += [f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{told}</text>' for y, told in ticks]
    box = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDE + TOP} {2 * TOP + TALL}"'
    return "\n".join(
        [
            f'<svg {box} font-family="sans-serif" font-size="11" role="img">',
            "<title>Resident memory of the server by turns answered</title>",
            '<rect width="100%" height="100%" fill="white"/>',
            *lines,
            f'<polyline points="{points}" fill="none" stroke="#1b6ca8" stroke-width="1.5"/>',
            f'<text x="{LEFT + WIDE}" y="{TOP + TALL + 18}" text-anchor="end">{done:,} turns</text>',
            "</svg>",
            "",
        ]
    )


class Steadiness(NamedTuple):
    """Resident MB at the start, as the median of the second tenth and of the last tenth, and at most."""

    start: float
    early: float
    late: float
    most: float

    @property
    def growth(self) -> float:
        """By how many per cent the last tenth is above the second."""
        return 100 * (self.late - self.early) / self.early


def steadiness(samples: Sequence[Sample], total: int) -> Steadiness:
    """Of samples while ``total`` things were done."""
    resident = [sample.resident for sample in samples]

    def within(low: float, high: float) -> float:
        found = [s.resident for s in samples if low * total <= s.done <= high * total]
        return statistics.median(found or resident[-1:])

    return Steadiness(resident[0], within(TENTH, 2 * TENTH), within(1 - TENTH, 1.0), max(resident))
