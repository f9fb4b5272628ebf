"""Yes or no from what a study reports; the sentences are written for these tests."""

from __future__ import annotations

import pytest
from graphs.answering.reported import read_report, reported, signal
from graphs.judging.polarity import Reply
from hypothesis import given
from hypothesis import strategies as st

ABSTRACT = """Background: Falls are common and exercise is associated with fewer of them in young adults.
Methods: We compared quarrel training with usual care. To assess balance, falls were measured.
Results: The number of falls did not differ between the groups (p = 0.41). Nobody was hurt."""


@pytest.mark.parametrize(
    "sentence",
    [
        "There was no significant difference in pain between the groups.",
        "Survival did not differ (p = 0.62).",
        "The odds ratio for death was 1.2 (95% CI 0.8 to 1.9).",
        "None of this was related to age, and scores were unchanged.",
        "Scores were nearly identical, despite significantly lower doses (P<0.05).",
        "Smoking was not a significant predictor of relapse.",
    ],
)
def test_reports_that_nothing_was_found(sentence: str) -> None:
    assert signal(sentence) < 0


@pytest.mark.parametrize(
    "sentence",
    [
        "Pain was significantly lower after treatment (p < 0.001).",
        "Smoking was independently associated with relapse.",
        "The hazard ratio was 2.1 (95% CI, 1.4-3.2).",
        "Stays were shorter in the trained group.",
        "Falls were rarer (p = .03), although age had no effect.",
    ],
)
def test_reports_that_something_was_found(sentence: str) -> None:
    assert signal(sentence) > 0


@pytest.mark.parametrize("sentence", ["The median age was 54 years.", "It remains unclear whether pain was reduced."])
def test_what_reports_neither(sentence: str) -> None:
    assert signal(sentence) == 0


def test_aims_methods_and_labels_report_nothing() -> None:
    told = [s.of(ABSTRACT) for s in reported(ABSTRACT)]
    assert told == ["The number of falls did not differ between the groups (p = 0.41).", "Nobody was hurt."]
    plain = "We compared two doses. Pain was lower with the higher dose."
    assert [s.of(plain) for s in reported(plain)] == ["Pain was lower with the higher dose."]


def test_no_difference_denies_an_effect_and_affirms_an_equal() -> None:
    told = [("Complications did not differ between the groups (p = 0.7).", 0.8)]
    for question, reply in (("Does it cause complications?", Reply.NO), ("Is it as safe as surgery?", Reply.YES)):
        reading = read_report(question, told)
        assert reading is not None
        assert reading.reply is reply


def test_the_sentence_nearest_to_the_question_weighs_most_and_is_given() -> None:
    told = [("Weight was significantly lower (p<0.01).", 0.1), ("Falls did not differ (p = 0.9).", 0.9)]
    reading = read_report("Does exercise prevent falls?", told)
    assert reading is not None
    assert (reading.reply, reading.at) == (Reply.NO, 1)


def test_even_reports_decide_nothing() -> None:
    told = [("Weight was significantly lower (p<0.01).", 0.5), ("Falls did not differ (p = 0.9).", 0.5)]
    assert read_report("Does exercise help?", told) is None
    assert read_report("Does exercise help?", []) is None


TEXT = st.text(alphabet="no p<=>0.5:;CI\n", max_size=60)


@given(TEXT, st.lists(st.tuples(TEXT, st.floats(0, 1)), max_size=4))
def test_any_text_can_be_read(text: str, told: list[tuple[str, float]]) -> None:
    for span in reported(text):
        assert 0 <= span.start < span.end <= len(text)
    reading = read_report(text, told)
    assert reading is None or (0 <= reading.at < len(told) and -1 <= reading.balance <= 1)
