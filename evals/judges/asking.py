"""Asks a judge about many answers. What a model fails to judge is counted and told, never replaced."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from prompts.errors import ServiceError

if TYPE_CHECKING:
    from evals.contract import TaskContext

T = TypeVar("T")
AT_ONCE = 8  # ours: as many requests as the model client lets run at once by default


async def ask_all(
    jobs: Sequence[Callable[[], Awaitable[T]]], label: str, context: TaskContext, *, at_once: int = 1
) -> list[T | None]:
    """The outcome of each job in order, None where the model failed; how many failed is told as not run.

    Args:
        label: for the progress bar and for what is told. at_once: 1 for a local judge, `AT_ONCE` for a model.

    Raises:
        ServiceError: every job failed.
    """
    import asyncio

    out: list[T | None] = []
    failures: list[ServiceError] = []

    async def one(job: Callable[[], Awaitable[T]]) -> T | None:
        try:
            return await job()
        except ServiceError as error:
            failures.append(error)
            return None

    starts: Iterable[int] = range(0, len(jobs), at_once)
    for at in context.tick(starts, label, -(-len(jobs) // at_once)):
        out += await asyncio.gather(*(one(job) for job in jobs[at : at + at_once]))
    if failures and len(failures) == len(jobs):
        raise failures[0]
    if failures:
        context.not_run[label] = f"{len(failures)} of {len(jobs)} could not be judged: {failures[0].what}"
    return out
