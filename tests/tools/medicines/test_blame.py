"""Which of a patient's medicines may cause what is told: the side effects of their records, matched with the case."""

from __future__ import annotations

import pytest

from tools.medicines.blame import asks_of_blame, suspects

CASE = "71F takes amlodipine, simvastatin and metformin. Her ankles are swollen."
IDS = {"swollen": "oedema", "cough": "cough", "diarrhoea": "diarrhoea"}


def states(text: str) -> frozenset[str]:
    return frozenset(finding for word, finding in IDS.items() if word in text.lower())


@pytest.mark.parametrize(
    ("question", "case", "asks"),
    [
        ("Which of her medicines could cause this?", CASE, True),
        ("Could one of her tablets be to blame?", CASE, True),
        ("Could the amlodipine be causing this?", CASE, True),
        ("哪种药可能引起的？", CASE, True),
        ("Which of her medicines could cause this?", "71F. Her ankles are swollen.", False),
        ("Which medicines are used for gout?", CASE, False),
        ("Can she take ibuprofen?", CASE, False),
        ("My hands shake since I started salbutamol. Is that normal?", "", True),
        ("Stopped bisoprolol yesterday, heart racing. What's going on?", "", True),
        ("Chest pain since I stopped smoking. Is this normal?", "", False),
        ("Is it normal to take metformin with food?", "", False),
    ],
)
def test_questions_that_blame_a_medicine(question: str, case: str, asks: bool) -> None:
    assert asks_of_blame(question, case) is asks


def test_the_medicine_whose_record_tells_the_complaint_is_named() -> None:
    found = suspects("Which of her medicines could cause this?", CASE, states)
    assert [s.page for s in found] == ["amlodipine"]
    assert "swollen ankles" in found[0].says


def test_silence_of_the_records_names_none() -> None:
    case = "71F takes simvastatin. She has a cough."
    assert suspects("Could her tablets cause this?", case, states) == ()


def test_what_came_of_stopping_a_medicine_is_told_by_its_record() -> None:
    (found,) = suspects("Zaps in my head since I stopped venlafaxine. Is that normal?", "", states)
    assert "electric-shock" in found.says
    (found,) = suspects("I came off prednisolone last week and feel faint. Is that usual?", "", states)
    assert "sudden stopping" in found.says
