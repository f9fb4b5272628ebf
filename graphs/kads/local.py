"""The local KADS selector: greedy maximum coverage of knowledge requirements, less redundancy.

MedRGAG (knowledge-aware document selection) keeps at most 5 of 10 documents with most coverage and least redundancy.
There a model maps documents to requirements; here embeddings and rare words do, and the greedy rule is that of maximal
marginal relevance (Carbonell and Goldstein 1998) over probabilistic coverage. The echo-chamber guard is ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

import numpy as np

from graphs.judging.key_terms import about
from graphs.judging.relevance import Relevance, Scores, jaccard
from graphs.kads.contract import Dropped, Kept, Selection, SelectionContext, usable_and_dropped
from graphs.triage.local import describes_patient
from tools.contract import unique
from tools.encoders import Encoder, Vectors
from tools.evidence import Evidence, EvidenceId, Frozen, Origin
from tools.literature.depth import FULL_TEXT, LONGEST
from tools.passages.contract import evidence_text
from tools.text.tokens import tokens


class KadsSettings(Frozen):
    """Settings of the local selector. All ours.

    Attributes:
        floor: coverage from which a document covers a requirement.
        better: weight of covering a requirement better than any kept document does, against covering more of what
            is open; the second alone lets an overview that covers everything a little keep the precise ones out.
        redundancy: weight of the greatest overlap with a kept document against the gain in coverage.
        least_gain: gain in mean coverage below which a further document adds nothing.
        duplicate: cosine from which two documents are near-duplicates. words: the same for shared words.
        span: share of the shorter span from which two spans of one document overlap.
        elsewhere: weight of a document that is not about what the question names, where another is.
        guard: keep at most as many generated documents as retrieved ones, and none whose requirements retrieved text
            covers about as well (off in the published configuration).
        instead: share of a generated document's relevance from which retrieved text covers about as well.
    """

    floor: float = 0.30
    better: float = 0.5
    redundancy: float = 0.15
    least_gain: float = 0.01
    duplicate: float = 0.93
    words: float = 0.80
    span: float = 0.5
    elsewhere: float = 0.6
    guard: bool = True
    instead: float = 0.8


class SelectorLocal:
    """Selects without a service. Deterministic: ties go to the smaller id."""

    def __init__(self, encoder: Encoder, settings: KadsSettings | None = None) -> None:
        self._relevance = Relevance(encoder)
        self._settings = settings or KadsSettings()

    async def select(
        self,
        question: str,
        requirements: Sequence[str],
        candidates: Sequence[Evidence],
        limit: int,
        context: SelectionContext | None = None,
    ) -> Selection:
        """At most ``limit`` candidates; every candidate is kept or dropped, once, with a reason in words."""
        del context
        return await asyncio.to_thread(self._select, question, requirements, candidates, limit)

    def _select(
        self, question: str, requirements: Sequence[str], candidates: Sequence[Evidence], limit: int
    ) -> Selection:
        wanted = unique([r for r in requirements if r.strip()]) or [question]
        documents, unusable = usable_and_dropped(sorted(candidates, key=lambda c: c.id))
        scores = self._relevance.score(wanted, [evidence_text(d) for d in documents])
        if not describes_patient(question):  # a case is not about one disease that it names
            scores = scores._replace(relevance=scores.relevance * self._weights(question, documents))
        greedy = _Greedy(self._settings, wanted, documents, scores)
        greedy.run(limit)
        generated = sum(documents[i].origin is Origin.GENERATED for i in greedy.order)
        return Selection(
            requirements=tuple(wanted),
            kept=tuple(greedy.kept),
            dropped=(*unusable, *greedy.dropped(limit)),
            generated_share=generated / len(greedy.order) if greedy.order else 0.0,
        )

    def _weights(self, question: str, documents: Sequence[Evidence]) -> Vectors:
        """(documents,) 1 for what is about what the question names, less for the rest."""
        on_subject = about([(d.title, d.text) for d in documents], question, [])
        return np.where(on_subject, 1.0, self._settings.elsewhere).astype(np.float32)


@dataclass
class _Greedy:
    """The state of one selection: which documents were taken, and what is still to be covered."""

    settings: KadsSettings
    wanted: list[str]
    documents: list[Evidence]
    scores: Scores
    order: list[int] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    duplicates: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.open = np.ones(len(self.wanted))  # what is not covered yet of each requirement, 0..1
        self.best = np.zeros(len(self.wanted))  # how well the best kept document covers each requirement, 0..1
        self.bags = [set(tokens(d.text)) for d in self.documents]
        retrieved = [i for i in range(len(self.documents)) if not self._generated(i)]
        self.retrieved = self.scores.relevance[:, retrieved].max(axis=1, initial=0.0)  # of each requirement, 0..1

    def run(self, limit: int) -> None:
        """Take documents until the limit, or until none adds anything."""
        while len(self.order) < limit:
            best = min(self._admissible(), key=lambda i: (-round(self._value(i), 6), self.documents[i].id), default=-1)
            if best < 0:
                return
            self._take(best)

    def dropped(self, limit: int) -> list[Dropped]:
        """The documents that were not taken, and why, by id."""
        left = [i for i in range(len(self.documents)) if i not in self.order]
        return [Dropped(evidence_id=self.documents[i].id, reason=self._why_not(i, limit)) for i in left]

    def _admissible(self) -> list[int]:
        return [
            i
            for i in range(len(self.documents))
            if i not in self.order
            and i not in self.duplicates
            and self._covers(i)
            and self._gain(i) >= self.settings.least_gain
            and not self._echo(i)
        ]

    def _take(self, index: int) -> None:
        covers = self._covers(index)
        done = {r for k in self.kept for r in k.covers}
        fresh = [r for r in covers if self.wanted[r] not in done]
        self.kept.append(
            Kept(
                evidence_id=self.documents[index].id,
                covers=tuple(self.wanted[r] for r in covers),
                reason=self._why(index, covers, len(fresh)),
            )
        )
        self.open = self.open * (1 - self.scores.relevance[:, index])
        self.best = np.maximum(self.best, self.scores.relevance[:, index])
        self.order.append(index)
        for other in range(len(self.documents)):
            if other not in self.order and other not in self.duplicates:
                reason = self._duplicate_of(other, index)
                if reason:
                    self.duplicates[other] = reason

    def _gain(self, index: int) -> float:
        column = self.scores.relevance[:, index]
        better = np.maximum(column - self.best, 0.0)
        share = self.settings.better
        return float(np.mean(share * better + (1 - share) * self.open * column))

    def _value(self, index: int) -> float:
        return self._gain(index) - self.settings.redundancy * self._overlap(index)[0]

    def _covers(self, index: int) -> list[int]:
        column = self.scores.relevance[:, index]
        covered = [r for r in range(len(self.wanted)) if column[r] >= self.settings.floor]
        return sorted(covered, key=lambda r: (-column[r], r))

    def _overlap(self, index: int) -> tuple[float, int]:
        """The greatest similarity with a kept document, and which one that is (-1: none is kept)."""
        pairs = [(max(float(self.scores.similarity[index, k]), 0.0), k) for k in self.order]
        return max(pairs, default=(0.0, -1))

    def _generated(self, index: int) -> bool:
        return self.documents[index].origin is Origin.GENERATED

    def _echo(self, index: int) -> bool:
        """Whether the guard refuses a generated document: it outnumbers retrieved text, or says what that covers."""
        if not self.settings.guard or not self._generated(index):
            return False
        generated = sum(self._generated(i) for i in self.order)
        return generated + 1 > len(self.order) - generated or all(
            self.retrieved[r] >= self.settings.instead * self.scores.relevance[r, index] for r in self._covers(index)
        )

    def _duplicate_of(self, other: int, kept: int) -> str:
        left, right = self.documents[other], self.documents[kept]
        if spans_overlap(left.id, right.id) >= self.settings.span:
            return f"overlaps the same span as {right.id}"
        same = float(self.scores.similarity[other, kept])
        words = jaccard(self.bags[other], self.bags[kept])
        if same >= self.settings.duplicate or words >= self.settings.words:
            return f"near-duplicate of {right.id} ({max(same, words):.2f})"
        return ""

    def _why(self, index: int, covers: list[int], fresh: int) -> str:
        best = covers[0]
        parts = [f"covers '{self.wanted[best]}' ({self.scores.relevance[best, index]:.2f})"]
        parts.append(f"adds {fresh} requirement{'' if fresh == 1 else 's'}")
        overlap, other = self._overlap(index)
        if other >= 0:
            parts.append(f"overlaps {overlap:.2f} with {self.documents[other].id}")
        return ", ".join(parts)

    def _why_not(self, index: int, limit: int) -> str:
        if index in self.duplicates:
            return self.duplicates[index]
        best = int(np.argmax(self.scores.relevance[:, index]))
        closest = f"'{self.wanted[best]}' ({self.scores.relevance[best, index]:.2f})"
        if not self._covers(index):
            return f"covers no requirement; closest is {closest}"
        if self._echo(index):
            return "generated text may not outnumber retrieved text, nor stand for what retrieved text covers"
        if self._gain(index) < self.settings.least_gain:
            return f"adds nothing to what is kept; closest is {closest}"
        return f"covers {closest}, but {limit} documents that cover more are kept"


def spans_overlap(left: str, right: str) -> float:
    """Shared characters over the shorter of two spans of one document, 0..1; 0 for different documents."""
    a, b = EvidenceId.parse(left), EvidenceId.parse(right)
    if a.document_id != b.document_id:
        return 0.0
    if a.start is None or a.end is None or b.start is None or b.end is None:
        return 1.0
    shared = min(a.end, b.end) - max(a.start, b.start)
    return max(shared, 0) / max(min(a.end - a.start, b.end - b.start), 1)


# A selection without KADS: the first documents in the order in which they were found.
#
# Passages that were read closely stand before what a search found, because a method that reads on does so to use what
# it read; they stand for their documents, and for full texts that were handed on whole to be cut. Retrieved and
# generated documents are taken in turn, so that neither stands before all of the other (ours; the sources do not say
# what stands without KADS).

PASSAGES = "retrieve_passages"
STAND_FOR = "its passages that were read closely stand for it"


class SelectorInOrder:
    """Keeps the first documents; it maps nothing to requirements."""

    async def select(
        self,
        question: str,
        requirements: Sequence[str],
        candidates: Sequence[Evidence],
        limit: int,
        context: SelectionContext | None = None,
    ) -> Selection:
        """At most ``limit`` candidates; every candidate is kept or dropped, once, with a reason in words."""
        del context
        documents, unusable = usable_and_dropped(candidates)
        ordered = in_turn(documents)
        kept, beyond = ordered[:limit], ordered[limit:]
        placed = {d.id for d in ordered}
        generated = sum(d.origin is Origin.GENERATED for d in kept)
        return Selection(
            requirements=tuple(unique([r for r in requirements if r.strip()]) or [question]),
            kept=tuple(
                Kept(evidence_id=d.id, covers=(), reason=f"number {n} in the order found")
                for n, d in enumerate(kept, start=1)
            ),
            dropped=(
                *unusable,
                *(Dropped(evidence_id=d.id, reason=f"beyond the first {limit} in the order found") for d in beyond),
                *(Dropped(evidence_id=d.id, reason=STAND_FOR) for d in documents if d.id not in placed),
            ),
            generated_share=generated / len(kept) if kept else 0.0,
        )


def in_turn(documents: Sequence[Evidence]) -> list[Evidence]:
    """A retrieved document, a generated one, and so on, each kind in its order, passages read closely first.

    Left out is what those passages stand for.
    """
    generated = [d for d in documents if d.origin is Origin.GENERATED]
    every = [d for d in documents if d.origin is not Origin.GENERATED]
    read = [d for d in every if _read(d)]
    cited = {d.document_id for d in read}
    others = [d for d in every if not _read(d) and not (read and (d.document_id in cited or _whole(d)))]
    retrieved = [*read, *others]
    return [d for pair in zip_longest(retrieved, generated) for d in pair if d is not None]


def _read(document: Evidence) -> bool:
    return any(way.tool == PASSAGES for way in document.found)


def _whole(document: Evidence) -> bool:
    return document.kind == FULL_TEXT and len(document.text) > LONGEST
