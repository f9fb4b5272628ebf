"""The short way: a question that a stored one answers is answered from there, and nothing else is searched (QB-RAG)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from graphs.planning.contract import PlannedCall, Planner, ResearchView
from prompts.tool_arguments import MAX_QUERY

ANSWERED = "find_answered_question"
EVIDENCE = "evidence"  # a case, or a multiple-choice question, is never answered by one stored question


class PlannerShortWay:
    """Looks first whether a stored question asks the same; else the planner that stands behind it plans.

    It plans too where the short way brought nothing that is kept: one round later, with one round less.

    Args:
        inner: plans the long way. answers: whether the collection answers a question directly: one search by meaning,
            without a language model.
        keeps: whether the selection of documents keeps anything of what was found.
    """

    def __init__(
        self, inner: Planner, answers: Callable[[str], bool], keeps: Callable[[ResearchView], Awaitable[bool]]
    ) -> None:
        self._inner, self._answers, self._keeps = inner, answers, keeps

    async def plan(self, view: ResearchView) -> list[PlannedCall]:
        """The one call of the short way, and nothing after it; else the calls of the long way."""
        question = view.question[:MAX_QUERY]
        first = [call.tool for call in view.made if call.round == 1]
        if view.kind != EVIDENCE or (view.round > 1 and first != [ANSWERED]):
            return await self._inner.plan(view)
        if not await asyncio.to_thread(self._answers, question):
            return await self._inner.plan(view)
        if view.round == 1:
            reason = "the collection is known to answer this question"
            return [PlannedCall(tool=ANSWERED, arguments={"question": question}, reason=reason)]
        if view.round == 2 and view.evidence and await self._keeps(view):
            return []
        return await self._inner.plan(view.model_copy(update={"round": view.round - 1}))
