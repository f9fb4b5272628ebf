"""A question of a message that nothing in the answer touches is named."""

import pytest

from graphs.answering.contract import AnswerView
from graphs.answering.notices import unanswered

WAITS = "Toothache for weeks. Can I wait for my dentist's appointment on Monday?"
SAID = "Chickenpox: paracetamol eases fever, and a child is kept from school until all blisters have crusted."


@pytest.mark.parametrize(
    ("kind", "question", "left"),
    [
        ("evidence", "How is chickenpox fever eased, and can he go to nursery?", ["can he go to nursery?"]),
        (
            "evidence",
            "What eases the fever of chickenpox? When are blisters crusted? Is aspirin allowed?",
            ["Is aspirin allowed?"],
        ),
        ("evidence", "What eases fever and can a child go to school?", []),
        ("evidence", "Can he go to nursery?", []),  # one question is answered or declined as a whole
        (
            "case",
            "My son of 4 has itchy spots and a fever. What could it be and can he go to nursery?",
            ["can he go to nursery?"],
        ),
        ("case", "My son of 4 has itchy spots and a fever. What is wrong with him?", []),
        ("case", "A man of 50 with a cough. He can go to work.", []),
        ("case", "Sore breast and shivers. is it ok to carry on feeding?", ["is it ok to carry on feeding?"]),
        ("case", "Big red toe since 3am. had the same in the other foot last year", []),
    ],
)
def test_what_was_also_asked_and_is_not_answered_is_named(kind: str, question: str, left: list[str]) -> None:
    view = AnswerView(kind=kind, question=question, language="en", path="research")
    assert unanswered(view, SAID) == left


def test_a_question_of_which_the_answer_holds_most_words_is_answered_whatever_is_rarest() -> None:
    view = AnswerView(kind="case", question=WAITS, language="en", path="research")
    assert unanswered(view, "Do not wait for Monday: an appointment is needed at once.") == []
    assert unanswered(view, "A tooth is drilled.") == ["Can I wait for my dentist's appointment on Monday?"]
