"""What no selector may keep, whoever selects: the candidates that are left, each once, and those that fell out."""

from __future__ import annotations

from collections.abc import Sequence

from graphs.kads.contract import Dropped
from tools.evidence import Evidence


def usable_and_dropped(candidates: Sequence[Evidence]) -> tuple[list[Evidence], list[Dropped]]:
    """The candidates that may be kept, in order, each id once; and what may not, with the reason."""
    pool = list({c.id: c for c in candidates}.values())
    return (
        [c for c in pool if c.status.usable],
        [Dropped(evidence_id=c.id, reason="retracted") for c in pool if not c.status.usable],
    )
