"""The three judgements without a model: best sentences, requirements with what covers them, and no background."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tools.contract import Gap
from tools.evidence import Evidence
from tools.gaps.contract import Inquiry, Summary
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


class GeneratorLocal:
    """Writes nothing: without a model nothing is generated."""

    async def write(self, inquiry: Inquiry, points: Sequence[str]) -> list[Evidence]:
        """No document."""
        del inquiry, points
        return []


def excerpt(inquiry: Inquiry, document: Evidence) -> str:
    """The sentences of a document nearest to what is asked, in their order, whatever they are worth."""
    spans = [s.of(document.text) for s in sentences(document.text)] or [document.text]
    bags = [frozenset(tokens(s)) for s in spans]
    wanted = tokens(" ".join([inquiry.asked, *inquiry.requirements]))
    scores = coverage(wanted, bags, inverse_frequency(bags))
    best = sorted(sorted(range(len(spans)), key=lambda i: (-scores[i], i))[:SENTENCES])
    return " ".join(spans[i] for i in best)


def _covering(inquiry: Inquiry, row: int, useless: Collection[str]) -> tuple[str, ...]:
    held = {key: values[row] for key, values in inquiry.coverage.items() if values[row] >= COVERED}
    return tuple(key for key in sorted(held, key=lambda k: -held[k]) if key not in useless)
