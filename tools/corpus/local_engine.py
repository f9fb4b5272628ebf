"""The engine of one machine: tasks one after another in this process, or in several processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from typing import TypeVar

from prompts.errors import ServiceError
from tools.corpus.contract import Done, MakeEncoder, SurveyTask, Task
from tools.corpus.pipeline import make_part
from tools.corpus.reading import survey
from tools.encoders import Encoder
from tools.files import end_with_parent

AHEAD = 2  # ours: tasks handed to a process before it has done the one in hand
LIVES = 3  # ours: how often processes that were ended are started again

AnyTask = TypeVar("AnyTask", SurveyTask, Task)
_encoder: Encoder | None = None  # of a worker process


class LocalEngine:
    """Runs tasks on this machine.

    Args:
        workers: processes; 1 works in this one. Each embeds by itself, so memory grows with their number.

    Its methods raise ServiceError when the processes are ended again and again; what is finished stays.
    """

    def __init__(self, workers: int = 1) -> None:
        self._workers = workers

    def survey(self, tasks: Sequence[SurveyTask]) -> Iterator[Done]:
        """Survey files."""
        if self._workers == 1 or len(tasks) < 2:
            yield from map(survey, tasks)
        else:
            yield from self._spread(tasks, survey, end_with_parent)

    def make(self, tasks: Sequence[Task], encoder: MakeEncoder) -> Iterator[Done]:
        """Make parts."""
        if not tasks:
            return
        if self._workers == 1:
            opened = encoder()
            yield from (make_part(task, opened) for task in tasks)
        else:
            yield from self._spread(tasks, _make, partial(_begin, encoder))

    def _spread(
        self, tasks: Sequence[AnyTask], work: Callable[[AnyTask], Done], begin: Callable[[], None]
    ) -> Iterator[Done]:
        left = {task.key: task for task in tasks}
        for _ in range(LIVES):
            # spawned, not forked: this process may have threads
            executor = ProcessPoolExecutor(self._workers, get_context("spawn"), initializer=begin)
            try:
                for done in _outcomes(executor, list(left.values()), work, AHEAD * self._workers):
                    del left[done.key]
                    yield done
            except BrokenProcessPool:
                continue
            finally:
                executor.shutdown(wait=True, cancel_futures=True)
            return
        raise ServiceError(
            f"Processes that build were ended {LIVES} times.", "Free memory or give fewer --workers; then build again."
        )


def _outcomes(
    executor: ProcessPoolExecutor, tasks: Sequence[AnyTask], work: Callable[[AnyTask], Done], most: int
) -> Iterator[Done]:
    waiting: set[Future[Done]] = set()
    for task in tasks:
        waiting.add(executor.submit(work, task))
        while len(waiting) >= most:
            ready, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in ready)
    for future in waiting:
        yield future.result()


def _begin(encoder: MakeEncoder) -> None:
    global _encoder
    end_with_parent()
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # as Ray does: a process a worker, not a thread a processor in each
    _encoder = encoder()


def _make(task: Task) -> Done:
    if _encoder is None:
        raise RuntimeError("the process has no encoder")
    return make_part(task, _encoder)
