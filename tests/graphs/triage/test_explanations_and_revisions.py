"""Questions about what was said, and what a correction changes in the case, in both languages."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphs.triage.contract import Aspect, Kind, SessionView, TriageDecision
from graphs.triage.emergency import red_flags
from graphs.triage.facts import Fact, add, changes_in, facts_of, revise, text_of
from graphs.triage.local import TriageLocal

CASE = "45F with pain in the right knee for 2 weeks, worse on stairs. No fever, T 38.2."
NAMES = {"gout": "gout", "PE": "pulmonary-embolism", "痛风": "gout"}
TRIAGE = TriageLocal(diseases=lambda text: [i for n, i in NAMES.items() if n in text])


def revised(case: str, message: str) -> tuple[str, tuple[Fact, ...]]:
    """The case behind a second message, and what was put right."""
    facts = revise(facts_of(case, 1), message, 2)
    return text_of(facts), changes_in(facts)


def added(case: str, message: str) -> tuple[str, tuple[Fact, ...]]:
    facts = add(facts_of(case, 1), facts_of(message, 2), 2)
    return text_of(facts), changes_in(facts)


def say(text: str, kind: str = "case", case: str = CASE) -> TriageDecision:
    view = SessionView(
        facts=facts_of(case), kind=kind, question=case, leading="Osteoarthritis", leading_en="Osteoarthritis"
    )
    return TRIAGE.decide_now(text, view)


@pytest.mark.parametrize(
    ("text", "aspect"),
    [
        ("why?", Aspect.WHY), ("What makes you think that?", Aspect.WHY), ("你怎么知道？", Aspect.WHY),
        ("what else could it be?", Aspect.ELSE), ("还可能是什么？", Aspect.ELSE), ("how sure are you?", Aspect.SURE),
        ("有多大把握？", Aspect.SURE), ("what speaks against it?", Aspect.AGAINST), ("还要问什么？", Aspect.ASK),
        ("what would tell them apart?", Aspect.APART), ("summarise", Aspect.SUMMARY), ("your sources?", Aspect.SOURCES),
    ],
)  # fmt: skip
def test_what_is_asked_about_what_was_said(text: str, aspect: Aspect) -> None:
    decision = say(text)
    assert decision.kind is Kind.EXPLAIN
    assert decision.explain is not None
    assert (decision.explain.aspect, decision.explain.of_case) == (aspect, True)
    assert TRIAGE.decide_now(text, SessionView()).kind is Kind.EXPLAIN


@pytest.mark.parametrize(("text", "about"), [("why not gout?", "gout"), ("Could it be a PE?", "pulmonary-embolism"),
                                             ("为什么不是痛风？", "gout")])  # fmt: skip
def test_a_named_disease_is_explained_and_nothing_else_is(text: str, about: str) -> None:
    explain = say(text).explain
    assert explain is not None
    assert explain.about == about
    assert say("why not antibiotics?").kind is Kind.EVIDENCE


def test_after_a_question_of_evidence_why_is_about_its_answer() -> None:
    assert say("why?", kind="evidence").explain.of_case is False  # type: ignore[union-attr]
    assert say("back to my patient: what else could it be?", kind="evidence").explain.of_case is True  # type: ignore[union-attr]


def test_tests_and_treatment_are_asked_of_the_leading_diagnosis() -> None:
    for text in ("what tests are needed?", "需要做什么检查？"):
        decision = say(text)
        assert (decision.kind, decision.about_case) == (Kind.EVIDENCE, True)
        assert decision.question == "How is Osteoarthritis diagnosed and which tests are needed?"
    assert say("怎么治疗？").question == "How is Osteoarthritis treated?"


@pytest.mark.parametrize(
    ("case", "message", "now", "before", "after"),
    [
        (CASE, "no, the left knee", CASE.replace("right", "left"), "right knee", "left knee"),
        ("L leg swelling.", "correction: right leg", "R leg swelling.", "L leg", "R leg"),
        (CASE, "not the right knee, the left knee", CASE.replace("right", "left"), "right knee", "left knee"),
        (CASE, "it's 3 weeks, not 2 weeks", CASE.replace("2 weeks", "3 weeks"), "2 weeks", "3 weeks"),
        (CASE, "temp is 36.8 not 38.2", CASE.replace("38.2", "36.8") + " Temp is 36.8 not 38.2.", "38.2", "36.8"),
        ("8 month old, cough.", "He's 18 months, not 8 months", "18 month old, cough.", "8 month", "18 month"),
        ("A 25-year-old woman, ill.", "sorry, he is a man", "A 25-year-old man, ill.", "woman", "man"),
        ("发热3天，咽痛。", "发热5天，不是3天", "发热5天，咽痛。", "3天", "5天"),
        ("男孩，6岁，咳嗽。", "是女孩", "女孩，6岁，咳嗽。", "男孩", "女孩"),
        ("突发左下腹剧痛。", "是右下腹，不是左下腹", "突发右下腹剧痛。", "左下", "右下"),
    ],
)  # fmt: skip
def test_a_correction_revises_the_case_and_tells_what_changed(
    case: str, message: str, now: str, before: str, after: str
) -> None:
    text, changes = revised(case, message)
    assert text == now
    assert [c for c in changes if before in c.text and after in c.now]


def test_a_denial_of_a_quality_leaves_the_complaint() -> None:
    assert revised("Severe pain in the flank.", "the pain is not severe")[0] == "not severe pain in the flank."


def test_the_later_statement_stays_whichever_way_it_turns() -> None:
    assert added("Sore throat, fever 38.5, no cough.", "no fever")[0] == "Sore throat, no cough. No fever."
    assert (
        added("Sore throat, no cough.", "Oh, I forgot, she has a cough")[0]
        == "Sore throat. Oh, I forgot, she has a cough."
    )
    text, changes = added("Chest pain on effort.", "no chest pain at night")
    assert text.startswith("Chest pain on effort.")
    assert changes == ()


@settings(max_examples=25)  # three networks read each
@given(st.text(max_size=60), st.text(max_size=40))
def test_any_message_revises_any_case_without_an_error(case: str, message: str) -> None:
    revised(case, message)
    added(case, message)


def test_an_emergency_in_abbreviations_is_seen_and_quoted_as_written() -> None:
    text = "58M c/o CP 40/60, SOB. CP radiates L arm, sweaty."
    flags = red_flags(text, "en")
    assert flags
    assert all(quote in text for flag in flags for quote in flag.seen.split("“")[1].split("”")[:1])


@pytest.mark.parametrize(
    ("case", "message", "now"),
    [
        ("45F fever, cough.", "she doesn't have a fever", "45F, cough. She doesn't have a fever."),
        ("A 60 year old man with fever, and cough.", "no fever", "A 60 year old man, and cough. No fever."),
        ("45岁女性发热、咳嗽。", "她没有发热", "45岁女性，咳嗽。她没有发热。"),
        ("发热3天，咳嗽。", "没有发热", "咳嗽。没有发热。"),
    ],
)
def test_who_the_patient_is_stays_when_a_complaint_goes(case: str, message: str, now: str) -> None:
    assert revised(case, message)[0] == now


def test_a_word_of_regret_is_nothing_put_in_the_place_of_another() -> None:
    text, changes = revised("My right knee is swollen, red and painful.", "not red, actually")
    assert text == "My right knee is swollen, not red and painful."
    assert [c.text for c in changes] == ["red and"]


def test_a_correction_after_a_question_about_the_case_is_one() -> None:
    view = SessionView(
        facts=facts_of(CASE), kind="evidence", question="How is it treated?", leading="Gout", about_case=True
    )
    assert TRIAGE.decide_now("actually he is a man", view).kind is Kind.CASE


def test_a_group_of_patients_in_a_question_is_no_patient() -> None:
    view = SessionView(kind="evidence", question="偏头痛预防首选什么药？")
    assert TRIAGE.decide_now("哮喘患者可以用吗？", view).kind is Kind.EVIDENCE
    assert TRIAGE.decide_now("患者男，65岁，突发胸痛，是什么病？", SessionView()).kind is Kind.CASE
