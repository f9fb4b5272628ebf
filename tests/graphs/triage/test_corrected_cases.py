"""Corrections as people write them: the old goes, the new stays, and nothing else is lost."""

from __future__ import annotations

import pytest

from graphs.triage.contract import SessionView
from graphs.triage.facts import facts_of, revise, text_of
from graphs.triage.local import TriageLocal
from tools.text.clauses import clauses
from tools.text.demographics import read_person

TRIAGE = TriageLocal()


def case_after(*messages: str) -> str:
    view = SessionView()
    for turn, text in enumerate(messages, start=1):
        decision = TRIAGE.decide_now(text, view)
        facts = decision.facts or view.facts
        view = SessionView(messages=(*view.messages, text), turn=turn + 1, facts=facts, kind=decision.kind.value)
    return view.case


@pytest.mark.parametrize(
    ("first", "then", "new", "old"),
    [
        ("45F RUQ pain 2/7, vomiting.", "Scrap that, she's 54.", "54F", "45"),
        ("63M L flank pain 12h, haematuria.", "sorry, R flank", "R flank pain", "L flank"),
        ("60M, gout flare R big toe.", "*L big toe, sorry", "L big toe", "R big toe"),
        ("My left breast is sore and red.", "Right breast. Brain fog!", "right breast", "left breast"),
        ("Pins and needles in my right arm.", "did I say right? I meant left", "left arm", "right arm"),
        ("Gout, takes bendroflumethiazide.", "it's indapamide rather than bendro", "indapamide", "bendrof"),
        ("19M sore throat 5/7, no rash.", "Amend: duration 3/7", "3/7", "5/7"),
        ("Dad, 77, shaking right hand, walking slowly.", "He's actually 78.", "Dad, 78", "77"),
        ("孩子4岁，发烧两天，流鼻涕。", "不是两天，应该是三天，我记错了。", "发烧三天", "两天"),
        ("奶奶81岁，吃氨氯地平，走路不稳。", "看了药盒，是硝苯地平。", "吃硝苯地平", "氨氯地平"),
    ],
)  # fmt: skip
def test_what_is_put_right_replaces_what_was_said(first: str, then: str, new: str, old: str) -> None:
    case = case_after(first, then)
    assert new in case
    assert old not in case
    assert case.startswith((first[:3], new[:3]))


def test_what_is_taken_back_is_denied() -> None:
    case = case_after(
        "My daughter, 7, has a tummy ache and fever.", "I was wrong about the fever, the thermometer broke."
    )
    assert "tummy ache" in case
    assert "No fever." in case
    assert "and fever" not in case


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("I get out of breath on the stairs. I'm 55, female.", "Blood test last week said my haemoglobin is 84."),
        ("i'm 41, bloke, heartburn most nights for six weeks", "should have said i take naproxen for my bad back"),
        (
            "I have a sore on my lip for 5 days. I'm 18.",
            "I wasn't honest about one thing, I am pregnant, about 9 weeks",
        ),
        ("He had a cough for 3 days. He is 66.", "Now his leg hurts too"),
    ],
)
def test_what_is_added_takes_nothing_away(first: str, then: str) -> None:
    case = case_after(first, then)
    assert case.startswith(first.rstrip("."))
    assert then.split()[-1].rstrip(".") in case


@pytest.mark.parametrize(
    ("text", "age", "sex"),
    [
        ("Resident female 91, RR 26", 91, "female"),
        ("4yo M. D&V 2/7.", 4, "male"),
        ("I've a rash. 22, f. I had eczema", 22, "female"),
        ("im 26 female and on the pill", 26, "female"),
        ("My wife (36) is pregnant", 36, "female"),
        ("Son 10, limping", 10, "male"),
        ("我爷爷85岁，有慢阻肺", 85, "male"),
        ("I'm 45 and my wife noticed a lump", 45, None),
        ("My haemoglobin is 84.", None, None),
        ("A man 2 days post op", None, "male"),
        ("A man of 50 kg", None, "male"),
        ("I'm 45. Wife 40 has it too", 45, None),
        ("My son is 38.5 since noon", None, "male"),
        ("I have had pain. Dad 70 had a stroke", None, None),
        ("Pt M 40, red eye L", 40, "male"),
        ("F/51 dysphagia", 51, "female"),
        ("my mate cut his foot, hes 27", 27, "male"),
        ("She's 39, my cousin, itchy", 39, "female"),
        ("My friend drove me. I have chest pain, she is worried", None, None),
        ("A boy of 12 in my class", 12, "male"),
        ("邻居大爷77岁", 77, "male"),
        ("My ear hurts. 26f", 26, "female"),
        ("Sore throat, 33/m", 33, "male"),
        ("Sore back. 48, lorry driver, male.", 48, "male"),
        ("I am 63 and dizzy. Woman, by the way.", 63, "female"),
        ("Teen girl 15 with fits", 15, "female"),
        ("35yo G2P1 with itching", 35, "female"),
        ("Our little one, 18 months, girl", 1.5, "female"),
    ],
)
def test_age_and_sex_as_people_tell_them(text: str, age: float | None, sex: str | None) -> None:
    assert tuple(read_person(text)) == (age, sex)


@pytest.mark.parametrize(
    ("first", "then", "old", "kept"),
    [
        ("She is 58 and dizzy. She takes aspirin and lisinopril.", "scrap the aspirin", "aspirin", "lisinopril"),
        ("Dad, 71, has chest pain.", "take chest pain off the list, his ankles are red", "chest pain", "red"),
        ("A 55-year-old man with chest tightness. He has diabetes and high blood pressure.", "cross out diabetes",
         "diabetes", "high blood pressure"),
        ("她68岁，头晕，吃阿司匹林和降压药。", "阿司匹林早就不吃了", "阿司匹林", "降压药"),
    ],
)  # fmt: skip
def test_what_a_message_says_to_leave_out_is_no_longer_told(first: str, then: str, old: str, kept: str) -> None:
    case = case_after(first, then)
    assert kept in case
    assert [c.text for c in clauses(case) if c.present is not False and old in c.text] == []


def test_an_allergy_after_all_takes_back_that_there_is_none() -> None:
    case = case_after("Girl of 7 with hives, no known allergies.", "she is allergic to eggs after all")
    assert "no known" not in case
    assert "allergic to eggs" in case


def test_what_is_called_wrong_without_what_is_so_instead_stays() -> None:
    assert "left knee" in case_after("My left knee hurts. I'm 30.", "the left is wrong")
    assert "rash" in case_after("I have a rash and a cough.", "Should I ignore the rash?")


@pytest.mark.parametrize(
    ("messages", "kept", "gone"),
    [
        (["Ferritin 12, sodium 131 in a tired man of 50.", "Potassium 5.9."], ["131", "5.9"], []),
        (["Woman of 40, allergic to cefalexin, cough.", "She isn't allergic to cefalexin, it's tetracycline."],
         ["llergic to tetracycline"], ["to cefalexin."]),
        (["My 4-year-old daughter has a cough and a rash on her legs.", "scrap the rash, that was my nephew"],
         ["daughter has a cough"], ["rash on", "nephew", "legs"]),
        (["She is 60 and had a stroke in 2014.", "no, 2017"], ["2017"], ["2014"]),
        (["I'm 40, male, with lower left tummy pain after meals.", "no wait, lower right, not left"],
         ["lower right", "after meals"], ["lower left tummy"]),
        (["He is 70, takes ramipril 5 mg and apixaban.", "ramipril was stopped in May"], ["apixaban", "in May"],
         ["takes ramipril", "5 mg"]),
        (["My sister died of it at 30, I'm 25, dizzy.", "she was 42, my dad says"], ["sister died"], ["dad died"]),
        (["I'm 58 and take methotrexate for psoriasis.", "do I need folic acid?"], ["methotrexate"], []),
        (["我妈70岁，有胸闷，没有心慌", "没有胸闷，是我听错了"], ["没有心慌", "没有胸闷"], ["有胸闷，没有心慌"]),
    ],
)  # fmt: skip
def test_a_correction_changes_what_it_names_alone(messages: list[str], kept: list[str], gone: list[str]) -> None:
    case = case_after(*messages)
    assert [word for word in kept if word not in case] == []
    assert [word for word in gone if word in case] == []


@pytest.mark.parametrize(
    ("messages", "kept"),
    [
        (["My dad is 70 and coughs.", "he's on warfarin, can he take ibuprofen?"], "warfarin"),
        (["72M AF, HTN. Dizzy for 2 days.", "what is his CHA2DS2-VASc? he had a TIA in 2020"], "TIA in 2020"),
        (["I'm 29 with a red sore eye.", "can't bear the light"], "bear the light"),
        (["I'm 29 with a sore heel.", "is worse in the morning"], "worse in the morning"),
        (["I'm 29 with a sore heel.", "had it 3 weeks"], "3 weeks"),
        (["Man of 50 with a swollen toe.", "Does allopurinol prevent gout?", "has had kidney stones"], "kidney stones"),
    ],
)
def test_what_is_told_beside_a_question_or_without_its_subject_is_kept(messages: list[str], kept: str) -> None:
    assert kept in case_after(*messages)


def test_what_is_only_supposed_or_asked_is_not_told() -> None:
    case = case_after("My dad is 70 and coughs.", "if he were on warfarin, could he take ibuprofen?")
    assert "warfarin" not in case


def test_a_denial_and_its_correction_are_known_by_their_meaning() -> None:
    meanings = {"lost": {"weight-loss"}, "weight loss": {"weight-loss"}, "itchy": {"itching"}, "rash": {"rash"}}

    def findings(text: str) -> set[str]:
        return set().union(*(ids for words, ids in meanings.items() if words in text))

    case = text_of(revise(facts_of("He is 40. No weight loss."), "actually he has lost two stone", 2, findings))
    assert "No weight loss" not in case
    case = text_of(revise(facts_of("An itchy rash on both knees."), "it is not itchy", 2, findings))
    assert "rash on both knees" in case
    assert "An itchy" not in case


@pytest.mark.parametrize(
    ("messages", "kept", "gone"),
    [
        (["Woman of 60, drinks 3 pints a day, has had chest pain for 3 hours.", "it's 5 hours, not 3"],
         ["3 pints", "for 5 hours"], ["3 hours"]),
        (["I smoke 20 cigarettes a day and I'm 44.", "10 cigarettes, not 20"], ["I smoke 10 cigarettes"], ["20"]),
        (["He is 80 and confused since yesterday.", "He is still confused today"], ["since yesterday"],
         ["since today"]),
        (["I'm 52, sore knees and my speech is slurred.",
          "my speech isn't slurred, that was just the sleeping pill. Knees still sore"],
         ["sore knees", "isn't slurred"], ["is slurred", "is pill"]),
        (["My belly pain began suddenly, I'm 33.", "it didn't start suddenly, it crept up over two days"],
         ["belly pain", "two days"], ["began suddenly"]),
        (["He's 69 on bisoprolol and digoxin, feels sick.", "Digoxin was halted in spring; he still takes bisoprolol"],
         ["on bisoprolol, feels sick"], ["and digoxin", "bisoprolol and"]),
        (["Woman of 70 with diabetes on metformin, vomiting.",
          "The metformin is for the lady in bed 4, forget that. She has no diabetes either"],
         ["Woman of 70, vomiting"], ["on metformin", "with diabetes"]),
        (["My brother, 40, uses ibuprofen for his knee and has heartburn.",
          "He never used ibuprofen, only ice. So no painkillers"], ["brother, 40, has heartburn"],
         ["uses ibuprofen", "uses painkillers"]),
    ],
)  # fmt: skip
def test_what_cannot_stand_for_it_replaces_nothing(messages: list[str], kept: list[str], gone: list[str]) -> None:
    case = case_after(*messages)
    assert [k for k in kept if k not in case] == []
    assert [g for g in gone if any(g in c.text for c in clauses(case) if c.present is not False)] == []
