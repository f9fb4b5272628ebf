"""Whether a text is about children or pregnant women, and a question about somebody who is neither."""

from __future__ import annotations

import pytest

from tools.text.demographics import about_others

CHILDREN, PREGNANCY = "Urinary tract infection in children", "Anaemia in pregnancy"


@pytest.mark.parametrize(
    ("question", "children", "pregnancy"),
    [
        ("How is it treated in a man of 65?", True, True),
        ("How is it treated in men?", True, True),
        ("How is it treated in a 60-year-old woman?", True, True),
        ("How is it treated in women?", True, False),
        ("How is it treated in a 28-year-old pregnant woman?", True, False),
        ("How is it treated in a 4-year-old boy?", False, True),
        ("My 30-year-old brother had it as a child. How is it treated?", False, True),
        ("How is it treated?", False, False),
        ("男性怎么治疗？", True, True),
    ],
)
def test_texts_on_other_people_are_told(question: str, *, children: bool, pregnancy: bool) -> None:
    assert (about_others(question, CHILDREN), about_others(question, PREGNANCY)) == (children, pregnancy)
