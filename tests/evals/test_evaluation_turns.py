"""What counts as right of messages within a conversation, on made-up rows."""

from __future__ import annotations

from typing import Any

import pytest

from evals.tasks.understanding import Turn, group_of, is_right, turn_figures, view_of
from graphs.triage.contract import Aspect, Explain, Kind, TriageDecision
from tools.reading.messages import Meaning


def row(means: str, after: str = "case", text: str = "why?") -> Turn:
    return Turn.model_validate({"text": text, "means": means, "after": after})


def decision(kind: Kind, question: str = "why?", **more: Any) -> TriageDecision:
    return TriageDecision(kind=kind, language="en", question=question, reason="r", **more)


WHY = decision(Kind.EXPLAIN, explain=Explain(aspect=Aspect.WHY))


@pytest.mark.parametrize(
    ("one", "taken", "right"),
    [
        (row("why"), WHY, True), (row("sure"), WHY, False), (row("why"), decision(Kind.CASE), False),
        (row("named"), WHY, True), (row("named"), decision(Kind.EVIDENCE), True),
        (row("tests"), decision(Kind.EVIDENCE, "How is croup diagnosed?", about_case=True), True),
        (row("tests"), decision(Kind.EVIDENCE), False), (row("tests"), WHY, False),
        (row("leans", "answer"), decision(Kind.EVIDENCE, "why statins?"), True),
        (row("leans", "answer"), decision(Kind.EVIDENCE), False),
        (row("patient"), decision(Kind.CASE, "the case. why?"), True),
        (row("alone"), decision(Kind.EVIDENCE), True), (row("alone"), decision(Kind.EVIDENCE, "of it"), False),
        (row("tells"), decision(Kind.FOLLOW_UP), True), (row("tells"), decision(Kind.EVIDENCE), False),
    ],
)  # fmt: skip
def test_what_is_right(one: Turn, taken: TriageDecision, right: bool) -> None:
    assert is_right(one, taken) is right


def test_figures_are_by_language_and_by_what_is_to_become_of_a_message() -> None:
    read = [(row("why"), WHY), (row("sure"), WHY), (row("tells", text="没有"), decision(Kind.CASE))]
    values = {f.name: f.value for f in turn_figures(read)}
    assert values == {
        "turns.en.right": 50,
        "turns.zh.right": 100,
        "turns.explained.right": 50,
        "turns.tells.right": 100,
    }


def test_every_meaning_is_of_a_group_and_every_message_has_what_was_said_before() -> None:
    assert {group_of(m) for m in Meaning} == {"explained", "of_disease", "leans", "alone", "tells"}
    assert view_of(row("why", text="为什么")).leading == "急性中耳炎"
    assert view_of(row("why", "answer")).case == ""
