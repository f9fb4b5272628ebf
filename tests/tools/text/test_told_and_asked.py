"""What an allergy did, what a question asks for, ages, counts of medicines, lists of denials."""

from __future__ import annotations

import pytest

from tools.text.allergies import reactions_told
from tools.text.clauses import clauses, tells_of_none
from tools.text.demographics import only_age
from tools.text.measures import readings, with_directions
from tools.text.questions import is_closed, without_asked


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("She is allergic to cefalexin (wheeze and hives), fever since Monday.", "(wheeze and hives)"),
        ("Allergies: aspirin (angioedema).", "(angioedema)"),
        ("Sulfa allergy: blistering rash.", "blistering rash"),
        ("Allergic to trimethoprim, which gave her a rash.", "which gave her a rash"),
        ("Anaphylaxis to ibuprofen in 2009.", "Anaphylaxis to ibuprofen in 2009"),
        ("头孢过敏（皮疹），咳嗽。", "（皮疹）"),
        ("Hives and a tight throat an hour after his first dose of cefalexin.", ""),
        ("She is allergic to nuts (now swollen lips).", ""),
        ("He is allergic to latex and has a knee (red, swollen).", ""),
        ("Is this anaphylaxis to a wasp sting?", ""),
    ],
)
def test_what_an_allergy_once_did_is_told_apart(text: str, told: str) -> None:
    assert "".join(text[a:b] for a, b in reactions_told(text)) == told


def test_a_told_reaction_is_past() -> None:
    found = {c.text: c for c in clauses("He is allergic to cefalexin (anaphylaxis) and has a fever.")}
    assert found["anaphylaxis"].past
    assert found["anaphylaxis"].allergy
    assert not found["has a fever"].past


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("Which blood thinner?", ""),
        ("What antibiotic should she get for her cough?", "for her cough"),
        ("Given his eGFR of 31, which painkiller?", "Given his eGFR of 31"),
        ("Should we start steroids?", ""),
        ("用什么抗生素？", ""),
        ("What is causing my chest pain?", "What is causing my chest pain"),
        ("Could my steroids cause this?", "Could my steroids cause this"),
        ("Could I have chest pain from reflux?", "Could I have chest pain from reflux"),
        ("Should he have a CT scan?", ""),
    ],
)
def test_what_is_asked_for_is_not_told(question: str, left: str) -> None:
    assert left in without_asked(question)
    assert bool(left) == bool(clauses(without_asked(question)))


def test_a_statement_asks_for_nothing() -> None:
    assert without_asked("She can take an antibiotic.") == "She can take an antibiotic."


@pytest.mark.parametrize(
    "text",
    ["My baby is 8 months old", "She's 3 weeks old", "The boy is 18 months old", "我家宝宝8个月大"],
)
def test_an_age_alone_tells_nothing_else(text: str) -> None:
    assert only_age(text)
    assert not only_age(f"{text} and vomits")


@pytest.mark.parametrize(
    ("text", "silent"),
    [
        ("takes ten long-term medicines", True), ("She is on several regular tablets", True), ("每天吃5种药", True),
        ("takes two water tablets", False), ("took lots of tablets", False), ("started two new medicines", False),
    ],
)  # fmt: skip
def test_how_many_medicines_tells_of_none(text: str, silent: bool) -> None:
    assert tells_of_none(text) is silent


@pytest.mark.parametrize(
    ("text", "denied", "unread"),
    [
        ("red eye without discharge, swollen lids", "without discharge", "swollen lids"),
        ("cough without fever, chills, vomiting", "vomiting", ""),
        ("cough without fever, swollen glands or a rash", "a rash", ""),
    ],
)
def test_a_described_finding_behind_without_is_left_open(text: str, denied: str, unread: str) -> None:
    found = {c.text: c.present for c in clauses(text)}
    assert found[denied] is False
    assert unread not in found or not unread


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Her potassium came back at 6.9", "raised potassium in the blood"),
        ("K+ 2.6", "low potassium in the blood"),
        ("sodium has dropped to 117", "low sodium in the blood"),
        ("my sugars are 2.9", "low blood sugar"),
        ("platelets are 22", "low platelet count"),
        ("Hb is just 61", "low haemoglobin"),
        ("calcium of 3.3", "raised calcium in the blood"),
        ("lactate = 5", "raised lactate in the blood"),
        ("eGFR was 24", "raised creatinine or reduced kidney function"),
        ("血钾为2.5", "low potassium in the blood"),
        ("血钠 160", "high sodium in the blood"),
    ],
)
def test_values_in_plain_words_have_a_direction(text: str, words: str) -> None:
    assert [(r.words, r.present) for r in readings(text)] == [(words, True)]


@pytest.mark.parametrize(
    "text",
    ["potassium 40 mg", "vitamin K 5 mg", "sugar 2 teaspoons", "I ran 5k 7 days ago", "ionised calcium 1.1",
     "my mother's potassium was 7", "urine sodium 110", "albumin creatinine ratio 40"],
)  # fmt: skip
def test_other_numbers_tell_nothing(text: str) -> None:
    assert not any(r.words for r in readings(text))


def test_a_question_is_searched_by_what_its_number_means() -> None:
    assert (
        with_directions("Potassium is 6.8. What first?")
        == "Potassium is 6.8 (high potassium, hyperkalaemia). What first?"
    )
    assert with_directions("血钾2.4怎么办？") == "血钾2.4 (低钾血症)怎么办？"
    assert with_directions("Potassium is 4.2. What next?") == "Potassium is 4.2. What next?"


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("Is mumps catching, and for how long?", False),
        ("is mumps catching, how long", False),
        ("Is mumps catching?", True),
        ("Is it known for how long mumps is catching?", True),
    ],
)
def test_a_closed_question_that_goes_on_openly_is_answered_openly(text: str, closed: bool) -> None:
    assert is_closed(text) is closed
