"""What no selector may keep, whoever selects: the candidates that are left, each once, and those that fell out."""

from __future__ import annotations

from collections.abc import Sequence

from graphs.judging.orders import REASON, instructing
from graphs.kads.contract import Dropped
from tools.evidence import Evidence


def usable_and_dropped(candidates: Sequence[Evidence]) -> tuple[list[Evidence], list[Dropped]]:
    """The candidates that may be kept, in order, each id once; and what may not, with the reason."""
    pool = list({c.id: c for c in candidates}.values())
    why = {**dict.fromkeys(instructing(pool), REASON), **{c.id: "retracted" for c in pool if not c.status.usable}}
    return [c for c in pool if c.id not in why], [Dropped(evidence_id=i, reason=reason) for i, reason in why.items()]
