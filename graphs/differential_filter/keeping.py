"""A filter that keeps every usable document: the arm of an ablation, and methods that have no filter."""

from __future__ import annotations

from collections.abc import Sequence

from graphs.differential_filter.contract import Stance, Verdict, unusable
from tools.contract import Differential, Finding
from tools.evidence import Evidence

REASON = "kept without judgement: the filter is switched off"


class DocumentFilterOff:
    """Keeps what may be used; retracted work never stays."""

    async def judge(
        self,
        question: str,
        kind: str,
        findings: Sequence[Finding],
        differential: Differential | None,
        documents: Sequence[Evidence],
    ) -> list[Verdict]:
        """One verdict a document, in order; none says anything about the document."""
        del question, kind, findings, differential
        refused = {v.evidence_id: v for v in unusable(documents)}
        return [
            refused.get(d.id, Verdict(evidence_id=d.id, keep=True, stance=Stance.RELEVANT, support=0.0, reason=REASON))
            for d in documents
        ]
