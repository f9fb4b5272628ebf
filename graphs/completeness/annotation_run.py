"""Annotates many cases at once, bounded, each case when its diagnoses are made."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from graphs.completeness.annotation import UNDOCUMENTED, AnnotatedCase, Case, Diagnoser, Reference, annotate

WINDOW = 4  # ours: cases at work at once for each diagnosis at once; more only wait
Progress = Callable[[int, int], None]


class Counted(NamedTuple):
    """Cases, those whose diagnosis was right, those without a document of their disease, units by label."""

    cases: int
    right: int
    undocumented: int
    labels: dict[str, int]


async def annotate_all(
    cases: Sequence[Case],
    diagnoser: Diagnoser,
    reference: Reference,
    *,
    jobs: int,
    progress: Progress = lambda *_: None,
) -> list[AnnotatedCase]:
    """Every case annotated, in order.

    Args:
        jobs: diagnoses at once that the diagnoser is good for. progress: is told the cases done, and of how many.

    Raises:
        ServiceError: the diagnoser failed; what it has diagnosed stays with `DiagnoserKept`, so run it again.
    """
    turn = asyncio.Semaphore(max(1, WINDOW * jobs))
    done = 0

    async def one(case: Case) -> AnnotatedCase:
        nonlocal done
        async with turn:
            annotated = await annotate(case, diagnoser, reference)
        done += 1
        progress(done, len(cases))
        return annotated

    tasks = [asyncio.ensure_future(one(case)) for case in cases]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:  # after a failure the others are not begun
            task.cancel()


def counted(cases: Sequence[AnnotatedCase]) -> Counted:
    """What an annotation holds."""
    labels = Counter(unit.label.value for case in cases for unit in case.units)
    undocumented = sum(bool(c.units) and all(u.reason == UNDOCUMENTED for u in c.units) for c in cases)
    return Counted(len(cases), sum(c.right for c in cases), undocumented, dict(sorted(labels.items())))
