"""The short way: a question that a stored one answers is answered from there, and nothing else is searched (QB-RAG)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from graphs.planning.contract import PlannedCall, Planner, ResearchView
from prompts.tool_arguments import MAX_QUERY

ANSWERED = "find_answered_question"
EVIDENCE = "evidence"  # a case, or a multiple-choice question, is never answered by one stored question


class PlannerShortWay:
    """Looks first whether a stored question asks the same; else the planner that stands behind it plans.

    Args:
        inner: plans the long way. answers: whether the collection answers a question directly: one search by meaning,
            without a language model.
    """

    def __init__(self, inner: Planner, answers: Callable[[str], bool]) -> None:
        self._inner, self._answers = inner, answers

    async def plan(self, view: ResearchView) -> list[PlannedCall]:
        """The one call of the short way, and nothing after it; else the calls of the long way."""
        question = view.question[:MAX_QUERY]
        if view.kind != EVIDENCE or not await asyncio.to_thread(self._answers, question):
            return await self._inner.plan(view)
        if view.round > 1:
            return []
        reason = "the collection is known to answer this question"
        return [PlannedCall(tool=ANSWERED, arguments={"question": question}, reason=reason)]
