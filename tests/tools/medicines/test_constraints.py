"""What a case bars: a stated allergy with its class, and a medicine that is taken already."""

from __future__ import annotations

import pytest

from tools.medicines.constraints import barred_options, broken_by, constraints_in, recommends

ANTIBIOTICS = {"A": "Amoxicillin", "B": "Azithromycin", "C": "Augmentin", "D": "Paracetamol"}
CHINESE = {"A": "阿莫西林", "B": "阿奇霉素", "C": "青霉素"}


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("A woman with a penicillin allergy has tonsillitis.", [("allergy", "penicillin")]),
        ("She is allergic to penicillin.", [("allergy", "penicillin")]),
        ("He had anaphylaxis to amoxicillin as a child.", [("allergy", "amoxicillin")]),
        ("No known drug allergies except penicillin.", [("allergy", "penicillin")]),
        ("He takes warfarin for atrial fibrillation.", [("current", "warfarin")]),
        ("72M on warfarin, breathless.", [("current", "warfarin")]),
        ("He is allergic to peanuts and takes metformin.", [("current", "metformin")]),
        ("患者对青霉素过敏。长期服用华法林。", [("allergy", "青霉素"), ("current", "华法林")]),
        ("No known drug allergies.", []),
        ("She is not allergic to penicillin.", []),
        ("否认青霉素过敏史。", []),
        ("He stopped taking ibuprofen last year.", []),
        ("Is she allergic to penicillin?", []),
        ("", []),
    ],
)
def test_constraints_are_read(case: str, expected: list[tuple[str, str]]) -> None:
    assert [(c.why, c.named) for c in constraints_in(case)] == expected


@pytest.mark.parametrize(
    ("case", "options", "barred"),
    [
        ("She is allergic to penicillin. Which is the best treatment?", ANTIBIOTICS, {"A", "C"}),
        ("She is allergic to penicillin. Which drug should be avoided?", ANTIBIOTICS, set()),
        ("Her brother is well. Which is the best treatment?", ANTIBIOTICS, set()),
        ("女，25岁，青霉素过敏，患扁桃体炎。首选药物是？", CHINESE, {"A", "C"}),
        ("A man on warfarin. Which drug should be added?", {"A": "Warfarin", "B": "Bisoprolol"}, {"A"}),
        ("A man on warfarin bleeds. What is the next step?", {"A": "Stop warfarin", "B": "Tranexamic acid"}, set()),
        ("A man on warfarin. Which drug caused this?", {"A": "Warfarin", "B": "Bisoprolol"}, set()),
        ("A man on warfarin. Should it be continued?", {"A": "Warfarin", "B": "Bisoprolol"}, set()),
        ("She is allergic to penicillin. Which is the best treatment?", {"A": "Amoxicillin", "B": "Ampicillin"}, set()),
    ],
)
def test_options_that_break_a_constraint(case: str, options: dict[str, str], barred: set[str]) -> None:
    assert set(barred_options(case, options)) == barred


def test_an_allergy_to_one_antibiotic_says_nothing_of_all_others() -> None:
    constraints = constraints_in("She is allergic to nitrofurantoin.")
    assert broken_by("Give nitrofurantoin.", constraints) is not None
    assert broken_by("Give trimethoprim.", constraints) is None


def test_a_warning_is_no_recommendation() -> None:
    assert recommends("Amoxicillin is the first choice.")
    assert not recommends("Avoid amoxicillin in penicillin allergy.")
