"""Planning by a fixed order of tools, as a published method is run: no choice is made and no round is left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field, field_validator

from graphs.planning.contract import PlannedCall, ResearchView
from prompts.tool_arguments import MAX_QUERY
from tools.contract import unique
from tools.evidence import Frozen, Origin

REASON = "the next step of the published method"
CASES = ("case", "follow_up")
SEARCH, PASSAGES, DIFFERENTIAL = "search_literature", "retrieve_passages", "lookup_differential"
GAPS, ANSWERED = "fill_knowledge_gaps", "find_answered_question"
TOOLS = (SEARCH, PASSAGES, DIFFERENTIAL, GAPS, ANSWERED)
LONGEST = 10  # ours: documents named to one reading, enough for what one search returns


class PipelineSettings(Frozen):
    """The order of tools of a method; empty: the planner chooses.

    Attributes:
        steps: the tools of each round, separated by ``+``; a tool that only a case is asked is skipped for others.
        documents: documents that a search returns. passages: passages that a reading returns.
        questions: answered questions that are looked for.
    """

    steps: tuple[str, ...] = ()
    documents: int = Field(default=8, ge=1, le=50)
    passages: int = Field(default=6, ge=1, le=30)
    questions: int = Field(default=3, ge=1, le=20)

    @field_validator("steps")
    @classmethod
    def _known(cls, steps: tuple[str, ...]) -> tuple[str, ...]:
        unknown = [tool for tools in _split(steps) for tool in tools if tool not in TOOLS]
        if unknown:
            raise ValueError(f"no tools: {', '.join(unknown)}; these are: {', '.join(TOOLS)}")
        return steps

    @property
    def rounds(self) -> tuple[tuple[str, ...], ...]:
        """The tools of each round."""
        return _split(self.steps)


def _split(steps: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(tool.strip() for tool in step.split("+")) for step in steps)


class PlannerFixed:
    """Calls the tools of a pipeline, each once."""

    def __init__(self, settings: PipelineSettings) -> None:
        self._settings, self._rounds = settings, settings.rounds

    async def plan(self, view: ResearchView) -> list[PlannedCall]:
        """The calls of the first round that was not made yet and has something to do."""
        done = {tool for tool, _ in view.outcomes}
        for tools in self._rounds:
            if not done.intersection(tools):
                calls = [call for tool in tools for call in self._call(tool, view)]
                if calls:
                    return calls
        return []

    def _call(self, tool: str, view: ResearchView) -> list[PlannedCall]:
        arguments = self._arguments(tool, view)
        return [] if arguments is None else [PlannedCall(tool=tool, arguments=arguments, reason=REASON)]

    def _arguments(self, tool: str, view: ResearchView) -> dict[str, Any] | None:
        """The arguments of a step, None where it has nothing to do."""
        question = view.question[:MAX_QUERY]
        if tool == DIFFERENTIAL:
            return {"case": question} if view.kind in CASES else None
        if tool == PASSAGES:
            return self._reading(question, view)
        if tool == SEARCH:
            whole = " ".join([view.question, *view.options.values()])  # a stem with its options
            return {"query": whole[:MAX_QUERY], "limit": self._settings.documents}
        return {"question": question, **({"limit": self._settings.questions} if tool == ANSWERED else {})}

    def _reading(self, question: str, view: ResearchView) -> dict[str, Any] | None:
        """What a search before it found; without a search before it, the best documents of all.

        What the library does not hold is read from what the search brought of it.
        """
        arguments: dict[str, Any] = {"query": question, "limit": self._settings.passages}
        if not any(tool == SEARCH for tool, _ in view.outcomes):
            return arguments
        found = unique([e.document_id for e in view.evidence if e.origin is Origin.RETRIEVED])
        return {**arguments, "documents": found[:LONGEST]} if found else None


def uses(settings: PipelineSettings, tools: Sequence[str]) -> list[str]:
    """Those of the tools that a pipeline calls; all without a pipeline."""
    called = {tool for step in settings.rounds for tool in step}
    return [tool for tool in tools if not called or tool in called]
