"""Search terms: telling, short, and nothing that identifies a patient."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.search_words import starter_vocabulary
from tools.literature.terms import MAX_TERMS, MAX_WORDS, clean_terms, extract_terms, word_weight
from tools.literature.vocabulary import several_words

VOCABULARY = starter_vocabulary()


def words(text: str, *, case: bool = False) -> list[str]:
    return [t.text for t in extract_terms(text, VOCABULARY, case=case)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Do antibiotics help otherwise healthy adults with acute bronchitis?", {"antibiotics", "acute bronchitis"}),
        ("When is a negative D-dimer enough to rule out pulmonary embolism?", {"d-dimer", "pulmonary embolism"}),
        ("Does adding colchicine to NSAIDs lower the risk of recurrence in acute pericarditis?",
         {"colchicine", "NSAIDs", "acute pericarditis"}),
        ("Metformin and lactic acidosis in CKD", {"metformin", "lactic acidosis", "CKD"}),
        ("Does Crohn's disease respond to infliximab?", {"crohn disease", "infliximab"}),
        ("Are SGLT2 inhibitors useful in type 2 diabetes?", {"sglt2 inhibitors", "type 2 diabetes"}),
        ("Is oseltamivir effective?", {"oseltamivir"}),
    ],
)  # fmt: skip
def test_a_question_gives_its_key_terms(question: str, expected: set[str]) -> None:
    assert expected <= set(words(question))


def test_each_word_of_a_name_of_several_is_asked_for() -> None:
    asked = "my uncle has restless legs, would ropinirole help him"
    named = replace(VOCABULARY, names=several_words(["Restless legs", "Loss of taste", "Anaemia"]))
    assert named.names == {"restless leg"}
    without, with_names = (extract_terms(asked, v, case=False) for v in (VOCABULARY, named))
    assert "restless legs" not in {t.text for t in without}
    assert {"restless legs", "ropinirole"} <= {t.text for t in with_names}


def test_abbreviations_are_written_out_beside() -> None:
    terms = extract_terms("Is a five-day course of prednisolone enough in COPD?", VOCABULARY, case=False)
    copd = next(t for t in terms if t.text == "COPD")
    assert copd.also == ("chronic obstructive pulmonary disease",)
    assert words("She has SOB.", case=True) == ["shortness of breath"]


def test_a_case_gives_findings_and_not_what_it_denies() -> None:
    text = "54M, smoker, crushing chest pain radiating to the jaw. No cough, no leg swelling. What is most likely?"
    found = " ".join(words(text, case=True))
    assert "chest pain" in found
    assert "cough" not in found
    assert "swelling" not in found


IDENTIFYING = [
    "Mr John Smith, 54M, DOB 12/03/1970, of 12 Baker Street, NHS 943 476 5919, has chest pain, john@x.com",
    "My name is Maria Gonzalez, I live in Springfield and have had chest pain since Monday 3 May 2024 at 10:30.",
    "what helped maria gonzalez from springfield with her chest pain",
    "Gonzalez presented with chest pain. Ward 7, bed 12, MRN AB12345, tel 555-0199.",
    "JOHN SMITH HAS CHEST PAIN",
    "Dr Wilson says that Priya, 29 years old, a beekeeper at Acme, has chest pain.",
]


@pytest.mark.parametrize("text", IDENTIFYING)
@pytest.mark.parametrize("case", [True, False])
def test_nothing_that_identifies_is_a_term(text: str, case: bool) -> None:
    for terms in (extract_terms(text, VOCABULARY, case=case), clean_terms([text], VOCABULARY, case=case)):
        sent = " ".join(f"{t.text} {' '.join(t.also)}" for t in terms).lower()
        assert "chest pain" in sent
        assert not re.search(
            r"\d|john|smith|maria|gonzalez|springfield|baker|street|monday|may|ward|bed|mrn|wilson|priya|beekeeper|acme|old",
            sent,
        )


def test_terms_of_a_planner_pass_the_same_sieve_and_keep_their_order() -> None:
    named = ["quality of life", "COPD exacerbation", "John Smith", "54-year-old woman with chest pain since yesterday"]
    assert [t.text for t in clean_terms(named, VOCABULARY, case=True)] == [
        "quality of life",
        "COPD exacerbation",
        "chest pain",
    ]
    hostile = 'croup"[tiab] OR all[sb]) NOT ('
    assert all(re.fullmatch(r"[\w '’-]+", t.text) for t in clean_terms([hostile], VOCABULARY, case=False))


def test_a_text_without_terms_gives_none() -> None:
    assert words("你好，我胸痛", case=True) == []
    assert words("Hello, how are you?") == []
    assert words("12 34 56/78", case=True) == []


@settings(deadline=None)  # the first call reads the word list
@given(st.text(max_size=300))
def test_terms_are_few_and_short_for_any_text(text: str) -> None:
    for case in (True, False):
        terms = extract_terms(text, VOCABULARY, case=case)
        assert len(terms) <= MAX_TERMS
        for term in terms:
            assert 1 <= len(term.text.split()) <= MAX_WORDS
            assert all(len(form.split()) <= MAX_WORDS for form in term.also)
            assert not re.search(r"[\"\[\]()]", term.text)


def test_a_list_of_key_words_longer_than_a_term_loses_none_of_them() -> None:
    found = extract_terms("repaglinide insulin resistance hypertension obesity diabetes", VOCABULARY, case=False)
    words = {word for term in found for word in term.text.split()}
    assert words == {"repaglinide", "insulin", "resistance", "hypertension", "obesity", "diabetes"}
    assert all(len(term.text.split()) <= 4 for term in found)


def test_a_rare_spelling_tells_no_more_than_the_common_one() -> None:
    for rare, common in (("hospitalised", "hospitalized"), ("catheterisation", "catheterization")):
        assert word_weight(rare, VOCABULARY) == word_weight(common, VOCABULARY)
