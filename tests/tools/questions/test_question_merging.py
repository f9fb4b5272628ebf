"""Near-duplicates: what becomes one question, and what stays two."""

from __future__ import annotations

import numpy as np
import pytest

from support.small_pages import question
from tools.questions.building import merge, merged
from tools.questions.contract import SourceDocument
from tools.questions.local import WriterLocal


def test_near_duplicates_are_one_question_with_all_their_documents() -> None:
    asked = [
        ("How is gout treated?", "a", 0.5),
        ("How is gout treated?", "d", 0.6),
        ("how is GOUT treated?", "b", 0.9),
        ("How is gout type 2 treated?", "c", 1),
    ]
    questions = [question(text, document, support) for text, document, support in asked]
    vectors = np.array([[1, 0], [1, 0], [0, 1], [0.999, 0.04]], dtype=np.float32)  # case alone parts no questions
    rows = merged(questions, merge(questions, vectors, 0.95, lambda _: 1.0))
    assert [(q.text, q.documents) for _, q in rows] == [
        ("How is gout treated?", ("own:a", "own:b", "own:d")),  # that it was written for, then the better supported
        ("How is gout type 2 treated?", ("own:c",)),  # a number tells two questions apart, however near they are
    ]


@pytest.mark.parametrize(
    ("left", "right", "one"),
    [
        ("Does depression raise the risk of diabetes?", "Does diabetes raise the risk of depression?", False),
        ("Can asthma cause anxiety?", "Can anxiety cause asthma?", False),
        ("Is adrenaline given intramuscularly?", "Is adrenaline given intravenously?", False),
        ("How is gout diagnosed?", "What is the diagnosis of gout?", False),
        ("What brings on asthma?", "Why bring on asthma?", False),
        ("Is it known what gout does?", "Is it known why gout does?", False),
        ("Who treats gout?", "who treats Gout?", True),
        ("Can asthma cause anxiety?", "Can asthma causes anxiety?", True),
        ("How are arthritic joints treated?", "How are arthritis joints treated?", True),
    ],
)
def test_what_asks_the_other_way_round_is_another_question(left: str, right: str, one: bool) -> None:
    questions = [question(left, "a", 1), question(right, "b", 1)]
    assert merge(questions, np.ones((2, 1), dtype=np.float32), 0.95, lambda _: 1.0) == [0, 0 if one else 1]


def test_the_local_writer_asks_both_ways_round() -> None:
    text = "Does asthma cause anxiety?\nAsthma does at times.\n\nDoes anxiety cause asthma?\nAnxiety makes it worse."
    asked = {q.text for q in WriterLocal().write_now(SourceDocument(id="own:a", title="Asthma", text=text), 40)}
    assert {"Does asthma cause anxiety?", "Does anxiety cause asthma?"} <= asked
