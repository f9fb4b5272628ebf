"""A selection without KADS: the first documents in the order in which they were found.

Passages that were read closely stand before what a search found, because a method that reads on does so to use what it
read; they stand for their documents, and for full texts that were handed on whole to be cut. Retrieved and generated
documents are taken in turn, so that neither stands before all of the other (ours; the sources do not say what stands
without KADS).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from graphs.kads.contract import Dropped, Kept, Selection, SelectionContext, usable_and_dropped
from tools.contract import unique
from tools.evidence import Evidence, Origin
from tools.literature.depth import FULL_TEXT, LONGEST

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
