"""The unit on which a decision turns, against looking the case up again without it; and the next question."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphs.completeness.contract import Decision, Label, Unit
from graphs.completeness.labels import KINDS
from graphs.completeness.local import CompletenessGateLocal, next_question, turning_by_labels
from graphs.completeness.score import GateSettings
from tools.contract import Differential, FollowUpQuestion
from tools.encoders import Encoder
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.yaml_files import read_yaml

CASES = Path(__file__).parents[3] / "evals" / "data" / "dev" / "differential.yaml"
ENOUGH = 3  # cases that pass at once and turn


@pytest.fixture(scope="module")
def graph(encoder: Encoder, built_home: Path) -> KnowledgeGraph:
    return KnowledgeGraph(encoder, built_home / "indexes")


def test_without_the_turning_unit_a_new_look_is_less_sure_too(graph: KnowledgeGraph) -> None:
    """It approximates a new look-up, so most must agree in direction, and the whole in size, but not each."""
    gate = CompletenessGateLocal()
    expected, found, whole = [], [], []
    for row in read_yaml(CASES)[::2]:
        text = row["text"]
        decision = gate.assess_now(text, "case", graph.look_up(text, "en"))
        if decision.decision is not Decision.DIRECT or decision.turning is None:
            continue
        assert decision.turning.decision is not Decision.DIRECT
        assert decision.turning.score <= decision.theta1
        unit = decision.units[decision.turning.unit]
        rest = text[: unit.start] + text[unit.end :]
        again = gate.assess_now(rest, "case", graph.look_up(rest, "en"))
        expected.append(decision.turning.score)
        found.append(again.score)
        whole.append(decision.score)
        if len(found) == ENOUGH:
            break
    assert len(found) == ENOUGH
    assert sum(f < w for f, w in zip(found, whole, strict=True)) >= 0.75 * len(found)
    assert sum(found) / len(found) < sum(whole) / len(whole)


def unit(n: int, label: Label) -> Unit:
    return Unit(text=f"unit {n}", start=10 * n, end=10 * n + 6, label=label, reason="")


def test_by_labels_the_turning_unit_is_exact_in_both_directions() -> None:
    settings = GateSettings(method="published", published_theta1=0.6, published_theta2=0.3)
    units = [unit(0, Label.A), unit(1, Label.A), unit(2, Label.C)]  # 2/3: direct; 1/2 without an A
    turning = turning_by_labels(units, Decision.DIRECT, settings)
    assert turning is not None
    assert (turning.unit, turning.decision, turning.score) == (0, Decision.RETRIEVE, 0.5)
    units = [unit(0, Label.A), unit(1, Label.C)]  # 1/2: retrieve; without the C it is 1, the trap of dividing by n
    turning = turning_by_labels(units, Decision.RETRIEVE, settings)
    assert turning is not None
    assert (turning.unit, turning.decision) == (1, Decision.DIRECT)
    assert turning_by_labels([unit(n, Label.A) for n in range(3)], Decision.DIRECT, settings) is None


def test_the_next_question_is_the_graphs_or_of_the_first_missing_kind() -> None:
    asked = Differential(questions=(FollowUpQuestion(finding="fever", text="Do you have a fever?", gain=1.0),))
    assert next_question("I cough.", ["where it is"], asked) == "Do you have a fever?"
    assert next_question("I cough.", ["where it is"], None) == "Where exactly is it?"
    assert next_question("咳嗽。", ["部位"], Differential()) == "具体在什么部位？"
    assert next_question("I cough.", [], None) == ""
    assert all(next_question("I cough.", [k.en], None) and next_question("咳嗽。", [k.zh], None) for k in KINDS)
