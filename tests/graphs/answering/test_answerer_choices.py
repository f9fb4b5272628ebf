"""An answerer's choices among options."""

from __future__ import annotations

import pytest

from graphs.answering.contract import Answerer
from support.answerers import (
    CROUP,
    answer,
    codes,
    differential,
    document,
    graph_entry,
    local,
    view,
)
from tools.encoders import Encoder

OPTIONS = {"A": "Dexamethasone", "B": "Amoxicillin", "C": "Warfarin"}


def test_multiple_choice_takes_the_supported_option(answerer: Answerer) -> None:
    asked = view(
        "Which drug relieves the symptoms of croup?",
        document("croup", CROUP, title="Croup"),
        kind="multiple_choice",
        options=OPTIONS,
    )
    draft = answer(answerer, asked)
    assert draft.choice is not None
    assert (draft.choice.label, draft.choice.text) == ("A", "Dexamethasone")


def test_multiple_choice_without_support_chooses_nothing(answerer: Answerer) -> None:
    asked = view(
        "Which drug relieves the symptoms of croup?",
        document("croup", "Croup is caused by a virus and its symptoms are worse at night.", title="Croup"),
        kind="multiple_choice",
        options=OPTIONS,
    )
    draft = answer(answerer, asked)
    assert draft.choice is None
    assert "no_choice_supported" in codes(draft)


def test_options_that_are_diseases_follow_the_differential(encoder: Encoder) -> None:
    asked = view(
        "A tall smoker has sudden chest pain and breathlessness. What is the diagnosis?",
        graph_entry(),
        kind="multiple_choice",
        options={"A": "Gout", "B": "Pneumothorax, spontaneous"},
        differential=differential(),
    )
    draft = answer(local(encoder), asked)
    assert draft.choice is not None
    assert draft.choice.label == "B"
    assert any(s.text.startswith("Spontaneous pneumothorax (J93.1).") for s in draft.statements)


def test_an_option_of_a_class_that_the_patient_is_allergic_to_is_not_chosen(encoder: Encoder) -> None:
    text = (
        "Streptococcal tonsillitis is treated with amoxicillin, or with azithromycin where penicillin is not possible."
    )
    asked = view(
        "A girl with a penicillin allergy has streptococcal tonsillitis. Which is the best treatment?",
        document("tonsillitis", text, title="Tonsillitis"),
        kind="multiple_choice",
        options={"A": "Amoxicillin", "B": "Azithromycin"},
    )
    draft = answer(local(encoder), asked)
    assert draft.choice is None or draft.choice.label == "B"


@pytest.mark.parametrize("told", ["question", "case"])
def test_where_all_options_are_barred_none_is_chosen(encoder: Encoder, told: str) -> None:
    text = "Streptococcal tonsillitis is treated with amoxicillin, or with ampicillin."
    allergy, question = "She is allergic to penicillin.", "Which is the best treatment of streptococcal tonsillitis?"
    asked = view(
        f"{allergy} {question}" if told == "question" else question,
        document("tonsillitis", text, title="Tonsillitis"),
        kind="multiple_choice",
        options={"A": "Amoxicillin", "B": "Ampicillin"},
        case=allergy if told == "case" else "",
    )
    assert answer(local(encoder), asked).choice is None
