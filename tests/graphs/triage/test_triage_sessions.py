"""Turns that lean on earlier ones: answers to our question, corrections, additions, elliptical questions."""

from __future__ import annotations

from typing import Any

import pytest

from graphs.triage.asked import subject
from graphs.triage.contract import AskedQuestion, Kind, SessionView, TriageDecision
from graphs.triage.facts import facts_of
from graphs.triage.local import TriageLocal

TRIAGE = TriageLocal()
CASE = "45F with pain in the right knee for 2 weeks, worse on stairs. No fever, no swelling. PMH asthma."
CASE_ZH = "男,45岁,右膝疼痛两周,没有发烧。"
BREATHING = AskedQuestion(finding="pleuritic-chest-pain", text="Does the chest pain get worse when you breathe in?")
FEVER = AskedQuestion(finding="fever", text="Do you have a fever?")
FEVER_ZH = AskedQuestion(finding="fever", text="您有发热吗?")


def in_case(text: str, case: str = CASE, asked: AskedQuestion | None = None) -> TriageDecision:
    return TRIAGE.decide_now(text, SessionView(facts=facts_of(case), kind="case", question=case, asked=asked))


def after(question: str, text: str) -> TriageDecision:
    return TRIAGE.decide_now(text, SessionView(kind="evidence", question=question))


@pytest.mark.parametrize(
    ("text", "present"),
    [
        ("yes", True), ("Yeah, it does", True), ("sometimes at night", True), ("I think so", True),
        ("No", False), ("not really", False), ("I don't", False), ("it doesn't", False), ("nope", False),
        ("not sure", None), ("I don't know", None),
    ],
)  # fmt: skip
def test_short_answers_settle_the_finding(text: str, present: bool | None) -> None:
    decision = in_case(text, asked=BREATHING)
    assert decision.kind is Kind.FOLLOW_UP
    assert decision.answered is not None
    assert (decision.answered.id, decision.answered.present) == ("pleuritic-chest-pain", present)
    assert decision.case.startswith(CASE)


@pytest.mark.parametrize(
    ("text", "present"), [("有", True), ("有一点", True), ("没有", False), ("不是", False), ("不清楚", None)]
)
def test_short_answers_in_chinese(text: str, present: bool | None) -> None:
    decision = in_case(text, CASE_ZH, FEVER_ZH)
    assert decision.kind is Kind.FOLLOW_UP
    assert decision.language == "zh"
    assert decision.answered is not None
    assert decision.answered.present is present


@pytest.mark.parametrize(("text", "present"), [("38.6", True), ("36.8", False), ("37.7 this morning", None)])
def test_a_temperature_answers_a_question_about_fever(text: str, present: bool | None) -> None:
    decision = in_case(text, asked=FEVER)
    assert decision.answered is not None
    assert decision.answered.present is present


def test_a_value_without_letters_keeps_the_language_of_the_question() -> None:
    assert in_case("38.5", CASE_ZH, FEVER_ZH).language == "zh"


def test_the_answer_is_stated_so_that_a_denial_stays_one() -> None:
    assert in_case("No", asked=BREATHING).case.endswith("Denies that the chest pain gets worse when they breathe in.")
    assert in_case("no fever at all", asked=FEVER).case.endswith("Denies fever. No fever at all.")
    assert in_case("没有", CASE_ZH, FEVER_ZH).case.endswith("没有发热。")


def test_what_an_answer_says_beside_is_kept() -> None:
    decision = in_case("Yes, and it goes into my back", asked=BREATHING)
    assert decision.case.endswith("Reports that the chest pain gets worse when they breathe in. It goes into my back.")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Do antibiotics help in bronchitis?", Kind.EVIDENCE),
        ("thanks", Kind.SMALL_TALK),
        ("no fever but I have chills", Kind.CASE),
        ("no, the left knee", Kind.CASE),
        ("My son is 5 years old and has had a cough and a runny nose for two days now, what is it?", Kind.CASE),
    ],
)
def test_other_messages_do_not_answer_the_question(text: str, kind: Kind) -> None:
    decision = in_case(text, asked=BREATHING)
    assert decision.kind is kind
    assert decision.answered is None


def test_a_denial_of_something_else_is_never_turned_round() -> None:
    assert in_case("no fever but I have chills").case.endswith("No fever but I have chills.")


@pytest.mark.parametrize(
    ("text", "gone", "there"),
    [
        ("no, the left knee", "right knee", "pain in the left knee"),
        ("Actually it's been 3 weeks", "2 weeks", "for 3 weeks"),
        ("she is 54, not 45", "45F", "54F"),
        ("sorry, I do have a fever", "No fever", "a fever"),
        ("actually no asthma", "PMH asthma", "no asthma"),
        ("no, it isn't worse on stairs", ", worse on stairs", "It isn't worse on stairs"),
    ],
)
def test_a_correction_replaces_what_it_contradicts(text: str, gone: str, there: str) -> None:
    decision = in_case(text)
    assert decision.kind is Kind.CASE
    assert gone not in decision.case
    assert there.lower() in decision.case.lower()


def test_a_correction_leaves_the_rest_alone() -> None:
    revised = in_case("no, the left knee").case
    assert "for 2 weeks, worse on stairs. No fever, no swelling. PMH asthma." in revised


@pytest.mark.parametrize(
    ("text", "gone", "there"), [("不对,是左膝", "右膝", "左膝疼痛"), ("其实有发烧", "没有发烧", "有发烧")]
)
def test_corrections_in_chinese(text: str, gone: str, there: str) -> None:
    revised = in_case(text, CASE_ZH).case
    assert gone not in revised
    assert there in revised


def test_an_addition_is_added_and_lifts_an_earlier_denial() -> None:
    decision = in_case("It now swells in the evening")
    assert decision.case.endswith("It now swells in the evening.")
    assert "no swelling" not in decision.case
    assert "No fever" in decision.case


@pytest.mark.parametrize("text", ["Is it worse because of the stairs?", "Should she have an x-ray?"])
def test_a_question_about_the_case_carries_the_case(text: str) -> None:
    decision = in_case(text)
    assert decision.kind is Kind.CASE
    assert decision.case == CASE
    assert decision.question.startswith(CASE)
    assert text.lower() in decision.question.lower()


def test_another_patient_begins_another_case() -> None:
    text = "My son is 5 years old and has a cough and fever for two days."
    assert in_case(text).case == text


def test_a_question_about_a_topic_leaves_the_case_behind() -> None:
    decision = in_case("Do NSAIDs help osteoarthritis of the knee?")
    assert (decision.kind, decision.case) == (Kind.EVIDENCE, "")
    assert decision.question == "Do NSAIDs help osteoarthritis of the knee?"


def test_red_flags_come_from_the_whole_case() -> None:
    case = "58M with a sore middle finger and a runny nose since Tuesday."
    assert not in_case("it is a bit worse today", case).red_flags
    decision = in_case("Now he has crushing chest pain, he is sweating and it goes down his left arm", case)
    assert "heart_attack" in {f.code for f in decision.red_flags}
    assert in_case("it is worse today", "58M with crushing chest pain and sweating.").red_flags


QUESTION = "Do antibiotics help otherwise healthy adults with acute bronchitis?"


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("and in children?", "Do antibiotics help children with acute bronchitis?"),
        ("what about pregnancy?", "Do antibiotics help pregnant women with acute bronchitis?"),
        ("what are the side effects?", "what are the side effects of antibiotics?"),
        ("are they safe in pregnancy?", "are antibiotics safe in pregnancy?"),
        ("what else could it be?", QUESTION + " What else could it be?"),
        ("Does oseltamivir help in influenza?", "Does oseltamivir help in influenza?"),
        ("Is it safe to take ibuprofen with warfarin?", "Is it safe to take ibuprofen with warfarin?"),
    ],
)
def test_elliptical_questions_stand_alone(text: str, whole: str) -> None:
    decision = after(QUESTION, text)
    assert decision.kind is Kind.EVIDENCE
    assert decision.question == whole


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("那儿童呢?", "高流量吸氧能否有效终止儿童丛集性头痛?"),
        ("副作用是什么?", "高流量吸氧的副作用是什么?"),
        ("它安全吗?", "高流量吸氧安全吗?"),
    ],
)
def test_elliptical_questions_in_chinese(text: str, whole: str) -> None:
    assert after("高流量吸氧能否有效终止成人丛集性头痛?", text).question == whole


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("Does adding colchicine to NSAIDs lower the risk of recurrence?", "colchicine"),
        ("How effective is a single dose of dexamethasone in children with croup?", "single dose of dexamethasone"),
        ("What is the best treatment for cluster headache?", "best treatment for cluster headache"),
        ("Tell me about scabies", ""),
    ],
)
def test_the_subject_of_a_question(question: str, about: str) -> None:
    assert subject(question) == about


def test_courtesy_and_other_fields_stay_what_they_are_in_a_session() -> None:
    kinds: list[Any] = [in_case(t).kind for t in ("thanks!", "what's the weather like?")]
    assert kinds == [Kind.SMALL_TALK, Kind.OUT_OF_SCOPE]


def test_a_patient_of_whom_a_question_is_asked_is_the_patient_of_what_follows() -> None:
    first = TRIAGE.decide_now("My mother is 82 and takes warfarin. Can she have ibuprofen?", SessionView())
    assert first.kind is Kind.EVIDENCE
    assert first.case == "My mother is 82 and takes warfarin."
    view = SessionView(kind="evidence", question=first.question, facts=first.facts)
    then = TRIAGE.decide_now("She has had a swollen left knee for two days.", view)
    assert (then.kind, then.new_case) == (Kind.CASE, False)
    assert then.case.startswith("My mother is 82 and takes warfarin. She has had a swollen left knee")


def test_a_question_that_leans_on_another_raises_no_flag_of_the_other() -> None:
    question = "Is crushing chest pain with sweating that spreads to the left arm a heart attack?"
    assert after(question, "and in children?").red_flags == ()


def test_a_pronoun_in_a_correction_changes_nobodys_sex() -> None:
    case = "A man of 60 has had pain in the left knee for two days."
    assert in_case("the nurse rang, she says it is the right knee", case).case.startswith("A man of 60")


def test_a_chinese_question_is_searched_for_in_english_and_stays_chinese_in_the_session() -> None:
    triage = TriageLocal(english=lambda text: "How is gout treated in children?" if text.startswith("对于儿童") else "")
    decision = triage.decide_now("儿童呢？", SessionView(kind="evidence", question="痛风怎么治疗？"))
    assert (decision.kind, decision.language) == (Kind.EVIDENCE, "zh")
    assert decision.question == "对于儿童，痛风怎么治疗？"  # what the next message leans on
    assert decision.english == "How is gout treated in children?"


def test_a_patient_and_what_the_records_of_medicines_decide_are_asked_as_they_were_written() -> None:
    triage = TriageLocal(english=lambda _: "English")
    assert not triage.decide_now("男,45岁,右膝疼痛两周,没有发烧。", SessionView()).english
    assert not triage.decide_now("我对青霉素过敏，能吃阿莫西林吗？", SessionView()).english
