"""Abbreviations, body sites, vital signs, age and sex."""

from __future__ import annotations

import pytest

from tools.text.abbreviations import ANY_CASE, CAPITALS, expand
from tools.text.body_sites import compatible, is_only_a_part, side
from tools.text.clauses import tells_of_medicine, tells_of_none
from tools.text.demographics import Person, read_person
from tools.text.measures import readings


@pytest.mark.parametrize(
    ("text", "written_out"),
    [
        ("c/o SOB and CP", "complains of shortness of breath and chest pain"),
        ("she began to sob", "she began to sob"),
        ("PMH T2DM, HTN", "past medical history type 2 diabetes, high blood pressure"),
        ("L sided weakness", "left sided weakness"),
        ("R knee pain", "right knee pain"),
        ("vitamin R", "vitamin R"),
        ("3/7 Hx of cough", "3 days history of cough"),
        ("4/12 of tiredness", "4 months of tiredness"),
        ("I can't swallow", "I cannot swallow"),
        ("afebrile", "no fever"),
        ("I've no temperature", "I've no fever"),
        ("D&V for 2/7", "diarrhoea and vomiting for 2 days"),
        ("I feel faint", "I feel light-headed"),
        ("normally fit", "normally healthy"),
        ("he had a fit", "he had a fit"),
        ("a faint rash", "a slight rash"),
        ("non-tender nodes", "nodes"),
    ],
)
def test_abbreviations_are_written_out_in_context(text: str, written_out: str) -> None:
    assert expand(text) == written_out


def test_the_table_is_large_and_every_entry_says_something() -> None:
    assert len(ANY_CASE) + len(CAPITALS) >= 150
    assert all(key.lower() == key for key in ANY_CASE)
    assert all(value.strip() for value in (*ANY_CASE.values(), *CAPITALS.values()))


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("A 67-year-old woman with cough", Person(67.0, "female")),
        ("45M, smoker", Person(45.0, "male")),
        ("31F, 4/12 Hx of double vision", Person(31.0, "female")),
        ("I'm 42, female, two kids.", Person(42.0, "female")),
        ("a 46 year old lorry driver, male", Person(46.0, "male")),
        ("My little boy is 2 years old. His sister is 5 years old.", Person(2.0, "male")),
        ("I'm writing for my mum, 78.", Person(78.0, "female")),
        ("pt is 34 y/o M", Person(34.0, "male")),
        ("sore ulcer in my lip for 4 days. F 21, otherwise well", Person(21.0, "female")),
        ("患者男性，45岁", Person(45.0, "male")),
        ("女，32岁，咳嗽", Person(32.0, "female")),
        ("I have a cough", Person(None, None)),
        ("The pain lasted 20 minutes", Person(None, None)),
    ],
)
def test_age_and_sex(text: str, person: Person) -> None:
    assert read_person(text) == person


def test_months_and_weeks_are_parts_of_a_year() -> None:
    assert read_person("6 month old boy").age == pytest.approx(0.5)
    assert read_person("Small baby, 26 weeks, vomits after each feed").age == pytest.approx(0.5)
    assert read_person("my 26 week baby has a cough").age == pytest.approx(0.5)
    assert read_person("Baby girl, 6 months, fever") == Person(0.5, "female")
    assert read_person("baby 3 days of fever").age is None
    assert read_person("a 6-week-old girl").age == pytest.approx(6 / 52)
    assert read_person("出生3个月大的女婴").age == pytest.approx(0.25)


def test_neighbouring_sites_agree_and_distant_ones_do_not() -> None:
    knee, chest = frozenset({"leg", "joint"}), frozenset({"chest"})
    assert not compatible(knee, chest)
    assert compatible(frozenset({"foot"}), knee)
    assert compatible(frozenset(), chest)
    assert compatible(knee, frozenset({"skin"}))


def test_left_and_right_together_are_both() -> None:
    assert side("left and right knee") == "both"
    assert side("左侧") == "left"
    assert side("the chest") is None


def test_readings_of_children_and_of_other_units() -> None:
    assert [r.words for r in readings("HR 140, RR 40", Person(1.0)) if r.words] == []
    assert [(r.words, r.present) for r in readings("temp 103 F")] == [("high fever", True)]
    assert [(r.words, r.present) for r in readings("体温38.2℃，血压 86/50mmHg")] == [
        ("fever", True),
        ("low blood pressure", True),
    ]
    assert readings("room 3812, 120 people") == []


def test_a_part_alone_says_nothing() -> None:
    assert is_only_a_part("my left arm")
    assert is_only_a_part("jaw")
    assert not is_only_a_part("my left arm hurts")
    assert not is_only_a_part("headache")


def test_taking_a_medicine_is_told_apart_from_what_it_does() -> None:
    assert tells_of_medicine("takes tablets for high blood pressure")
    assert tells_of_medicine("I started a new bladder tablet")
    assert tells_of_medicine("长期服降压药")
    assert not tells_of_medicine("the tablets I took helped with the pain")
    assert not tells_of_medicine("a rash after taking antibiotics")
    assert not tells_of_medicine("high blood pressure")


@pytest.mark.parametrize(
    ("clause", "none"),
    [
        ("takes no medicines", True),
        ("No regular medication", True),
        ("he is not on any tablets at present", True),
        ("无用药史", True),
        ("no tablets for ten days", False),  # a lapse
        ("no medicines help", False),
        ("ran out of tablets", False),
    ],
)
def test_who_takes_no_medicines_has_missed_none(clause: str, none: bool) -> None:
    assert tells_of_none(clause) is none
