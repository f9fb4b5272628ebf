"""The tool `fill_knowledge_gaps`: what the question needs, what is covered, and a targeted search for each gap.

MedRGAG's KGCC asks a model for missing knowledge points and generates background for them. Without a model nothing
is generated: each gap is retrieved for instead (ours).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

from prompts.errors import ServiceError
from prompts.tool_arguments import FillKnowledgeGaps as Arguments
from prompts.tool_arguments import description
from tools.contract import Gap, Notice, Outcome, Severity, ToolArtifact, ToolContext, unique
from tools.encoders import Encoder
from tools.evidence import Evidence, Found, Origin, merge_evidence
from tools.gaps.coverage import covered_by
from tools.gaps.requirements import requirements

SEARCHES = 3  # code: the authors' explorer names three knowledge points
RESULTS = 3  # ours: pieces of evidence asked for a gap
TEXTS = {
    "refused": {
        "en": "Gaps can only be seen in what was retrieved: call search_literature or retrieve_passages first.",
        "zh": "须先检索才能判断缺口：请先调用 search_literature 或 retrieve_passages。",
    },
    "failed": {"en": "The search for a gap failed: {}", "zh": "缺口检索失败：{}"},
    "open": {"en": "Not covered by the evidence found: {}.", "zh": "现有证据未涵盖：{}。"},
}


class Searcher(Protocol):
    """Searches what the agent can search. A failure raises ServiceError; it is never an empty list."""

    async def __call__(self, query: str, limit: int, context: ToolContext) -> list[Evidence]:
        """At most ``limit`` pieces of evidence for a query, best first; ``context`` is the turn's."""


class FillKnowledgeGaps:
    """Compares requirements with the evidence of the turn and searches for at most three gaps.

    Args:
        search: the retrieval for one gap.
        encoder: what compares requirements with evidence.
        searches: searches a call makes at most.
    """

    name = "fill_knowledge_gaps"
    arguments = Arguments

    def __init__(self, search: Searcher, encoder: Encoder, searches: int = SEARCHES) -> None:
        self._search, self._encoder, self._searches = search, encoder, searches

    @cached_property
    def description(self) -> str:
        """What a planner is told about the tool."""
        return description(self.name)

    async def run(self, arguments: Arguments, context: ToolContext) -> ToolArtifact:
        """Every requirement as a `Gap` with what covers it, and the new evidence.

        Raises:
            ServiceError: every search that was made failed.
        """
        if not context.retrieved:
            notice = _notice("gaps_before_retrieval", "refused", context.language, severity=Severity.WARNING)
            return ToolArtifact(tool=self.name, outcome=Outcome.REFUSED, notices=[notice])
        wanted = unique([r.strip() for r in arguments.requirements if r.strip()]) or self._derive(arguments, context)
        covers = await asyncio.to_thread(covered_by, wanted, context.evidence, self._encoder)
        missing = [r for r, ids in zip(wanted, covers, strict=True) if not ids]
        asked = missing[: self._searches]
        results = await asyncio.gather(*(self._find(r, context) for r in asked), return_exceptions=True)
        found, errors = _sort_out(results)
        known = {item.id for item in context.evidence}
        fresh = [item for item in merge_evidence(found) if item.id not in known]
        if found:
            everything = [*context.evidence, *fresh]
            covers = await asyncio.to_thread(covered_by, wanted, everything, self._encoder)
        gaps = [Gap(requirement=r, query=r, covered_by=ids) for r, ids in zip(wanted, covers, strict=True)]
        context.recorder.event(
            "gaps", requirements=wanted, missing=missing, searched=asked, found=[e.id for e in fresh]
        )
        return ToolArtifact(
            tool=self.name,
            outcome=_outcome(bool(fresh) or not missing, bool(errors)),
            evidence=fresh,
            gaps=gaps,
            notices=_notices(gaps, errors, context.language),
            strategy=[{"gap": r, "results": _count(result)} for r, result in zip(asked, results, strict=True)],
        )

    def _derive(self, arguments: Arguments, context: ToolContext) -> list[str]:
        """Requirements from the question; for a case, of the diseases that the knowledge graph put forward."""
        question = arguments.question
        diseases = [e.title for e in context.evidence if e.origin is Origin.KNOWLEDGE_GRAPH]
        present = unique([f.name for f in context.findings if f.present])
        if context.kind in ("case", "follow_up") and not diseases and present:
            question = ", ".join(present)
        return requirements(question, context.kind, context.language, context.options, diseases)

    async def _find(self, requirement: str, context: ToolContext) -> list[Evidence]:
        items = await self._search(requirement, RESULTS, context)
        return [
            item.model_copy(update={"found": (*item.found, _found(requirement, place))})
            for place, item in enumerate(items[:RESULTS], start=1)
        ]


def _outcome(filled: bool, failed: bool) -> Outcome:
    """A search that failed is not one that found nothing."""
    if filled:
        return Outcome.OK
    return Outcome.UNAVAILABLE if failed else Outcome.NOTHING_FOUND


def _found(requirement: str, place: int) -> Found:
    return Found(tool=FillKnowledgeGaps.name, stream="gap", query=requirement, rank=place)


def _sort_out(results: Sequence[list[Evidence] | BaseException]) -> tuple[list[Evidence], list[ServiceError]]:
    """Evidence and failures apart. Raises what is no ServiceError, and a ServiceError when nothing else came."""
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, ServiceError):
            raise result
    errors = [r for r in results if isinstance(r, ServiceError)]
    if errors and len(errors) == len(results):
        raise errors[0]
    return [item for r in results if isinstance(r, list) for item in r], errors


def _count(result: Any) -> int | str:
    return len(result) if isinstance(result, list) else "failed"


def _notices(gaps: Sequence[Gap], errors: Sequence[ServiceError], language: str) -> list[Notice]:
    notices = [
        _notice("gap_search_failed", "failed", language, what, Severity.WARNING)
        for what in unique([error.what for error in errors])
    ]
    open_gaps = [gap.requirement for gap in gaps if not gap.covered_by]
    if open_gaps:
        notices.append(_notice("gaps_left_open", "open", language, "; ".join(open_gaps)))
    return notices


def _notice(code: str, text: str, language: str, what: str = "", severity: Severity = Severity.INFO) -> Notice:
    return Notice(code=code, text=TEXTS[text]["zh" if language == "zh" else "en"].format(what), severity=severity)
