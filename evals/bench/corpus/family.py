"""The memory and the processor time of a process and all that it started."""

from __future__ import annotations

import threading
from typing import Self

EVERY = 1.0  # ours: seconds between two looks


class Family:
    """Samples the memory of a process with all that it started, in MB, and their processor time, while inside."""

    def __init__(self, pid: int) -> None:
        self._pid, self._end = pid, threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self.samples: list[float] = []
        self._spent: dict[int, float] = {}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    @property
    def seconds(self) -> float:
        """Processor time of all, as far as it was seen: what a process spends after the last look is missing."""
        return sum(self._spent.values())

    @property
    def most(self) -> float:
        """The most at once."""
        return max(self.samples, default=0.0)

    @property
    def growth(self) -> float:
        """By how many per cent the most of the last tenth but one, when all still run, is above that of the second."""
        tenth = max(1, len(self.samples) // 10)
        early, late = self.samples[tenth : 2 * tenth], self.samples[-2 * tenth : -tenth]
        return 100 * (max(late) - max(early)) / max(early) if early and late else 0.0

    def _sample(self) -> None:
        import psutil

        while not self._end.wait(EVERY):
            total = 0
            try:
                family = [psutil.Process(self._pid), *psutil.Process(self._pid).children(recursive=True)]
            except psutil.Error:
                return
            for process in family:
                try:
                    total += process.memory_full_info().pss
                    times = process.cpu_times()
                    self._spent[process.pid] = times.user + times.system
                except psutil.Error:  # it has ended meanwhile
                    continue
            self.samples.append(total / 1e6)
