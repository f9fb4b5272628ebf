"""What sounds like a state of the patient and is none, and ages in words."""

from __future__ import annotations

import re

import pytest

from tools.medicines.checks import check
from tools.text.demographics import read_person, without_mentions

PREGNANT, CHILD = re.compile(r"pregnan|conceiv|怀孕"), re.compile(r"child|daughter|son\b|baby|孩子")


@pytest.mark.parametrize(
    "text",
    [
        "I did a pregnancy test and it was negative.",
        "I thought I was pregnant but the test is negative.",
        "I was worried I might be pregnant, but my test came back negative.",
        "To prevent pregnancy I want the pill.",
        "I don't want to get pregnant.",
        "为了避免怀孕想吃避孕药。",
        "我以为怀孕了，验孕阴性。",
    ],
)
def test_a_pregnancy_ruled_out_or_not_wanted_is_none(text: str) -> None:
    assert PREGNANT.search(without_mentions(text)) is None


@pytest.mark.parametrize(
    "text",
    [
        "I'm 20 weeks pregnant, my covid test is negative.",
        "The covid test is negative. My test was negative, I may be pregnant.",
        "My test for flu was negative, I may be pregnant.",
        "My pregnancy test is positive.",
        "I am not sure whether I am pregnant.",
        "I want to get pregnant.",
        "I am not feeling well and pregnant.",
        "我怀孕了。",
    ],
)
def test_a_pregnancy_stays(text: str) -> None:
    assert PREGNANT.search(without_mentions(text)) is not None


@pytest.mark.parametrize(
    "text",
    [
        "An old lady has been confused since yesterday, her daughter reports.",
        "Grandma fell; my son found her.",
        "My mother has been breathless for a week, says her daughter.",
        "I am worried about my mother, she is breathless. I'm her daughter.",
        "I have two children and want no more.",
        "She does not want a child now.",
        "我现在不想要孩子。",
    ],
)
def test_who_tells_the_story_or_is_not_wanted_is_no_patient(text: str) -> None:
    assert CHILD.search(without_mentions(text)) is None


@pytest.mark.parametrize(
    "text",
    [
        "My daughter says her throat hurts.",
        "My mother noticed that my son limps.",
        "My wife and my son have a rash.",
        "I have a sick child.",
        "I have a baby with fever.",
        "我孩子发烧。",
    ],
)
def test_a_child_that_is_ill_stays(text: str) -> None:
    assert CHILD.search(without_mentions(text)) is not None


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("A seventy-nine year old woman, her daughter says she is confused.", 79),
        ("My mother, aged eighty two, fell.", 82),
        ("A nine-year-old boy.", 9),
        ("A fifteen year old girl.", 15),
    ],
)
def test_ages_in_words_are_read_whole(text: str, age: float) -> None:
    assert read_person(text).age == age


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("47, warehouse worker, low back pain for a week.", 47),
        ("Retired miner, 68, breathless.", 68),
        ("55 here, smoker, coughing.", 55),
        ("I'm 40 with sciatica.", 40),
        ("She's 67 - diabetic - foot ulcer.", 67),
        ("My dad's 71 and has chest pain.", 71),
        ("My husband is 58 on blood thinners and has a nosebleed.", 58),
        ("Our lad is nearly 14, knee pain.", 14),
        ("my 6mo has a cough", 0.5),
        ("I'm 6 weeks pregnant.", None),
        ("I was 18 when I had glandular fever.", None),
        ("I'm 5'4 and weigh 70 kg.", None),
        ("I'm 90% better.", None),
        ("My haemoglobin is 84.", None),
        ("Pulse rate, 88, coughing.", None),
        ("I am 20 to 30 pounds overweight.", None),
    ],
)
def test_ages_told_in_passing_are_read_and_other_numbers_are_none(text: str, age: float | None) -> None:
    assert read_person(text).age == age


def test_a_negative_test_bars_no_contraceptive() -> None:
    ruled_out = check("I did a pregnancy test and it was negative. Can I take isotretinoin?")
    told = check("I did a pregnancy test and it was positive. Can I take isotretinoin?")
    assert not any(c.beside == "pregnancy" for c in ruled_out.checks)
    assert any(c.beside == "pregnancy" for c in told.checks)
