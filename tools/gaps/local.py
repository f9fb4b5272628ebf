"""The judgements without a model: best sentences, requirements with what covers them, no background; KGCC's steps."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np

from tools.contract import Gap
from tools.encoders import Encoder
from tools.evidence import Evidence, Origin
from tools.gaps.contract import Explorer, GapSurvey, Inquiry, Summariser, Summary
from tools.gaps.requirements import query_of
from tools.passages.contract import evidence_text
from tools.passages.lexical import Scores, coverage, inverse_frequency
from tools.passages.search import similarities
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
            Gap(requirement=wanted, query=query_of(wanted), covered_by=_covering(inquiry, row, useless))
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


# Which evidence covers which knowledge requirement, without a model.

DENSE_SHARE = 0.5  # ours: weight of the cosine against the words in common
# ours: on the starter library, with a passage's own section withheld and given back, 71 of 100 withheld requirements
# are seen as gaps and 90 of 100 others as covered.
COVERED = 0.55
SUBJECT_SHARE = 0.5  # ours: share of the subject's words that evidence must hold
COLON = re.compile(r":\s|：")


def coverage_matrix(requirements: Sequence[str], evidence: Sequence[Evidence], encoder: Encoder) -> Scores:
    """How far each piece of evidence covers each requirement: array (len(requirements), len(evidence)), 0..1.

    A requirement is ``subject: aspect`` or one phrase. The score is the mean of the cosine and of the share of the
    aspect's words (by inverse document frequency in the evidence) that stand in the text, its title or its section.
    Evidence without half of the subject covers nothing: treatment of another disease does not answer for this one.
    """
    if not requirements or not evidence:
        return np.zeros((len(requirements), len(evidence)))
    texts = [evidence_text(item) for item in evidence]
    vectors = encoder.encode_documents(texts)
    cosine = np.maximum([similarities(requirement, vectors, encoder) for requirement in requirements], 0.0)
    bags = [frozenset(tokens(text)) for text in texts]
    weights = inverse_frequency(bags)
    parts = [_parts(requirement) for requirement in requirements]
    subject = np.stack([coverage(tokens(s), bags, weights) if s else np.ones(len(bags)) for s, _ in parts])
    words = np.stack([coverage(tokens(aspect), bags, weights) for _, aspect in parts])
    matrix: Scores = np.where(subject >= SUBJECT_SHARE, DENSE_SHARE * cosine + (1 - DENSE_SHARE) * words, 0.0)
    return matrix


def covered_by(requirements: Sequence[str], evidence: Sequence[Evidence], encoder: Encoder) -> list[tuple[str, ...]]:
    """For each requirement the ids of the evidence that covers it, best first; empty where it is a gap.

    Retracted evidence and generated text cover nothing.
    """
    held = usable(evidence)
    matrix = coverage_matrix(requirements, held, encoder)
    return [tuple(held[i].id for i in np.argsort(-row, kind="stable") if row[i] >= COVERED) for row in matrix]


def usable(evidence: Sequence[Evidence]) -> list[Evidence]:
    """What may cover a requirement: no retracted work, and no text that a model wrote."""
    return [item for item in evidence if item.status.usable and item.origin is not Origin.GENERATED]


def _parts(requirement: str) -> tuple[str, str]:
    """Subject and aspect; the subject is "" where a requirement has no colon."""
    subject, *aspect = COLON.split(requirement, maxsplit=1)
    return (subject, aspect[0]) if aspect else ("", subject)
