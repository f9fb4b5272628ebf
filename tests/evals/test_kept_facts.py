"""What a case keeps of a dialogue: facts by their words, age and sex as they are read, and replaced ones."""

from __future__ import annotations

import pytest

from evals.datasets.rows import read_jsonl
from evals.tasks.understanding import ADDITIONS, Dialogue, Fact, Replaced, holds, kept_figures, mended

CASE = "A 54-year-old woman with pain in the right knee for 3 weeks. No fever. Takes ramipril."


@pytest.mark.parametrize(
    ("fact", "value", "held"),
    [
        ("age", 54, True), ("age", "45", False), ("sex", "female", True), ("sex", "男", False),
        ("side", "right", True), ("duration", "3 weeks", True), ("medicine", "amlodipine", False),
    ],
)  # fmt: skip
def test_a_fact_is_held_or_not(fact: str, value: str | int, held: bool) -> None:
    assert holds(CASE, Fact.model_validate({"fact": fact, "value": value})) is held


@pytest.mark.parametrize(
    ("old", "new", "right"),
    [
        ("left", "right", True), ("right", "left", False), ("2 weeks", "3 weeks", True), ("fever", None, True),
        ("knee", None, False),
    ],
)  # fmt: skip
def test_a_replaced_fact_is_the_new_one_and_the_old_is_stated_no_longer(old: str, new: str | None, right: bool) -> None:
    assert mended(CASE, Replaced(fact="finding", old=old, new=new)) is right


def test_figures_count_facts_dialogues_and_replacements() -> None:
    row = Dialogue(
        messages=("a", "b"),
        facts=(Fact(fact="age", value=54), Fact(fact="medicine", value="amlodipine")),
        replaced=(Replaced(fact="side", old="left", new="right"),),
    )
    found = {f.name: f.value for f in kept_figures([(row, CASE)])}
    assert found["additions.facts.kept"] == 50
    assert found["additions.age.kept"] == 100
    assert found["additions.cases.kept"] == 0
    assert found["additions.replaced.right"] == 100


def test_the_shipped_dialogues_are_whole() -> None:
    assert len(read_jsonl(ADDITIONS, Dialogue)) == 200
