"""The gate switched off: always or never retrieving, whatever is told, and saying so."""

from __future__ import annotations

import pytest

from graphs.completeness.contract import Decision
from graphs.completeness.local import CompletenessGateLocal
from graphs.completeness.score import GateSettings

RICH = "22M, sudden stabbing pain on the right side of the chest yesterday, worse on breathing in. No fever, no cough."


@pytest.mark.parametrize("kind", ["case", "evidence", "multiple_choice"])
@pytest.mark.parametrize("text", [RICH, "I don't feel well."])
@pytest.mark.parametrize(("method", "due"), [("retrieve", Decision.RETRIEVE), ("direct", Decision.DIRECT)])
def test_one_decision_stands_for_all(method: str, due: Decision, text: str, kind: str) -> None:
    decision = CompletenessGateLocal(GateSettings(method=method)).assess_now(text, kind, None)
    assert decision.decision is due
    assert "switched off" in decision.reason
    assert decision.units
