"""KADS, the knowledge-aware document selector (MedRGAG): few documents that cover most requirements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from graphs.differential_filter.contract import Verdict
from tools.contract import Differential, DocumentReading, Finding, Gap
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
    """The selection.

    Attributes:
        generated_share: share of generated documents among the kept ones, 0..1.
        verdicts: of a selector that also judged what the filter judges, its verdicts; the filter asks no more of these.
        readings: what such a selector says of documents that had not been read.
    """

    requirements: tuple[str, ...]
    kept: tuple[Kept, ...]
    dropped: tuple[Dropped, ...]
    generated_share: float
    verdicts: tuple[Verdict, ...] = ()
    readings: tuple[DocumentReading, ...] = ()


class SelectionContext(Frozen):
    """What a selector may know of the turn beside the documents; see `AnswerView` for the fields.

    ``gaps``: the needs, each with the documents that a reading found to answer it.
    """

    kind: str = "evidence"
    findings: tuple[Finding, ...] = ()
    differential: Differential | None = None
    readings: tuple[DocumentReading, ...] = ()
    gaps: tuple[Gap, ...] = ()


class Selector(Protocol):
    """Selects documents."""

    async def select(
        self,
        question: str,
        requirements: Sequence[str],
        candidates: Sequence[Evidence],
        limit: int,
        context: SelectionContext | None = None,
    ) -> Selection:
        """At most ``limit`` of the candidates; every candidate is in ``kept`` or ``dropped``, once.

        A selector that sets generated background against no retrieved document keeps it beside these.
        """
