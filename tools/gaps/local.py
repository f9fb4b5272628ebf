"""The judgements without a model: best sentences, requirements with what covers them, no background; KGCC's steps."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tools.contract import Gap
from tools.evidence import Evidence
from tools.gaps.contract import Explorer, GapSurvey, Inquiry, Summariser, Summary
from tools.gaps.coverage import COVERED
from tools.passages.lexical import coverage, inverse_frequency
from tools.text.sentences import sentences
from tools.text.tokens import tokens

SENTENCES = 3  # ours: of an excerpt; more is no summary
# ours: relevance below which a document says nothing useful. Of the windows that answer 80 questions of the starter
# library 2 lie below, of 320 windows of other diseases 317, of 313 near misses of the search half. It is less than
# COVERED, so that what covers a requirement is never called useless.
USEFUL = 0.35


class SummariserLocal:
    """Excerpts: the sentences that hold most of the question's and the requirements' words."""

    async def summarise(self, inquiry: Inquiry, documents: Sequence[Evidence]) -> list[Summary]:
        """One excerpt a document, in order; "" where its relevance is below `USEFUL`."""
        return [
            Summary(
                evidence_id=d.id,
                title=d.title,
                text=excerpt(inquiry, d) if inquiry.relevance.get(d.id, 0.0) >= USEFUL else "",
            )
            for d in documents
        ]


class ExplorerLocal:
    """The question's own requirements, each with the evidence that covers it by words and meaning."""

    async def explore(self, inquiry: Inquiry, summaries: Sequence[Summary]) -> list[Gap]:
        """Every requirement; ``covered_by`` best first, without what a summary found useless."""
        useless = {s.evidence_id for s in summaries if not s.useful}
        return [
            Gap(requirement=wanted, query=wanted, covered_by=_covering(inquiry, row, useless))
            for row, wanted in enumerate(inquiry.requirements)
        ]


class GapFinderInSteps:
    """What is missing in KGCC's own steps: a summary of each document, then an exploration of the summaries.

    Args:
        summariser, explorer: who takes each step; locally by default.
        own_requirements: what the planner named, and when no summary is useful what the question itself asks, stay
            requirements whatever the explorer says (ours; off: published).
        unretrieved: the explorer explores without any document too; off: what the question needs stands, because a
            model would only guess (ours).
    """

    def __init__(
        self,
        summariser: Summariser | None = None,
        explorer: Explorer | None = None,
        *,
        own_requirements: bool = True,
        unretrieved: bool = False,
    ) -> None:
        self._summariser, self._explorer = summariser or SummariserLocal(), explorer or ExplorerLocal()
        self._own_requirements, self._unretrieved = own_requirements, unretrieved

    async def find(self, inquiry: Inquiry, documents: Sequence[Evidence]) -> GapSurvey:
        """What is missing by the summaries."""
        summaries = await self._summariser.summarise(inquiry, documents) if documents else []
        explorer = self._explorer if documents or self._unretrieved else ExplorerLocal()
        gaps = await explorer.explore(inquiry, summaries)
        useful = frozenset(s.evidence_id for s in summaries if s.useful)
        if self._own_requirements and (inquiry.named or not useful):
            told = {gap.requirement.casefold() for gap in gaps}
            own = await ExplorerLocal().explore(inquiry, summaries)
            gaps = [*gaps, *(gap for gap in own if gap.requirement.casefold() not in told)]
        return GapSurvey(useful=useful, gaps=tuple(gaps))


class GeneratorLocal:
    """Writes nothing: without a model nothing is generated."""

    async def write(self, inquiry: Inquiry, points: Sequence[str]) -> list[Evidence]:
        """No document."""
        del inquiry, points
        return []


def excerpt(inquiry: Inquiry, document: Evidence) -> str:
    """The sentences of a document nearest to what is asked, in their order, whatever they are worth."""
    spans = sentences(document.text)
    return " ".join(spans[n - 1].of(document.text) for n in nearest(inquiry, document)) or document.text


def nearest(inquiry: Inquiry, document: Evidence) -> list[int]:
    """Numbers, from 1, of the sentences of a document nearest to what is asked, in their order."""
    bags = [frozenset(tokens(span.of(document.text))) for span in sentences(document.text)]
    wanted = tokens(" ".join([inquiry.asked, *inquiry.requirements]))
    scores = coverage(wanted, bags, inverse_frequency(bags))
    return sorted(i + 1 for i in sorted(range(len(bags)), key=lambda i: (-scores[i], i))[:SENTENCES])


def _covering(inquiry: Inquiry, row: int, useless: Collection[str]) -> tuple[str, ...]:
    held = {key: values[row] for key, values in inquiry.coverage.items() if values[row] >= COVERED}
    return tuple(key for key in sorted(held, key=lambda k: -held[k]) if key not in useless)
