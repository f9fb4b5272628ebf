"""The tool `fill_knowledge_gaps` (KGCC, MedRGAG): what the question needs, what is covered, and what fills the rest.

The documents are read against the question, what is missing is named, each gap is searched for, and background is
written for what stays open. MedRGAG summarises each document by itself, writes background at once and does not search
(`PUBLISHED`); without a model nothing is written, and gaps are only searched for (ours).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol

from prompts.errors import ServiceError
from prompts.tool_arguments import FillKnowledgeGaps as Arguments
from prompts.tool_arguments import description
from tools.contract import Gap, Notice, Outcome, Severity, Tell, ToolArtifact, ToolContext, unique
from tools.encoders import Encoder
from tools.evidence import Evidence, Found, Origin, merge_evidence
from tools.gaps.contract import GapFinder, GapSettings, GapSurvey, Generator, Inquiry
from tools.gaps.local import COLON, GapFinderInSteps, GeneratorLocal, coverage_matrix, covered_by, usable
from tools.gaps.requirements import requirements, topic_of
from tools.messages import messages
from tools.notices import noted
from tools.recorder import StrategyRecorder
from tools.text.numbered import without_repeats

PAGES = 3  # ours: pages of which all sections are weighed, those that cover most
Sections = Callable[[str], Sequence[Evidence]]
"""The pieces of a document, by its id."""
Refused = Callable[[Iterable[Evidence]], Collection[str]]
Order = Callable[[Sequence[Evidence], Mapping[str, float], int], list[Evidence]]
"""Documents in the order in which they are read, given how near each is and how many will be."""


def by_relevance(documents: Sequence[Evidence], near: Mapping[str, float], most: int = 0) -> list[Evidence]:
    """The documents, those that cover most first."""
    del most
    return sorted(documents, key=lambda d: -near[d.id])


def refusal(language: str) -> Notice:
    """The tool was called before anything was retrieved."""
    return noted("gaps_before_retrieval", language, Severity.WARNING)


def points_told(points: Sequence[str], language: str) -> str:
    """Open points for a reader; of those that nobody put into their language ("") how many there are."""
    untold = sum(not point for point in points)
    more = [messages(language).say("gap.points", count=untold)] if untold else []
    return messages(language).joined([*unique(filter(None, points)), *more])


def gap_notices(
    gaps: Sequence[Gap], errors: Sequence[ServiceError], background: Sequence[Evidence], language: str
) -> list[Notice]:
    """Searches that failed, gaps that are left open, and what background was written."""
    notices = [
        noted("gap_search_failed", language, Severity.WARNING, detail=what)
        for what in unique([error.what for error in errors])
    ]
    told = {gap.requirement: gap.told(language) for gap in gaps}
    missing = [told[gap.requirement] for gap in gaps if not gap.covered_by]
    if missing:
        notices.append(noted("gaps_left_open", language, detail=points_told(missing, language)))
    if background:
        on = unique([told.get(item.title) or messages(language)["gap.question"] for item in background])
        notices.append(noted("background_generated", language, detail="; ".join(on)))
    return notices


def nothing_useful(found_later: bool, language: str) -> Notice:
    """No document that was retrieved says anything useful; ``found_later`` when a search for a gap brought some."""
    if found_later:
        return noted("nothing_useful_retrieved", language, said="notice.nothing_useful_at_first")
    return noted("nothing_useful_retrieved", language, Severity.WARNING, said="notice.nothing_useful_found")


class Searcher(Protocol):
    """Searches what the agent can search. A failure raises ServiceError; it is never an empty list."""

    async def __call__(self, query: str, limit: int, context: ToolContext) -> list[Evidence]:
        """At most ``limit`` pieces of evidence for a query, best first; ``context`` is the turn's."""


class FillKnowledgeGaps:
    """Finds what is missing in the evidence of the turn, and fills it.

    Args:
        search: the retrieval for one gap.
        encoder: what compares requirements with evidence.
        settings: see `GapSettings`.
        finder, generator: the judgements; the local ones by default.
        beside: background is written later, beside the answer, and stands in where every search fails.
        refused: ids of documents that no model may read, because they give orders to whoever reads them by machine.
        sections: of a page that was found, so that what covers a need best is read, found or not; none by default.
        order: of the documents that are read, of which the first ones are; by default those that cover most.
    """

    name = "fill_knowledge_gaps"
    arguments = Arguments

    def __init__(
        self,
        search: Searcher,
        encoder: Encoder,
        settings: GapSettings | None = None,
        *,
        finder: GapFinder | None = None,
        generator: Generator | None = None,
        beside: bool = False,
        refused: Refused = lambda _: (),
        sections: Sections = lambda _: (),
        order: Order = by_relevance,
    ) -> None:
        self._search, self._encoder, self._settings = search, encoder, settings or GapSettings()
        self._finder = finder or GapFinderInSteps(
            own_requirements=self._settings.own_requirements, unretrieved=self._settings.unretrieved
        )
        self._generator, self._beside, self._refused = generator or GeneratorLocal(), beside, refused
        self._sections, self._order = sections, order

    @cached_property
    def description(self) -> str:
        """What a planner is told about the tool."""
        return description(self.name)

    async def run(self, arguments: Arguments, context: ToolContext) -> ToolArtifact:
        """Every requirement as a `Gap` with what covers it, the new evidence, and background, marked as generated.

        Raises:
            ServiceError: every search that was made failed, and no background stands in.
        """
        if not context.retrieved and not self._settings.unretrieved:
            return ToolArtifact(tool=self.name, outcome=Outcome.REFUSED, notices=[refusal(context.language)])
        inquiry = await asyncio.to_thread(self._inquiry, arguments, context)
        documents = await asyncio.to_thread(self._documents, inquiry, context.evidence)
        known = {item.id for item in context.evidence}
        brought = [d for d in documents if d.id not in known]
        held = [*context.evidence, *brought]
        if documents and self._settings.points:
            context.tell("documents", n=len(documents))
        survey = await self._finder.find(inquiry, documents) if self._settings.points else GapSurvey()
        useless = [d.id for d in documents if d.id not in survey.useful]
        gaps = list(survey.gaps)
        missing = [gap.requirement for gap in gaps if not gap.covered_by]
        open_gaps = [gap for gap in gaps if not gap.covered_by and gap.query]
        asked = open_gaps[: self._settings.points * self._settings.search_first]
        if asked:
            context.tell("gaps", n=len(asked))
        searching = replace(context, recorder=(searched := StrategyRecorder(context.recorder)))
        results = await asyncio.gather(*(self._find(gap, searching) for gap in asked), return_exceptions=True)
        found, errors = _sorted_out(results)
        known = {item.id for item in held}
        fresh = [item for item in merge_evidence(found) if item.id not in known]
        if found:
            counted = {e.id for e in found} - {d.id for d in documents}  # what was read does not say it
            gaps = await asyncio.to_thread(self._covered_now, gaps, [*held, *fresh], counted)
        background = await self._background(inquiry, [g.requirement for g in gaps if not g.covered_by], context.tell)
        if errors and len(errors) == len(results) and not background and not self._beside:
            raise errors[0]
        context.recorder.event(
            "gaps",
            requirements=[gap.requirement for gap in gaps],
            useful=[d.id for d in documents if d.id in survey.useful],
            useless=useless if self._settings.points else [],
            readings={r.evidence_id: " ".join([r.stance, *map(str, r.sentences)]) for r in survey.readings},
            missing=missing,
            searched=[gap.query for gap in asked],
            found=[e.id for e in fresh],
            generated=[e.id for e in background],
        )
        notices = gap_notices(gaps, errors, background, context.language)
        if not survey.useful and self._settings.points and context.retrieved:
            notices.append(nothing_useful(_fills(gaps, fresh), context.language))
        return ToolArtifact(
            tool=self.name,
            outcome=Outcome.of(fresh or background or not missing, failed=bool(errors)),
            evidence=[*brought, *fresh, *background],
            gaps=gaps,
            readings=list(survey.readings),
            notices=notices,
            strategy=[
                step
                for gap, result in zip(asked, results, strict=True)
                for step in ({"gap": gap.query, "results": _count(result)}, *searched.steps(gap.query))
            ],
        )

    def _inquiry(self, arguments: Arguments, context: ToolContext) -> Inquiry:
        named = unique([r.strip() for r in arguments.requirements if r.strip()])
        diseases = unique([e.title for e in context.evidence if e.origin is Origin.KNOWLEDGE_GRAPH])
        wanted = named or _derived(arguments.question, diseases, context)
        held = usable(context.evidence)
        topic = COLON.sub(" ", topic_of(arguments.question))  # a whole phrase: it has no subject and aspect
        rows = coverage_matrix([topic, *wanted], held, self._encoder)
        relevance, columns = rows.max(axis=0, initial=0.0).tolist(), rows[1:].T.tolist()
        return Inquiry(
            question=context.question or arguments.question,
            kind=context.kind,
            language=context.language,
            options=context.options,
            diseases=diseases,
            requirements=wanted,
            named=bool(named),
            coverage={item.id: column for item, column in zip(held, columns, strict=True)},
            relevance={item.id: best for item, best in zip(held, relevance, strict=True)},
        )

    def _documents(self, inquiry: Inquiry, evidence: Sequence[Evidence]) -> list[Evidence]:
        """The retrieved documents that are read, in their order, and none that only repeats others.

        Then come pieces of their pages that cover a need better than all of these, found or not.
        """
        refused, most = set(self._refused(evidence)), self._settings.documents
        kept = [e for e in usable(evidence) if e.origin is Origin.RETRIEVED and e.kind != "record"]
        kept = [e for e in kept if e.id not in refused]
        ranked = self._order(without_repeats(self._order(kept, inquiry.relevance, most)), inquiry.relevance, most)
        read, left = ranked[:most], ranked[most:]
        pages = {d.document_id for d in read}
        beside = [d for d in left if d.document_id in pages]
        further = self._further(unique([d.document_id for d in by_relevance(read, inquiry.relevance)])[:PAGES], ranked)
        rows = coverage_matrix(inquiry.requirements, further, self._encoder)
        covers = dict(inquiry.coverage) | {d.id: column for d, column in zip(further, rows.T.tolist(), strict=True)}
        refused = set(self._refused(further))
        beside += [d for d in further if d.id not in refused]
        for need in range(len(inquiry.requirements) if beside else 0):
            best = max(beside, key=lambda d: covers[d.id][need])
            covered = max(covers[d.id][need] for d in read)
            if best not in read and covers[best.id][need] > covered:
                read.append(best)
        return read[: most + self._settings.beside]

    def _further(self, pages: Sequence[str], found: Sequence[Evidence]) -> list[Evidence]:
        """Sections of pages that were not found, as this tool's; none whose sentences all stand in what was."""
        found_ids = {d.id for d in found}
        pieces = [s for page in pages for s in self._sections(page) if s.id not in found_ids]
        fresh = {d.id for d in without_repeats([*found, *pieces])}
        own = Found(tool=self.name, stream="section")
        return [p.model_copy(update={"found": (own,)}) for p in usable(pieces) if p.id in fresh]

    async def _find(self, gap: Gap, context: ToolContext) -> list[Evidence]:
        limit = self._settings.results
        items = await self._search(gap.query, limit, context)
        return [
            item.model_copy(update={"found": (*item.found, _found(gap.query, place))})
            for place, item in enumerate(items[:limit], start=1)
        ]

    def _covered_now(self, gaps: Sequence[Gap], evidence: Sequence[Evidence], found: Collection[str]) -> list[Gap]:
        """The gaps with what the searches found for those that were open; ``found`` leaves out what is useless."""
        wanted = [gap.requirement for gap in gaps if not gap.covered_by]
        covers = iter(covered_by(wanted, evidence, self._encoder))
        return [
            gap
            if gap.covered_by
            else gap.model_copy(update={"covered_by": tuple(key for key in next(covers) if key in found)})
            for gap in gaps
        ]

    async def _background(self, inquiry: Inquiry, still_open: Sequence[str], tell: Tell) -> list[Evidence]:
        settings = self._settings
        if settings.generated == "off":
            return []
        points = [*still_open[: min(settings.points, settings.conditioned)], *[""] * settings.question_only]
        if not points:
            return []
        if not isinstance(self._generator, GeneratorLocal):  # which writes nothing
            tell("background", n=len(points))
        return merge_evidence(await self._generator.write(inquiry, points))


def _derived(question: str, diseases: Sequence[str], context: ToolContext) -> list[str]:
    """Requirements from the question; for a case, of the diseases that the knowledge graph put forward."""
    present = unique([f.name for f in context.findings if f.present])
    if context.kind in ("case", "follow_up") and not diseases and present:
        question = ", ".join(present)
    return requirements(question, context.kind, context.language, context.options, diseases)


def _fills(gaps: Sequence[Gap], fresh: Sequence[Evidence]) -> bool:
    """Whether new evidence covers a requirement."""
    new = {item.id for item in fresh}
    return any(new & set(gap.covered_by) for gap in gaps)


def _found(query: str, place: int) -> Found:
    return Found(tool=FillKnowledgeGaps.name, stream="gap", query=query, rank=place)


def _sorted_out(results: Sequence[list[Evidence] | BaseException]) -> tuple[list[Evidence], list[ServiceError]]:
    """Evidence and failures apart. Raises what is no ServiceError."""
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, ServiceError):
            raise result
    errors = [r for r in results if isinstance(r, ServiceError)]
    return [item for r in results if isinstance(r, list) for item in r], errors


def _count(result: Any) -> int | str:
    return len(result) if isinstance(result, list) else "failed"
