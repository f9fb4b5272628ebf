"""Names of medicines: brands, generic names and classes stand for one another; what is invented is unknown."""

from __future__ import annotations

import pytest

from tools.medicines.names import forms, medicines_in, other_names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Is Tamiflu useful?", ["Is Tamiflu useful?", "Is oseltamivir useful?", "Is antiviral useful?"]),
        ("my blood thinners", ["my blood thinners", "my anticoagulants"]),
        ("Which antibiotics?", ["Which antibiotics?"]),
        ("Does velmoxatrine help?", ["Does velmoxatrine help?"]),
    ],
)
def test_forms(text: str, expected: list[str]) -> None:
    assert forms(text) == expected


def test_a_brand_is_known_by_its_generic_name_and_its_class() -> None:
    assert {"amoxicillin-clavulanate", "co-amoxiclav", "antibiotic"} <= set(
        other_names("Augmentin, please")["Augmentin"]
    )


def test_a_class_is_known_by_its_members() -> None:
    assert "azithromycin" in other_names("Do macrolides help?")["macrolides"]


def test_everyday_words_are_no_names() -> None:
    (medicine,) = medicines_in("a cholesterol tablet")
    assert (medicine.family, medicine.everyday) == ("statin", True)
    assert other_names("a cholesterol tablet") == {}


def test_names_stand_for_themselves_inside_no_other_word() -> None:
    assert medicines_in("ironic statinlike") == []


def test_a_shared_class_stands_for_itself() -> None:
    (medicine,) = medicines_in("an antibiotic")
    assert medicine.family == "antibiotic"
    assert {"doxycycline", "amoxicillin", "trimethoprim"} <= set(medicine.names)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Is Luminal safe in pregnancy?", ["phenobarbital"]),
        ("Medicines: Foster two puffs twice a day", ["beclometasone-formoterol"]),
        ("Is chemotherapy safe in pregnancy with luminal breast cancer?", []),
        ("Luminal narrowing of the bowel: what helps?", []),
        ("Is chemotherapy needed in Luminal A tumours?", []),
        ("A foster child is short of breath. Foster parents smoke.", []),
        ("Does an occlusal splint ease jaw pain?", []),
    ],
)
def test_a_name_that_is_a_word_too_names_a_medicine_only_with_a_capital_within_a_sentence(
    text: str, named: list[str]
) -> None:
    assert [m.generic for m in medicines_in(text) if m.generic] == named
