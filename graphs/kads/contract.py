"""KADS, the knowledge-aware document selector (MedRGAG): few documents that cover most requirements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from graphs.differential_filter.contract import Verdict
from graphs.judging.orders import REASON, instructing
from tools.contract import Differential, DocumentReading, Finding, Gap
from tools.evidence import Evidence, Frozen

# Settings of the selection.


class SelectionSettings(Frozen):
    """How documents are selected.

    Attributes:
        method: ``kads``, or ``in_order``: the first ones found, without KADS.
        together: where selection and filter are both a model's, one call does both (ours; off: published, one call to
            select and one a document to filter).
        guard: against generated text: the local selector's echo-chamber guard, and that a model is told to keep the
            retrieved of two documents that say the same. shuffle: show a model the documents in an order drawn by the
            question. Both are ours, and off in the published configurations.
    """

    method: Literal["kads", "in_order"] = "kads"
    together: bool = True
    guard: bool = True
    shuffle: bool = True


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


# What no selector may keep, whoever selects: the candidates that are left, each once, and those that fell out.


def usable_and_dropped(candidates: Sequence[Evidence]) -> tuple[list[Evidence], list[Dropped]]:
    """The candidates that may be kept, in order, each id once; and what may not, with the reason."""
    pool = list({c.id: c for c in candidates}.values())
    why = {**dict.fromkeys(instructing(pool), REASON), **{c.id: "retracted" for c in pool if not c.status.usable}}
    return [c for c in pool if c.id not in why], [Dropped(evidence_id=i, reason=reason) for i, reason in why.items()]
