"""What no filter may keep, whoever judges."""

from __future__ import annotations

from collections.abc import Sequence

from graphs.differential_filter.contract import Stance, Verdict
from tools.evidence import Evidence


def unusable(documents: Sequence[Evidence]) -> list[Verdict]:
    """A verdict for each document that may not stay, whatever it says."""
    retracted = [d for d in documents if not d.status.usable]
    return [
        Verdict(evidence_id=d.id, keep=False, stance=Stance.IRRELEVANT, support=0.0, reason="retracted")
        for d in retracted
    ]
