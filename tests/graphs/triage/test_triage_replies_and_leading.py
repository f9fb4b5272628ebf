"""What is no reply to our question, what is unknown, what asks about the leading diagnosis, and who is new."""

from __future__ import annotations

import pytest

from graphs.triage.contract import AskedQuestion, Kind, SessionView, TriageDecision
from graphs.triage.facts import facts_of
from graphs.triage.local import TriageLocal

TRIAGE = TriageLocal()
CASE = "50-year-old woman with pain in the right lower abdomen since yesterday and a headache."
CASE_ZH = "女,45岁,右下腹痛两天,发烧。"
NAUSEA = AskedQuestion(finding="nausea", text="Does she have nausea?")
NAUSEA_ZH = AskedQuestion(finding="nausea", text="有恶心吗？")
SIDE = AskedQuestion(finding="pain-side", text="Which side is the pain on?")
LONG = AskedQuestion(finding="pain-duration", text="How long has she had the pain?")


def say(text: str, case: str = CASE, asked: AskedQuestion | None = None, leading: str = "") -> TriageDecision:
    view = SessionView(messages=(case,), facts=facts_of(case), kind="case", question=case, asked=asked, leading=leading)
    return TRIAGE.decide_now(text, view)


@pytest.mark.parametrize(
    "text",
    ["He has a rash", "I have diarrhoea", "2 weeks", "Right knee hurts too",
     "sometimes she gets dizzy", "she has nausea and a stiff neck"],
)  # fmt: skip
def test_a_statement_is_added_and_settles_nothing(text: str) -> None:
    decision = say(text, asked=NAUSEA)
    assert (decision.kind, decision.answered, decision.new_case) == (Kind.CASE, None, False)
    assert decision.case == f"{CASE} {text[0].upper()}{text[1:]}."


@pytest.mark.parametrize(
    ("text", "asked", "present"),
    [
        ("Yes she has", NAUSEA, True), ("it is", NAUSEA, True), ("是的", NAUSEA_ZH, True), ("没有", NAUSEA_ZH, False),
        ("she does not have nausea", NAUSEA, False), ("1. yes 2. no 3. yes", NAUSEA, True),
        ("1) no\n2) yes", NAUSEA, False), ("1.有 2.没有", NAUSEA_ZH, True),
        ("2 weeks", LONG, True),
    ],
)  # fmt: skip
def test_a_reply_settles_the_finding(text: str, asked: AskedQuestion, present: bool) -> None:
    decision = say(text, CASE_ZH if asked is NAUSEA_ZH else CASE, asked)
    assert decision.kind is Kind.FOLLOW_UP
    assert decision.answered is not None
    assert decision.answered.present is present
    assert "2." not in decision.case
    assert present or asked.text not in decision.case


@pytest.mark.parametrize(("text", "asked"), [("2 weeks", SIDE), ("left", LONG)])
def test_a_value_of_another_sort_is_no_reply(text: str, asked: AskedQuestion) -> None:
    assert say(text, asked=asked).answered is None


@pytest.mark.parametrize("text", ["I do not know", "I don't know, maybe", "not sure", "cannot say", "不知道"])
def test_what_is_unknown_leaves_the_case_as_it_was(text: str) -> None:
    decision = say(text, asked=NAUSEA)
    assert decision.answered is not None
    assert decision.answered.present is None
    assert decision.case == CASE


@pytest.mark.parametrize(
    ("text", "case", "revised"),
    [
        (
            "She has no headache, I was wrong",
            CASE,
            CASE.replace(" and a headache", "") + " She has no headache, I was wrong.",
        ),
        ("she is 52", CASE, CASE.replace("50", "52")),
        ("It is on the left", CASE, CASE.replace("right", "left")),
        ("她其实50岁", CASE_ZH, CASE_ZH.replace("45", "50")),
    ],
)
def test_a_correction_comes_before_a_reply(text: str, case: str, revised: str) -> None:
    decision = say(text, case, NAUSEA)
    assert (decision.kind, decision.answered, decision.new_case) == (Kind.CASE, None, False)
    assert decision.case == revised


@pytest.mark.parametrize(
    "text",
    ["A 2-year-old girl has fever and an itchy rash for two days.", "A 50-year-old man with a cough for two days.",
     "A 2.5-year-old boy has had a cough for two days."],
)  # fmt: skip
def test_another_person_opens_a_case(text: str) -> None:
    decision = say(text, asked=NAUSEA)
    assert (decision.kind, decision.answered, decision.new_case) == (Kind.CASE, None, True)
    assert decision.case == text
    assert TRIAGE.decide_now(text, SessionView()).new_case
    assert not say("It is worse at night.", text).new_case


@pytest.mark.parametrize(
    ("text", "case", "leading", "whole"),
    [
        ("What is the treatment?", CASE, "acute appendicitis", "How is acute appendicitis treated?"),
        ("How is it treated?", CASE, "acute appendicitis", "How is acute appendicitis treated?"),
        ("Is it dangerous?", CASE, "acute appendicitis", "Is acute appendicitis dangerous?"),
        ("How much paracetamol can I give him?", "2-year-old boy with a barking cough.", "croup",
         "How much paracetamol can I give a 2-year-old boy with croup?"),
        ("怎么治疗？", CASE_ZH, "急性阑尾炎", "急性阑尾炎怎么治疗？"),
        ("How should we treat it, given that he takes warfarin?", CASE, "acute appendicitis",
         "How is acute appendicitis treated, given that he takes warfarin?"),
    ],
)  # fmt: skip
def test_a_bare_question_asks_of_the_leading_diagnosis(text: str, case: str, leading: str, whole: str) -> None:
    decision = say(text, case, leading=leading)
    assert (decision.kind, decision.question, decision.case) == (Kind.EVIDENCE, whole, "")
    without = say(text, case)
    assert (without.kind, without.case) == (Kind.CASE, case)
    assert without.question.startswith(case)


@pytest.mark.parametrize("text", ["Is it appendicitis?", "Is she in danger of a rupture?"])
def test_a_question_about_the_diagnosis_stays_with_the_case(text: str) -> None:
    assert say(text, leading="acute appendicitis").kind is Kind.CASE


def test_a_repeated_message_is_told_once() -> None:
    assert say(CASE).case == CASE
    assert say(CASE, asked=NAUSEA).case == CASE
    told = say("She has a rash.").case
    assert say("She has a rash.", told).case == told
    assert say("thanks", asked=NAUSEA).kind is Kind.SMALL_TALK
