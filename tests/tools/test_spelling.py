"""Misspelt words are read; words that are known, names, abbreviations and other languages stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.spelling import corrected, mended, mends
from tools.text.clauses import clauses


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("paplitations and diahrrea", "palpitations and diarrhea"),
        ("chest payn", "chest pain"),
        ("Feaver and vomitting", "Fever and vomiting"),
        ("amoxicilin, ibuprofin", "amoxicillin, ibuprofen"),
        ("the rabbies shot", "the rabies shot"),
    ],
)
def test_a_word_that_is_a_slip_away_is_meant(written: str, meant: str) -> None:
    assert mended(written) == meant


@pytest.mark.parametrize(
    "text",
    [
        "The lawyer mows lawns near the hotel", "my tummy is wobbly and I feel knackered", "SOB, PND, JVP up, c/o CP",
        "they musnt have aspirin",
        "seen by Dr Payn in Basingstoke", "anti-dsDNA and HbA1c", "胸痛三天", "her face droops", "zzqxv blorptious", "",
    ],
)  # fmt: skip
def test_what_is_no_slip_stays(text: str) -> None:
    assert mended(text) == text


@given(st.text(max_size=60))
def test_any_text_keeps_what_stands_between_its_words(text: str) -> None:
    assert len(mended(text).split()) == len(text.split())


def test_what_is_mended_is_told_word_by_word() -> None:
    assert mends("Stopped clopidogril. Is that dangerus?") == {"clopidogril": "clopidogrel", "dangerus": "dangerous"}
    assert mends("Stopped clopidogrel.") == {}


def test_a_clause_is_read_mended_and_stays_as_written() -> None:
    (clause,) = clauses("paplitations at night")
    assert clause.text == "paplitations at night"
    assert clause.plain == "palpitations at night"


def test_a_question_is_put_right_word_by_word_and_words_in_use_stay() -> None:
    text, meant = corrected("Realy, my docter says that omeprazol helps")
    assert text == "Really, my doctor says that omeprazole helps"
    assert meant == {"Realy": "Really", "docter": "doctor", "omeprazol": "omeprazole"}
    assert corrected("omeprazol helps", lambda word: word == "omeprazol") == ("omeprazol helps", {})
    for right in ("Does semaglutide cause gastroparesis?", "Dr Smyth of Realy House", "胸痛三天", ""):
        assert corrected(right) == (right, {})
