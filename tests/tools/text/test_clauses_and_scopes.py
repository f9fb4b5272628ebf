"""Clauses: exact offsets, and what is denied, of whom, where and when."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.text.clauses import Clause, clauses

PIECES = st.sampled_from(
    [
        "no fever, cough or chills", "I've had a headache", "T 38.6, HR 120", "denies vomiting", "PMH: asthma.", "?PE",
        "My brother had a stroke", "无发热、咳嗽，", "否认高血压。", "左侧胸痛3天", "BP 92/50", "(worse at night)",
        "and", "but", ", ", ". ", "\n", "w/o rash", "L knee pain", " – ", "it doesn't hurt", "…", "é😀", "12,000 cells",
    ]
)  # fmt: skip


def said(text: str) -> dict[str, Clause]:
    return {c.plain: c for c in clauses(text)}


def denied(text: str) -> set[str]:
    return {c.plain for c in clauses(text) if c.present is False}


def stated(text: str) -> set[str]:
    return {c.plain for c in clauses(text) if c.present is True}


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.lists(PIECES, max_size=10).map(" ".join), st.text(max_size=120)))
def test_offsets_are_exact_and_in_order(text: str) -> None:
    found = clauses(text)
    assert all(text[c.start : c.end] == c.text and c.text for c in found)
    assert [c.start for c in found] == sorted(c.start for c in found)
    assert all(c.plain and c.told for c in found)


def test_a_list_of_denials_is_denied_to_its_end() -> None:
    assert denied("No fever, cough or chills, but she has a headache.") == {"fever", "cough", "chills"}
    assert denied("Denies vomiting, diarrhoea, rash.") == {"vomiting", "diarrhoea", "rash"}


def test_a_denial_ends_where_something_else_is_told() -> None:
    text = "No fever, I have a bad cough and my throat hurts."
    assert denied(text) == {"fever"}
    assert stated(text) == {"I have a bad cough", "my throat hurts"}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("red throat without exudate", "exudate"),
        ("I have not had any chest pain", "have had any chest pain"),
        ("He never wheezes", "wheezes"),
        ("my legs aren't swollen", "my legs swollen"),
        ("abdomen soft w/o guarding", "guarding"),
        ("She is afebrile", "She is fever"),
        ("rash: none", "rash"),
        ("fever: nil, cough: negative", "cough"),
        ("皮疹：无，咳嗽", "皮疹"),
        ("itching 0 out of 10", "itching"),
        ("neither vomiting nor diarrhoea", "diarrhoea"),
    ],
)
def test_kinds_of_denial(text: str, what: str) -> None:
    assert [piece for piece in denied(text) if piece.removeprefix("He ").removeprefix("I ") == what]


@pytest.mark.parametrize(
    "text",
    [
        "the cough is no better",
        "it is not only the pain",
        "the pain won't go away",
        "I cannot swallow my own saliva",
        "no appetite",
        "painless lump",
    ],
)
def test_what_looks_like_a_denial_and_is_none(text: str) -> None:
    assert not denied(text)


def test_a_relative_clause_denies_itself_alone() -> None:
    assert "mouth ulcers" in stated("mouth ulcers that don't hurt")
    assert any("constipated" in c for c in stated("a bit constipated which isn't like me"))
    assert not denied("a rash that won't go away")


def test_words_that_strengthen_a_denial_are_left_out() -> None:
    assert denied("no cough to speak of, no fever at all") == {"cough", "fever"}
    assert [c.present for c in clauses("Non-smoker")] == [False]


def test_what_is_normal_denies_its_disorders() -> None:
    clause = said("Reflexes are normal and there is a rash.")["Reflexes are"]
    assert clause.normal
    assert clause.present is False
    assert "a clear runny nose" in said("I have a clear runny nose, a clear runny nose")


@pytest.mark.parametrize(
    ("text", "normal", "stated_"),
    [
        ("Pulses, power, reflexes and sensation normal.", ["Pulses", "power", "reflexes", "sensation"], []),
        ("Oestradiol low, prolactin and TSH normal.", ["prolactin", "TSH"], ["Oestradiol low"]),
        ("Cough, fever and chest clear.", ["chest"], ["Cough", "fever"]),
        ("Rash and TSH negative.", ["TSH"], ["Rash"]),
        ("Prolactin and TSH raised.", [], ["Prolactin raised", "TSH raised"]),
    ],
)
def test_what_the_last_item_of_a_list_says_of_all_is_said_of_each(
    text: str, normal: list[str], stated_: list[str]
) -> None:
    found = clauses(text)
    assert [c.plain for c in found if c.present is False] == normal
    assert [c.plain for c in found if c.present] == stated_


def test_chinese_denials_and_their_scopes() -> None:
    assert "来不及到厕所" in stated("走路慢，来不及到厕所")
    text = "患者咳嗽、咳痰3天，无发热、胸痛及呼吸困难，否认高血压、糖尿病，双下肢不肿。"
    assert denied(text) == {"发热", "胸痛", "呼吸困难", "高血压", "糖尿病", "双下肢肿"}
    assert stated(text) == {"患者咳嗽", "咳痰3天"}


def test_chinese_findings_that_hold_a_negating_character() -> None:
    text = "四肢无力，食欲不振，没胃口，不规则出血，没有咳嗽但有头痛"
    assert denied(text) == {"咳嗽"}
    assert {"四肢无力", "食欲不振", "没胃口"} <= stated(text)


def test_uncertain_is_neither_stated_nor_denied() -> None:
    assert [c.present for c in clauses("Possible wheeze")] == [None]
    assert [c.present for c in clauses("?pneumonia")] == [None]
    assert [c.present for c in clauses("可能有哮喘")] == [None]


def test_other_people_are_told_apart_from_the_patient() -> None:
    found = {
        c.text: c.other for c in clauses("My brother had a stroke. I have a headache. Two housemates are ill too.")
    }
    assert found == {"My brother had a stroke": True, "I have a headache": False, "Two housemates are ill too": True}
    assert not any(c.other for c in clauses("My wife says my eyelid droops."))
    assert not any(c.other for c in clauses("My little boy is 2 years old. My boy has a barking cough."))
    assert [c.other for c in clauses("父亲有高血压。")] == [True]


def test_the_past_is_told_apart_from_how_long_something_lasts() -> None:
    assert [c.past for c in clauses("I had eczema as a child")] == [True]
    assert [c.past for c in clauses("3 day history of sore throat")] == [False]
    assert [c.past for c in clauses("3/7 Hx of sore throat")] == [False]
    assert all(c.past for c in clauses("PMH: gout, hypertension"))


def test_sides_and_sites() -> None:
    left = clauses("severe L sided chest pain")[0]
    assert (left.side, left.sites) == ("left", frozenset({"chest"}))
    both = clauses("双侧膝关节疼痛")[0]
    assert (both.side, both.sites) == ("both", frozenset({"leg", "joint"}))
    assert clauses("right away after lunch")[0].side is None
    assert clauses("pain in the back of my head")[0].sites == frozenset({"head"})


def test_vital_signs_become_findings_with_their_numbers() -> None:
    text = "O/E: T 38.6, HR 82, BP 84/50, RR 28, SpO2 91% on air."
    found = {(c.plain, c.present, c.text) for c in clauses(text) if c.reading}
    assert found == {
        ("fever", True, "T 38.6"),
        ("fast heart rate", False, "HR 82"),
        ("low blood pressure", True, "BP 84/50"),
        ("fast breathing", True, "RR 28"),
        ("low oxygen saturation", True, "SpO2 91%"),
    }


@pytest.mark.parametrize(
    ("text", "first", "where"),
    [
        ("redness and swelling of the right big toe", "redness", {"foot"}),
        ("Pain and swelling of the left knee.", "Pain", {"joint", "leg"}),
        ("No redness or swelling of the calf", "No redness", {"leg"}),
        ("cough and pain in the chest", "cough", set()),
        ("redness, and my father has swelling of the legs", "redness", set()),
        ("redness. Swelling of the legs", "redness", set()),
    ],
)
def test_a_complaint_of_a_place_shares_the_place_of_the_next(text: str, first: str, where: set[str]) -> None:
    told = next(c for c in clauses(text) if c.text.strip(" ,.") == first)
    assert told.sites == where


@pytest.mark.parametrize("greeting", ["", "Hope you are well. ", "Hi doctor. ", "Good morning! "])
def test_a_greeting_does_not_hide_of_whom_is_told(greeting: str) -> None:
    told = clauses(f"{greeting}My husband is 55, he has a bad back and his leg is numb.")
    assert [c.other for c in told if "back" in c.text or "leg" in c.text] == [False, False]


@pytest.mark.parametrize(
    ("text", "present", "absent"),
    [
        ("Stopped insulin as not drinking alcohol.", "Stopped insulin", "drinking alcohol"),
        ("No gunk, lips all cracked and a red rash.", "lips all cracked", "gunk"),
        ("Abdo soft, minimally tender.", "minimally tender", "peritonism"),
        ("Weight loss despite good appetite.", "Weight loss", "appetite"),
        ("Sore throat, no cough, tender neck glands.", "tender neck glands", "cough"),
    ],
)
def test_a_denial_reaches_no_further_than_its_own_words(text: str, present: str, absent: str) -> None:
    assert present in stated(text)
    assert absent in denied(text)


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("No periods for six months and headaches.", "headaches"),
        ("No appetite and night sweats.", "night sweats"),
        ("No energy, no appetite, weight loss.", "weight loss"),
        ("Not slept for three nights and hearing voices.", "hearing voices"),
        ("No bowel movement since Monday and vomiting.", "vomiting"),
    ],
)
def test_what_is_added_to_a_lack_or_to_a_denial_for_a_time_is_told(text: str, added: str) -> None:
    assert added in stated(text)


def test_a_mother_who_tells_of_the_birth_tells_of_herself() -> None:
    assert not any(c.other for c in clauses("I had my baby 9 days ago and my breast is red, I am shivery."))
    assert any(c.other for c in clauses("I have a cough. My baby has a fever."))


def test_how_a_place_feels_is_told_of_that_place() -> None:
    told = {c.text: c.sites for c in clauses("my left calf, sore and warm since Tuesday, no cough")}
    assert told["sore"] == told["warm since Tuesday"] == told["my left calf"] != frozenset()
    assert told["no cough"] != told["sore"]


def test_a_relative_beside_ones_own_complaint_is_no_patient() -> None:
    assert any(c.other for c in clauses("I have chest pain. My husband is 55 and has asthma."))


@pytest.mark.parametrize(
    "text",
    [
        "My cough isn't going away.",
        "The fever hasn't come down.",
        "The itching doesn't ease.",
        "My sore throat hasn't resolved.",
        "He isn't able to close his eye.",
        "She can no longer walk.",
        "伤口不愈合。",
    ],
)
def test_what_does_not_go_away_or_cannot_be_done_is_told_and_of_now(text: str) -> None:
    assert [(c.present, c.past) for c in clauses(text)] == [(True, False)]


@pytest.mark.parametrize("text", ["I don't cough.", "She does not vomit.", "I haven't got a fever.", "他不着急。"])
def test_a_plain_denial_stays_one(text: str) -> None:
    assert [c.present for c in clauses(text)] == [False]


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("No cough/fever/rash.", {"cough", "fever", "rash"}),
        ("Nil palps/syncope/SOB.", {"palps", "syncope", "shortness of breath"}),
        ("No V/D.", {"vomiting", "diarrhoea"}),
        ("Power/tone/sensation normal.", {"Power", "tone", "sensation"}),
    ],
)
def test_a_denial_reaches_over_slashes(text: str, absent: set[str]) -> None:
    assert denied(text) == absent


@pytest.mark.parametrize(
    "text", ["Paracetamol 10 mg/kg.", "He/she sleeps.", "Pain in arms/legs.", "No bladder/bowel trouble."]
)
def test_what_is_no_list_is_not_cut_at_a_slash(text: str) -> None:
    assert len(clauses(text)) == 1


def test_items_are_joined_by_plus_signs_and_arrows_spread() -> None:
    assert stated("Wheeze + creps. N+V.") == {"Wheeze", "crackles", "nausea", "vomiting"}
    assert stated("Loin pain → groin.") == {"Loin pain spreading to groin"}


@pytest.mark.parametrize(
    "text",
    [
        "Periods regular.",
        "Appetite good.",
        "Weight steady.",
        "Bowels are regular.",
        "Urine output good.",
        "Mood stable.",
    ],
)
def test_what_is_as_it_should_be_is_told_as_normal(text: str) -> None:
    (clause,) = clauses(text)
    assert clause.normal
    assert clause.present is False


def test_what_has_a_duration_of_its_own_is_no_item_of_a_denied_list() -> None:
    assert [c.present for c in clauses("No voices, no hallucinations, low mood for weeks.")] == [False, False, True]
    assert [c.present for c in clauses("No vomiting, diarrhoea or fever for three days.")] == [False, False, False]


def test_a_heading_of_medicines_tells_of_none_and_what_somebody_thinks_is_uncertain() -> None:
    assert clauses("Drugs: amlodipine.")[0].heading
    assert clauses("GP thinks PE.")[0].present is None
    assert clauses("He thinks his leg is swollen.")[0].present is True


def test_headings_of_systems_are_marked_and_what_is_normal_behind_them_is_denied() -> None:
    found = {c.text: c for c in clauses("Tox: drowsy. Resp: clear. MSK - NAD. Skin: rash.")}
    assert found["Tox"].heading
    assert not found["Skin"].heading
    assert found["Resp: clear"].normal
    assert found["MSK - NAD"].normal
    assert found["drowsy"].present


def test_a_finding_after_a_soft_abdomen_is_no_part_of_its_denial() -> None:
    assert {c.text: c.present for c in clauses("Abdo: soft, renal angle tender.")}["renal angle tender"] is True


@pytest.mark.parametrize(
    ("text", "present"),
    [
        ("The health visitor said it was reflux.", None),
        ("HV said colic.", None),
        ("My neighbour thinks it is gout.", None),
        ("My friend said I looked pale.", True),
        ("Mum thinks it is swollen.", True),
    ],
)
def test_what_somebody_takes_it_for_is_uncertain(text: str, present: bool | None) -> None:
    assert clauses(text)[0].present is present


@pytest.mark.parametrize(
    ("text", "other"), [("Mum asthma.", True), ("Uncle TB.", True), ("Mum coughing blood.", False)]
)
def test_a_relatives_illness_in_notes_is_his(text: str, other: bool) -> None:
    assert clauses(f"A girl of 4. {text}")[-1].other is other
