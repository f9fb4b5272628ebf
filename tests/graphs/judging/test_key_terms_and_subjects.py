"""Names that evidence must mention, with medicines by class, and whether a text is about what is asked."""

from __future__ import annotations

from graphs.answering.local import _allowed
from graphs.judging.key_terms import KeyTerms, about, is_of_another
from graphs.verdicts.contract import Sentence
from support.answerers import document, view
from tools.encoders import Encoder


def test_a_medicine_is_mentioned_by_its_class(encoder: Encoder) -> None:
    terms = KeyTerms(encoder)
    assert terms.uncovered("Does Tamiflu shorten flu?", ["Oseltamivir shortens flu."]) == []
    assert terms.uncovered("Should he begin rosuvastatin?", ["Statins lower the risk of a heart attack."]) == []
    assert terms.uncovered("Should he begin rosuvastatin?", ["Rest lowers fever."]) == ["rosuvastatin"]


def test_a_medicine_may_be_missing_beside_others_but_an_unknown_name_may_not(encoder: Encoder) -> None:
    terms = KeyTerms(encoder)
    body = ["Proton pump inhibitors heal better than H2 blockers."]
    assert terms.uncovered("Is omeprazole better than ranitidine or Gaviscon?", body) == []
    assert terms.uncovered("Is omeprazole better than fenquiltamide?", body) == ["fenquiltamide"]


def test_a_name_inside_another_word_does_not_cut_it(encoder: Encoder) -> None:
    terms = KeyTerms(encoder, lambda _text: {"flu": ("influenza",)})
    assert terms.uncovered("Does Xeniflu help with flu?", ["Influenza is viral."]) == ["Xeniflu"]


def test_everyday_words_of_the_library_and_short_genus_names_are_no_new_names(encoder: Encoder) -> None:
    terms = KeyTerms(encoder, known={"manoeuvre", "pneumonitis"})
    assert terms.uncovered("Which manoeuvre helps?", ["The Epley technique helps."]) == []
    assert terms.uncovered("Do I stop tablets before a Helicobacter test?", ["Test for H. pylori by breath."]) == []
    assert terms.uncovered("What is the prognosis of croup?", ["Croup settles in days."]) == []
    assert terms.uncovered("What treats pneumonitis?", ["Pneumonia is treated with antibiotics."]) == ["pneumonitis"]


def test_about_what_a_title_names_too() -> None:
    texts = [
        ("Anaphylaxis", "Give adrenaline at once."),
        ("Myasthenia gravis", "Prednisolone is added slowly."),
        ("Asthma", "Prednisolone after anaphylaxis is of little use."),
    ]
    assert about(texts, "Which drug is given first in anaphylaxis?", []) == [True, False, True]
    assert (
        about(texts, "Which drug is given first in a severe allergy?", [("severe allergy", "anaphylaxis")])[1] is False
    )
    assert about(texts, "Which drug is given first?", []) == [True, True, True]


def test_a_whole_title_counts_before_a_word_of_one() -> None:
    texts = [("Kidney stone", "Drink more water."), ("Gout", "Colchicine is an option.")]
    assert about(texts, "What treats gout in somebody with kidney disease?", []) == [False, True]
    assert about(texts, "What harms a kidney?", []) == [True, False]


def test_of_a_page_on_many_diseases_what_names_another_one_answers_nothing() -> None:
    subjects = [("DVT", "deep vein thrombosis")]
    other, own = "After a heart attack people may fly in a week.", "After deep vein thrombosis flying waits."
    assert [is_of_another(f"Flying after illness. {t}", subjects) for t in (other, own)] == [True, False]
    assert not is_of_another(other, [])
    pieces = [document(f"flying-{n}", text, title="Flying after illness") for n, text in enumerate((other, own))]
    scored = [Sentence(e, 0, len(e.text), 1.0) for e in pieces]
    asked = view("How soon can I fly after a DVT?", *pieces)
    assert [s.text for s in _allowed(asked, scored, subjects)] == [own]
    assert [s.text for s in _allowed(asked, scored[:1], subjects)] == [other]  # where nothing else is left
