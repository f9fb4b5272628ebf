"""A case that no known disease explains is never answered directly."""

from __future__ import annotations

from graphs.completeness.contract import Decision, GateDecision
from graphs.completeness.explained import explained
from graphs.completeness.local import BEYOND, held_at_the_edge
from tools.contract import Differential

ENOUGH = GateDecision(decision=Decision.DIRECT, score=0.9, theta1=0.8, theta2=0.4, reason="enough")


def test_outside_is_never_enough() -> None:
    held = held_at_the_edge(ENOUGH, Differential(outside=True, explained=0.1))
    assert (held.decision, held.reason, held.parts["explained"]) == (Decision.RETRIEVE, BEYOND, 0.1)
    assert "no disease that the graph holds" in explained(held, "en").verdict
    assert "图谱中没有一种疾病" in explained(held, "zh").verdict


def test_inside_and_without_a_look_up_the_decision_stands() -> None:
    assert held_at_the_edge(ENOUGH, None) == ENOUGH
    assert held_at_the_edge(ENOUGH, Differential()) == ENOUGH
    assert held_at_the_edge(ENOUGH, Differential(explained=0.9)).decision is Decision.DIRECT


def test_a_doubtful_explanation_is_not_enough() -> None:
    held = held_at_the_edge(ENOUGH, Differential(explained=0.3))
    assert held.decision is Decision.RETRIEVE
    assert "not likely enough" in explained(held, "en").verdict
    assert "尚不确定" in explained(held, "zh").verdict


def test_a_warning_stays_a_warning() -> None:
    warned = ENOUGH.model_copy(update={"decision": Decision.RETRIEVE_WITH_WARNING, "score": 0.1})
    assert held_at_the_edge(warned, Differential(outside=True)).decision is Decision.RETRIEVE_WITH_WARNING


def test_a_case_that_was_not_understood_is_not_enough() -> None:
    read = Differential(explained=0.9, unread=("livedo reticularis",))
    assert held_at_the_edge(ENOUGH, read).decision is Decision.DIRECT
    held = held_at_the_edge(ENOUGH, read.model_copy(update={"unread": ("livedo", "brain zaps", "pica")}))
    assert held.decision is Decision.RETRIEVE
    assert "not understood" in explained(held, "en").verdict
    assert "未能读懂" in explained(held, "zh").verdict
