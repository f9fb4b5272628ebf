"""What the records say of a question: interactions, states, allergies; and of what they say nothing."""

from __future__ import annotations

import pytest

from tools.medicines.checks import check, taken_together, unsuitable
from tools.medicines.records import Advice


def _found(question: str, case: str = "") -> list[tuple[str, str, str]]:
    return [(c.page, c.beside, c.advice.value) for c in check(question, case).checks]


@pytest.mark.parametrize(
    ("question", "case", "page", "advice"),
    [
        ("He is on sildenafil, can I give GTN?", "", "sildenafil", "avoid"),
        ("Can I give GTN?", "A 67-year-old man with chest pain. He takes sildenafil.", "glyceryl-trinitrate", "avoid"),
        ("Can I take ibuprofen at 30 weeks pregnant?", "", "ibuprofen", "avoid"),
        ("Can she have clarithromycin after a rash with erythromycin?", "", "clarithromycin", "avoid"),
        ("Can I give her amoxicillin?", "She is 30 and allergic to penicillin.", "amoxicillin", "avoid"),
        ("Can I use propranolol for anxiety?", "I have asthma.", "propranolol", "avoid"),
        ("Is it ok to have grapefruit juice with simvastatin?", "", "simvastatin", "avoid"),
        ("Does clarithromycin interact with simvastatin?", "", "clarithromycin", "avoid"),
        ("能不能同时服用西地那非和硝酸甘油？", "", "sildenafil", "avoid"),
        ("他前天吃了伟哥，能给硝酸甘油吗？", "", "sildenafil", "avoid"),
        ("can i use lisinopril my brother has a spare box", "I am 20 weeks pregnant.", "lisinopril", "avoid"),
    ],
)
def test_what_must_not_be_taken_is_found(question: str, case: str, page: str, advice: str) -> None:
    found = _found(question, case)
    assert advice == found[0][2]
    assert page in {p for p, _, _ in found} | {"sildenafil" for p, _, _ in found if p == "glyceryl-trinitrate"}


@pytest.mark.parametrize(
    ("question", "case"),
    [
        ("Can I take paracetamol with amoxicillin?", ""),
        ("Does ibuprofen reduce fever in children?", ""),  # asks what it does, not whether it may be given
        ("Can I take azithromycin if I am not pregnant?", ""),
        ("Can she take amoxicillin?", "She is 30. Her sister is allergic to penicillin."),
        ("Can we switch her citalopram to sumatriptan?", "She takes citalopram."),  # one takes the place of the other
        ("Can I take velmoxatrine with warfarin?", ""),  # nobody knows it: silence, not "safe"
    ],
)
def test_of_what_no_record_speaks_nothing_is_said(question: str, case: str) -> None:
    assert _found(question, case) == []


@pytest.mark.parametrize(
    ("case", "pages"),
    [
        ("On MTX 20mg weekly. Started trimethoprim 8/7 ago for UTI.", ["methotrexate"]),
        ("On warfarin for AF, naproxen for knee OA.", ["warfarin"]),
        ("Takes sertraline and tramadol, shaking.", ["tramadol"]),
        ("Stopped warfarin last year, takes ibuprofen.", []),
        ("No warfarin. Takes ibuprofen.", []),
        ("Allergic to trimethoprim, on methotrexate.", []),
        ("Takes amlodipine and paracetamol.", []),
        ("", []),
    ],
)
def test_severe_interactions_of_what_a_case_takes(case: str, pages: list[str]) -> None:
    assert [c.page for c in taken_together(case)] == pages


def test_a_condition_without_its_degree_asks_for_caution() -> None:
    """Metformin is barred by *severe* kidney disease."""
    severe = {b: a for _, b, a in _found("Can she take metformin?", "She has severe kidney disease.")}
    some = {b: a for _, b, a in _found("Can she take metformin?", "She has kidney disease.")}
    assert "avoid" in severe.values()
    assert set(some.values()) == {"caution"}


def test_of_a_class_its_best_known_member_speaks() -> None:
    assert ("ibuprofen", "kidneys") in {(p, b) for p, b, _ in _found("Can a patient with CKD have NSAIDs?")}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is ibuprofen safe with methotrexate?", "no"),
        ("Does ibuprofen interact with methotrexate?", "yes"),
        ("Which problems come with ibuprofen and methotrexate, should I avoid it?", ""),
    ],
)
def test_what_is_avoided_answers_by_what_is_asked(question: str, answer: str) -> None:
    found = check(question)
    first = found.checks[0]
    assert first.advice is Advice.AVOID
    assert found.answer(first) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is paracetamol ok in pregnancy?", "yes"),
        ("Is it ok to take paracetamol with loratadine in pregnancy?", ""),  # of the two together nothing is recorded
        ("Can I take 20 paracetamol a day in pregnancy?", ""),
    ],
)
def test_what_is_usual_alone_says_nothing_of_an_amount_or_of_what_is_taken_beside_it(
    question: str, answer: str
) -> None:
    found = check(question)
    assert found.answer(found.checks[0]) == answer


@pytest.mark.parametrize(
    ("question", "case"),
    [
        ("Should patients with atrial fibrillation take apixaban or warfarin?", ""),  # one in the place of the other
        ("Can I stop lithium when pregnant?", ""),
        ("Is it pneumonia?", "A 70-year-old man on warfarin and aspirin with cough."),
        ("My wife is pregnant. Can I take ibuprofen?", ""),
        ("I don't drink alcohol. Can I take metronidazole?", ""),
        ("Is it worth taking a baby aspirin every day if I have never had a heart attack?", ""),
        ("Can I take lisinopril? I was pregnant last year", ""),
    ],
)
def test_what_is_asked_of_something_else_is_not_checked(question: str, case: str) -> None:
    assert _found(question, case) == []


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is apixaban safe with an eGFR of 25?", "depends"),  # care from 15 to 29, not below 15
        ("Is apixaban safe with an eGFR of 12?", "no"),
        ("Is rivaroxaban safe with an eGFR of 25?", "depends"),  # lowered below 50, barred below 15
        ("Is dabigatran safe with an eGFR of 25?", "no"),
        ("Is a direct oral anticoagulant safe with an eGFR of 25?", "depends"),  # as most of the class say
    ],
)
def test_a_stated_kidney_function_is_held_against_the_bounds_of_the_page(question: str, answer: str) -> None:
    found = check(question)
    assert found.answer(found.checks[0]) == answer


def test_a_caution_answers_a_patients_question_and_no_general_one() -> None:
    asked = "Can {} take allopurinol with kidney disease?"
    general, own = check(asked.format("people")), check(asked.format("she"))
    assert general.checks[0].advice is own.checks[0].advice is Advice.CAUTION
    assert (general.answer(general.checks[0]), own.answer(own.checks[0])) == ("", "depends")


@pytest.mark.parametrize(
    ("question", "case", "advice"),
    [
        ("14 year old with flu. Aspirin?", "", "avoid"),  # until sixteen
        ("Newborn with sepsis. Chloramphenicol?", "", "avoid"),
        ("Is promethazine ok?", "My son is 10 months old and has a cold.", "avoid"),
        ("Piriton syrup?", "My daughter is 3 and has hay fever.", None),  # only of babies its page speaks
        ("Is nitrofurantoin ok?", "She is 9 and has a bladder infection.", None),
    ],
)
def test_advice_for_children_holds_for_their_ages(question: str, case: str, advice: str | None) -> None:
    found = [a for _, about, a in _found(question, case) if about == "children"]
    assert found == ([advice] if advice else [])


def test_a_story_without_a_person_is_of_a_patient() -> None:
    found = check("Cirrhosis with encephalopathy. Diazepam for sleep?")
    assert not found.general
    assert found.answer(found.checks[0]) in ("no", "depends")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Her sodium is 121. Start bendroflumethiazide?", "no"),
        ("She is 41 and smokes 20 a day. Combined pill?", "no"),
        ("I came off phenelzine 4 days ago. Can I start fluoxetine?", "no"),
        ("Cough with ramipril. Losartan?", ""),
        ("Nurofen gave me a swollen face. Can I take naproxen?", "no"),
        ("I am allergic to codeine. Can I take co-codamol?", "no"),
        ("Does stopping smoking change clozapine levels?", "yes"),
    ],
)
def test_what_is_told_of_values_habits_and_reactions_counts(question: str, answer: str) -> None:
    found = check(question)
    assert (found.answer(found.checks[0]) if found.checks else "") == answer


@pytest.mark.parametrize(
    "question",
    [
        "Does a blood thinner prevent stroke enough to justify the bleeding risk?",
        "Can I eat while I take carbamazepine?",
    ],
)
def test_an_everyday_word_of_a_disorders_name_states_no_disorder(question: str) -> None:
    assert [c.beside for c in check(question).checks if c.beside.endswith("disorder")] == []
    assert any(c.beside == "bleeding disorder" for c in check("She bleeds easily. Can she take warfarin?").checks)


@pytest.mark.parametrize(
    ("statement", "case", "barred"),
    [
        ("An NSAID or colchicine treats a flare.", "He is 61 and his eGFR is 21.", ["NSAID", "colchicine"]),
        ("Adapalene or azelaic acid is used.", "She is 19 weeks pregnant.", ["Adapalene"]),
        ("A beta-blocker eases angina.", "She is 66 and has asthma.", ["beta-blocker"]),
        ("Adapalene must not be used in pregnancy.", "She is 19 weeks pregnant.", []),  # it warns
        ("Azelaic acid may be used; adapalene is not recommended.", "She is 19 weeks pregnant.", []),
        ("Adapalene or azelaic acid is used.", "She is 19, pregnancy test negative.", []),
        ("Adapalene or azelaic acid is used.", "She is 19, pregnancy test came back positive.", ["Adapalene"]),
        ("Adapalene or azelaic acid is used.", "She is 19 and not pregnant.", []),
        ("Paracetamol eases it.", "His eGFR is 21.", []),
        ("Potassium is checked after starting spironolactone.", "Her potassium is 6.4.", []),  # it is given to nobody
        ("Spironolactone eases it.", "Her potassium is 6.4.", ["Spironolactone"]),
        ("Do not give him aspirin yourself.", "My boy is 3 with fever.", []),
        ("The rise came after ibuprofen.", "On ibuprofen for her knee. eGFR 25.", []),  # it did the harm
        ("Ibuprofen is continued.", "On ibuprofen for her knee. eGFR 25.", ["Ibuprofen"]),
        ("Ramipril helps.", "Does it slow kidney disease, and what about hyperkalaemia?", []),  # asked about as a harm
        ("The combined pill is an option.", "What is the risk of a DVT?", []),
        ("An NSAID eases it.", "He is at risk of falls, eGFR 21.", ["NSAID"]),  # a state behind a harm
        ("Ibuprofen is given due to the pain.", "eGFR 21.", ["Ibuprofen"]),  # advice, whatever it tells
        ("An NSAID eases it.", "Heart rate 110, eGFR 21.", ["NSAID"]),
        ("Adapalene is used.", "What is the risk in pregnancy at 19 weeks?", ["Adapalene"]),
        ("Folic acid alone masks the anaemia while nerves are damaged.", "She has vitamin B12 deficiency.", []),
    ],
)
def test_what_advice_names_and_a_patients_state_bars(statement: str, case: str, barred: list[str]) -> None:
    assert [medicine.written for medicine, _ in unsuitable([statement], case)] == barred


@pytest.mark.parametrize(
    ("question", "page", "asks", "advice"),
    [
        (
            "My INR has been steady at 2.4 and I was given Septrin today. Is that an issue?",
            "co-trimoxazole",
            "harm",
            "avoid",
        ),
        (
            "I am on Microgynon and now take carbamazepine. Will it still work?",
            "carbamazepine",
            "may",
            "avoid",
        ),
        ("I take cannabis and have schizophrenia. Does it matter?", "cannabis", "interacts", "avoid"),
        ("Epclusa begun. He takes amiodarone. Concern?", "sofosbuvir", "harm", "avoid"),
        ("We are planning a baby and she takes isotretinoin. Is that ok?", "isotretinoin", "may", "avoid"),
        ("Can I have a cough mixture with dextromethorphan on moclobemide?", "dextromethorphan", "may", "avoid"),
        ("Is a salt substitute LoSalt with ramipril ok?", "potassium-chloride", "may", "avoid"),
        ("Can I have Lemsip when I take paracetamol already?", "paracetamol-with-phenylephrine", "may", "avoid"),
        ("Is Surmontil ok with phenelzine?", "amitriptyline", "may", "avoid"),  # by its class: it has no record
        ("Can I drive on promethazine?", "promethazine", "may", "caution"),
        ("Can I sunbathe while I take doxycycline?", "doxycycline", "may", "caution"),
    ],
)
def test_a_danger_is_found_by_whatever_name_and_however_it_points_back(
    question: str, page: str, asks: str, advice: str
) -> None:
    found = check(question)
    assert found.asks == asks
    assert advice == found.checks[0].advice.value
    assert page in {c.page for c in found.checks}


@pytest.mark.parametrize(
    "question",
    [
        "Penicillin allergy: can she have azithromycin?",  # asked about is what the allergy is not to
        "Penicillin allergic: is doxycycline all right?",
        "My son, 8, takes montelukast; can he have cetirizine?",  # nor what is taken already
        "Can I drive on amoxicillin?",
        "Is Robaxin ok with ciprofloxacin?",
        "We are not planning a baby. Can I take ibuprofen?",
    ],
)
def test_what_is_not_asked_about_warns_of_nothing(question: str) -> None:
    assert check(question).checks == ()
