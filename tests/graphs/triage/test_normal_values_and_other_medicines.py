"""Normal values raise no emergency; a medicine that is put right stands for the one that was named."""

from __future__ import annotations

import pytest

from graphs.triage.contract import SessionView
from graphs.triage.emergency import red_flags
from graphs.triage.facts import facts_of, revise, text_of
from graphs.triage.local import TriageLocal


@pytest.mark.parametrize(
    "text",
    [
        "Mild cough for two days. Sats 98%, BP 122/78, pulse 72, temperature 36.7.",
        "面瘫两周，血糖5.4。",
        "Left facial palsy for a week, glucose 5.4 mmol/L.",
    ],
)
def test_normal_values_raise_nothing(text: str) -> None:
    assert red_flags(text, "en") == ()


@pytest.mark.parametrize(
    "text", ["右侧口角歪斜一小时，血糖5.6。", "Her mouth suddenly drooped an hour ago, glucose 5.8."]
)
def test_a_face_that_drops_now_is_a_stroke_whatever_the_sugar(text: str) -> None:
    assert [flag.code for flag in red_flags(text, "en")] == ["stroke"]


@pytest.mark.parametrize(
    ("case", "message", "now"),
    [
        ("66M, tired, on gliclazide.", "Actually metformin.", "66M, tired, on metformin."),
        ("66M on gliclazide and ramipril.", "I mean losartan", "66M on gliclazide and losartan."),
        ("66岁，在吃格列齐特。", "其实是二甲双胍", "66岁，在吃二甲双胍。"),
    ],
)
def test_a_medicine_alone_puts_right_the_one_before(case: str, message: str, now: str) -> None:
    assert text_of(revise(facts_of(case, 1), message, 2)) == now


def test_a_medicine_alone_puts_right_the_question_before() -> None:
    session = SessionView(kind="evidence", question="Can I take sertraline in pregnancy?")
    assert (
        TriageLocal().decide_now("Sorry, actually fluoxetine", session).question
        == "Can I take fluoxetine in pregnancy?"
    )
