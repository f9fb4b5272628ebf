"""Judging answer text as QB-RAG does: guideline adherence, relevancy, faithfulness; and Mini-CEX of a report.

What a model fails to judge is counted and told, never replaced.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from evals.contract import TaskContext
from prompts.answer_judging import MiniCexItem
from prompts.errors import ServiceError
from tools.evidence import Evidence, Frozen, Statement

RELEVANT = 4  # ours: from this score of five a model's relevancy counts as addressing the question


class GivenAnswer(Frozen):
    """An answer as it is judged.

    Attributes:
        statements: sentences, cited or parametric; () for a declined answer.
        portions: what was supplied for it: every piece of evidence that a statement may rest on.
    """

    statements: tuple[Statement, ...] = ()
    portions: tuple[Evidence, ...] = ()

    @property
    def declined(self) -> bool:
        """Whether nothing was answered."""
        return not self.statements

    @property
    def text(self) -> str:
        """The statements as plain text."""
        return " ".join(s.text for s in self.statements)


class Adherence(NamedTuple):
    """The guideline that was made of the golden answer, and the share of it that the answer fulfils, 0..1."""

    points: tuple[str, ...]
    score: float


class Relevancy(NamedTuple):
    """How well an answer addresses the question, 0..1, and whether that counts as addressing it."""

    score: float
    relevant: bool


class Faithfulness(NamedTuple):
    """For each statement whether some supplied portion supports it."""

    supported: tuple[bool, ...]

    @property
    def faithful(self) -> bool:
        """Whether there are statements and every one is supported: one that goes further than its portion is not."""
        return bool(self.supported) and all(self.supported)


class AnswerJudge(Protocol):
    """Judges answers. ``name`` says who. A method raises ServiceError where a model fails; nothing stands in for it."""

    @property
    def name(self) -> str:
        """Who judges."""

    async def adherence(self, question: str, golden: str, answer: str) -> Adherence:
        """Golden answer to guideline, guideline to score."""

    async def relevancy(self, question: str, answer: str) -> Relevancy:
        """Whether the answer addresses the question, whatever its truth."""

    async def faithfulness(self, statements: Sequence[Statement], portions: Sequence[Evidence]) -> Faithfulness:
        """Whether the portions support the statements."""


class ReportJudge(Protocol):
    """Scores a report on a case by the Mini-CEX. There is no local twin: without a model it is not run."""

    async def mini_cex(self, case: str, report: str) -> dict[MiniCexItem, int]:
        """The seven items, each 1..9. Raises ServiceError where the model fails or leaves an item out."""


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
    out: list[T | None] = []
    failures: list[ServiceError] = []

    async def one(job: Callable[[], Awaitable[T]]) -> T | None:
        try:
            return await job()
        except ServiceError as error:
            failures.append(error)
            return None

    for at in context.each(range(0, len(jobs), at_once), label):
        out += await asyncio.gather(*(one(job) for job in jobs[at : at + at_once]))
    if failures and len(failures) == len(jobs):
        raise failures[0]
    if failures:
        context.not_run[label] = f"{len(failures)} of {len(jobs)} could not be judged: {failures[0].what}"
    return out
