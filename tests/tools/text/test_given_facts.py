"""What a question gives of a patient beside what it asks."""

from __future__ import annotations

import pytest

from tools.text.questions import without_given


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("How is gout treated given his eGFR of 28 and penicillin allergy?", "How is gout treated?"),
        ("Which anticoagulant is best, considering that she is 84?", "Which anticoagulant is best?"),
        ("Are antibiotics given to children with croup?", "Are antibiotics given to children with croup?"),
        ("Is dexamethasone given by mouth or as an injection?", "Is dexamethasone given by mouth or as an injection?"),
        ("What now, given his age?", "What now, given his age?"),  # hardly anything is left
    ],
)
def test_it_is_told_from_what_is_asked(question: str, plain: str) -> None:
    assert without_given(question) == plain
