"""What a case bars: a stated allergy with its class, and a medicine that is taken already."""

from __future__ import annotations

import pytest

from tools.medicines.constraints import (
    advises_only,
    barred_options,
    barred_question,
    broken_by,
    constraints_in,
    recommended,
    warns,
    without_allergens,
)

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
        ("She takes metformin and is allergic to penicillin.", [("allergy", "penicillin"), ("current", "metformin")]),
        ("Because of an allergy to penicillin she was given doxycycline.", [("allergy", "penicillin")]),
        ("No known drug allergies.", []),
        ("She is not allergic to penicillin.", []),
        ("否认青霉素过敏史。", []),
        ("He stopped taking ibuprofen last year.", []),
        ("Is she allergic to penicillin?", []),
        ("Could my son be allergic to penicillin?", []),
        ("Is penicillin allergy common?", []),
        ("I am allergic to penicillin, can I take amoxicillin?", [("allergy", "penicillin")]),
        ("Is amoxicillin safe for someone allergic to penicillin?", [("allergy", "penicillin")]),
        ("Can I have cefalexin with my penicillin allergy?", [("allergy", "penicillin")]),
        ("He is taking ibuprofen, can naproxen be added?", [("current", "ibuprofen")]),
        ("我对青霉素过敏，能吃阿莫西林吗？", [("allergy", "青霉素")]),
        ("我会不会对青霉素过敏？", []),
        ("我对青霉素过敏，能吃阿莫西林吗", [("allergy", "青霉素")]),  # asked without a mark
        ("青霉素过敏性休克能用阿莫西林吗", [("allergy", "青霉素")]),
        ("过敏性鼻炎能吃氯雷他定吗", []),  # a disease, not what an allergy is to
        ("过敏性休克首选肾上腺素吗", []),
        ("肾上腺素治疗过敏性休克有效吗", []),
        ("", []),
        # a row, a heading, a verb of giving, and what a question tells by the way
        ("She's on ramipril and bendroflumethiazide.", [("current", "ramipril"), ("current", "bendroflumethiazide")]),
        ("Meds: metformin 500 mg bd, ramipril.", [("current", "metformin"), ("current", "ramipril")]),
        ("DH - levothyroxine 75mcg, apixaban.", [("current", "levothyroxine"), ("current", "apixaban")]),
        ("My son is hot. I gave him ibuprofen.", [("given", "ibuprofen")]),
        ("Paracetamol given an hour ago.", [("given", "Paracetamol")]),
        ("Could it be my sertraline?", [("current", "sertraline")]),
        ("Is tramadol ok with the sertraline I take?", [("current", "sertraline")]),
        ("Can I take ibuprofen while I'm on warfarin?", [("current", "warfarin")]),
        ("Should I carry on with my methotrexate?", [("current", "methotrexate")]),
        ("Would naproxen help?", []),
        ("Should I give him paracetamol?", []),
        ("He may be given morphine.", []),
        ("I had penicillin as a child.", []),
        ("My iron was low and my calcium is 2.7.", []),
        ("My mum takes warfarin. I have a headache.", []),
        ("My mum takes warfarin. She has a headache.", [("current", "warfarin")]),
        ("He came off mirtazapine in spring.", []),
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
        (
            "She is allergic to penicillin. Which is the best treatment?",
            {"A": "Amoxicillin", "B": "Ampicillin"},
            {"A", "B"},
        ),
        ("A man on ibuprofen. Which drug should be added?", {"A": "Naproxen", "B": "Omeprazole"}, {"A"}),
        ("A man on furosemide. Which drug should be added?", {"A": "Spironolactone", "B": "Naproxen"}, set()),
    ],
)
def test_options_that_break_a_constraint(case: str, options: dict[str, str], barred: set[str]) -> None:
    assert set(barred_options(case, options)) == barred


def test_an_option_is_barred_by_what_was_told_before() -> None:
    question = "Which antibiotic is best for a sore throat?"
    assert set(barred_options(question, ANTIBIOTICS, "I am allergic to penicillin.")) == {"A", "C"}


@pytest.mark.parametrize(
    ("question", "case", "asked"),
    [
        ("I am allergic to penicillin. Is amoxicillin safe for me for a sore throat?", "", "amoxicillin"),
        ("I am allergic to penicillin, can I take amoxicillin?", "", "amoxicillin"),
        ("Is amoxicillin safe for me?", "I am allergic to penicillin.", "amoxicillin"),
        ("I'm allergic to amoxicillin. Are penicillins safe?", "", "penicillins"),
        ("He is taking ibuprofen, can naproxen be added?", "", "naproxen"),
        ("我对青霉素过敏，能吃阿莫西林吗？", "", "阿莫西林"),
        ("I am allergic to penicillin. Is cefalexin safe?", "", None),
        ("I am allergic to penicillin. Do antibiotics help a sore throat?", "", None),
        ("Allergies: penicillin.", "", None),
        ("Is penicillin allergy the same as amoxicillin allergy?", "", None),
        ("He takes ibuprofen. Can he take naproxen instead?", "", None),
        ("Is amoxicillin safe for me?", "", None),
    ],
)
def test_a_question_about_what_is_barred(question: str, case: str, asked: str | None) -> None:
    found = barred_question(question, case)
    assert (found[0].written if found is not None else None) == asked


def test_a_question_about_harm_is_told_from_one_about_use() -> None:
    assert warns("Should I avoid amoxicillin?")
    assert warns("Is amoxicillin dangerous for me?")
    assert not warns("Can I take amoxicillin?")


def test_a_wide_class_breaks_no_allergy() -> None:
    assert broken_by("Antibiotics shorten it by a day.", constraints_in("She is allergic to penicillin.")) is None


def test_an_allergy_to_one_antibiotic_says_nothing_of_all_others() -> None:
    constraints = constraints_in("She is allergic to nitrofurantoin.")
    assert broken_by("Give nitrofurantoin.", constraints) is not None
    assert broken_by("Give trimethoprim.", constraints) is None


def test_a_warning_is_no_recommendation() -> None:
    told = constraints_in("She is allergic to penicillin.")
    assert recommended("Amoxicillin is the first choice.", told) is not None
    assert recommended("Amoxicillin is given, or a macrolide in penicillin allergy.", told) is not None
    assert recommended("Amoxicillin is started low and increased.", told) is not None
    assert recommended("Amoxicillin is started due to the fever.", told) is not None
    assert recommended("Avoid amoxicillin in penicillin allergy.", told) is None
    assert recommended("A macrolide is given in penicillin allergy.", told) is None
    assert recommended("Stop amoxicillin when a rash appears.", told) is None


def test_advice_to_give_nothing_but_what_is_barred_is_told_from_a_choice() -> None:
    told = constraints_in("He is allergic to trimethoprim.")
    assert advises_only("Trimethoprim for seven days is usual.", told)
    assert not advises_only("Trimethoprim or nitrofurantoin is usual.", told)
    assert not advises_only("Drink enough.", told)


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ("How is cystitis treated in a man who is allergic to trimethoprim?", "How is cystitis treated in a man?"),
        ("What helps gout, because I am allergic to colchicine?", "What helps gout?"),
        ("Which antibiotics for tonsillitis with penicillin allergy?", ""),  # pages say what is given instead
        ("Is trimethoprim safe for a man who is allergic to trimethoprim?", ""),  # it is asked about
        ("How is cystitis treated?", ""),
    ],
)
def test_what_somebody_is_allergic_to_is_not_looked_for(asked: str, left: str) -> None:
    assert without_allergens(asked) == (left or asked)
