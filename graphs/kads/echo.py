"""The echo-chamber guard (ours): what a model wrote must not crowd out what was retrieved.

The rule: generated documents make up at most half of the selection, and take the place of no requirement's only
retrieved document, as long as a retrieved document that covers the same is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tools.contract import unique
from tools.evidence import Evidence, Origin

# ours: the share that the local selector allows; MedRGAG's own outputs on MedQA hold 76.9 % generated text
MOST_GENERATED = 0.5


class Chosen(NamedTuple):
    """A document that is kept or could be, the requirements that it covers, and why."""

    document: Evidence
    covers: tuple[str, ...]
    reason: str

    @property
    def generated(self) -> bool:
        """Whether a model wrote it."""
        return self.document.origin is Origin.GENERATED


def may_echo(chosen: Sequence[Chosen]) -> bool:
    """Whether the guard could have anything to do: something generated is kept."""
    return any(c.generated for c in chosen)


def without_echo(chosen: Sequence[Chosen], spare: Sequence[Chosen], limit: int, most: float) -> list[Chosen]:
    """The selection by the rule above.

    Args:
        chosen: what was selected, the most useful first, at most ``limit``.
        spare: retrieved documents that were left out, the most useful first.
        most: share of generated documents that may stand, 0..1.

    Returns:
        The retrieved documents of ``chosen`` in their order, its generated ones less those that gave way, and what
        was taken from ``spare`` in the places that became free.
    """
    kept = list(chosen)
    for requirement in unique([r for s in spare for r in s.covers]):
        open_ = len(kept) >= limit or any(c.generated and requirement in c.covers for c in kept)
        if open_ and not any(not c.generated and requirement in c.covers for c in kept):
            kept = _with(kept, next(s for s in spare if requirement in s.covers), limit)
    while sum(c.generated for c in kept) > most * len(kept):
        same = {r for c in kept if c.generated for r in c.covers}
        held = {c.document.id for c in kept}
        left = [s for s in spare if s.document.id not in held and same & set(s.covers)]
        if not left:
            break
        kept = _with(kept, left[0], limit)
    return kept


def _with(kept: list[Chosen], item: Chosen, limit: int) -> list[Chosen]:
    """With one more retrieved document; when all places are taken, the last generated one on the same gives way."""
    item = item._replace(reason=f"retrieved text beside generated text: {item.reason}")
    if len(kept) < limit:
        return [*kept, item]
    generated = [n for n, c in enumerate(kept) if c.generated]
    on_same = [n for n in generated if set(kept[n].covers) & set(item.covers)]
    if not generated:
        return kept
    place = (on_same or generated)[-1]
    return [item if n == place else c for n, c in enumerate(kept)]
