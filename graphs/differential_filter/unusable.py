"""What no filter may keep, whoever judges."""

from __future__ import annotations

from collections.abc import Sequence

from graphs.differential_filter.contract import Stance, Verdict
from graphs.judging.orders import REASON, instructing
from tools.evidence import Evidence


def unusable(documents: Sequence[Evidence]) -> list[Verdict]:
    """A verdict for each document that may not stay, whatever it says."""
    why = {
        **dict.fromkeys(instructing(documents), REASON),
        **{d.id: "retracted" for d in documents if not d.status.usable},
    }
    return [
        Verdict(evidence_id=i, keep=False, stance=Stance.IRRELEVANT, support=0.0, reason=reason)
        for i, reason in why.items()
    ]
