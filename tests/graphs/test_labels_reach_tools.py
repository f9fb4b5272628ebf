"""The gate's labels reach the tools: ICA-RAG's search takes the important sentences from them."""

from __future__ import annotations

from pathlib import Path

from graphs.completeness.contract import Decision, GateDecision, Label, Unit
from graphs.context import TurnContext
from graphs.nodes.research import tool_context
from graphs.state import State, new_turn
from tools.store import ContentStore

CASE = "I have a cough. My cat is grey."


def test_a_tool_sees_the_sentences_with_their_labels(tmp_path: Path) -> None:
    context = TurnContext(session="s", run="s/1", store=ContentStore(tmp_path / "texts.sqlite"))
    key = context.store.put("s", CASE)
    state = State(**{**new_turn(1, key), "question_key": key, "evidence": {}, "findings": []})  # type: ignore[typeddict-item]
    assert tool_context(state, context).units == []
    units = tuple(
        Unit(text=text, start=CASE.index(text), end=CASE.index(text) + len(text), label=label, reason="")
        for text, label in (("I have a cough.", Label.A), ("My cat is grey.", Label.C))
    )
    decision = GateDecision(
        decision=Decision.RETRIEVE, score=0.5, theta1=0.7, theta2=0.2, units=units, reason="more is needed"
    )
    state["gate_key"] = context.keep(decision)
    assert tool_context(state, context).units == [("I have a cough.", "A"), ("My cat is grey.", "C")]
