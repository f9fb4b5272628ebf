"""Progress of long work on standard error: bars on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Protocol

from agent.cli.console import progress_console

EVERY = 5.0  # ours: seconds between two lines of work that no terminal watches


class Advance(Protocol):
    """Tells how far a stage is: ``done`` of ``of`` (None or 0: not known), and more in ``note``."""

    def __call__(self, stage: str, done: int, of: int | None = None, /, note: str = "") -> None: ...


@contextlib.contextmanager
def bars(*, show: bool = True) -> Iterator[Advance]:
    """How far each stage is, while the work runs; nothing where ``show`` is false."""
    if not show:
        yield lambda *_, **__: None
        return
    out = progress_console()
    if not out.is_terminal:
        yield Lines(lambda line: out.print(line, markup=False))
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )  # fmt: skip
    with Progress(*columns, console=out, transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def step(stage: str, done: int, of: int | None = None, /, note: str = "") -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=of or None, note=note)
            bar.update(tasks[stage], completed=done, total=of or None, note=note)

        yield step


class Lines:
    """A line at the first step of each stage, then at most one every `EVERY` seconds, and one at its end.

    Args:
        say: takes a line. now: seconds of a clock.
    """

    def __init__(self, say: Callable[[str], None], now: Callable[[], float] = time.monotonic) -> None:
        self._say, self._now = say, now
        self._begun = self._told = now()
        self._last: dict[str, tuple[int, str]] = {}

    def __call__(self, stage: str, done: int, of: int | None = None, /, note: str = "") -> None:
        """Take a step; tell it where it is time to."""
        now = self._now()
        finished = bool(of) and done >= (of or 0)
        last = self._last.get(stage)
        told = last is not None and (last == (done, note) or (finished and last[0] == done))
        if told or not (last is None or finished or now - self._told >= EVERY):
            return
        self._told, self._last[stage] = now, (done, note)
        share = f"{done:,} of {of:,}" if of else f"{done:,}"
        self._say(", ".join(part for part in (f"{stage}: {share}", note, f"{now - self._begun:.0f} s") if part))
