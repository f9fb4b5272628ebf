"""Details of a step for whoever watches a turn: red flags, the gate's decision, the differential, what was found.

They are small, say nothing that the answer does not say, and are made only when somebody listens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from graphs.completeness.contract import GateDecision
from tools.contract import Differential, ToolArtifact

LIVE = "live"  # a body may return this beside its channels: makes the details of its step
SHOWN = 10  # ours: diseases of a differential, as many as an answer shows
FIELDS = {"disease", "name", "name_zh", "icd10", "score", "findings_for", "findings_against"}

Live = Callable[[], dict[str, Any]]


def live_triage(turn: dict[str, Any]) -> dict[str, Any]:
    """``kind``, ``language``, and ``emergency``: red flags, so that they are shown before anything else is done."""
    return {"kind": turn["kind"], "language": turn["language"], "emergency": turn["red_flags"]}


def live_gate(decision: GateDecision, first_look: Differential | None) -> dict[str, Any]:
    """``gate``: the decision with its units; ``differential``: of the first look-up, for a case."""
    return {"gate": decision.model_dump(mode="json"), **_ranked(first_look)}


def live_tool(artifact: ToolArtifact) -> dict[str, Any]:
    """``evidence``: how many pieces of each origin a call found; ``differential``: where the call made one."""
    counted = Counter(item.origin.value for item in artifact.evidence)
    return {"evidence": dict(sorted(counted.items())), **_ranked(artifact.differential)}


def _ranked(differential: Differential | None) -> dict[str, Any]:
    if differential is None:
        return {}
    return {"differential": [d.model_dump(mode="json", include=FIELDS) for d in differential.ranking[:SHOWN]]}
