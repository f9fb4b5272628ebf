"""KADS, the knowledge-aware document selector (MedRGAG): few documents that cover most requirements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tools.evidence import Evidence, Frozen


class Kept(Frozen):
    """A selected document, the requirements that it covers, and why it was taken."""

    evidence_id: str
    covers: tuple[str, ...]
    reason: str


class Dropped(Frozen):
    """A document that was left out, and why."""

    evidence_id: str
    reason: str


class Selection(Frozen):
    """The selection; ``generated_share`` is the share of generated documents in it, 0..1."""

    requirements: tuple[str, ...]
    kept: tuple[Kept, ...]
    dropped: tuple[Dropped, ...]
    generated_share: float


class Selector(Protocol):
    """Selects documents."""

    async def select(
        self, question: str, requirements: Sequence[str], candidates: Sequence[Evidence], limit: int
    ) -> Selection:
        """At most ``limit`` of the candidates; every candidate is in ``kept`` or ``dropped``, once."""
