"""When an answer asks for a clinician's review, and, as much, when it does not."""

from __future__ import annotations

from typing import Any

import pytest

from graphs.answering.contract import Answer, Choice, Risk
from graphs.reviewing.asking import review_reasons, with_review
from graphs.triage.contract import RedFlag
from support.answerers import differential
from tools.evidence import Evidence, Origin, Statement, Status, cite

ADULT = "A 45-year-old woman with pain in the right knee for two weeks. Not pregnant. Had asthma as a child."


def answer_of(*told: str, kind: str = "evidence", question: str = "Does it help?", **more: Any) -> Answer:
    status = more.pop("status", Status.OK)
    evidence = [
        Evidence(id=f"library:d{n}@0-{len(t)}", text=t, kind="passage", origin=Origin.RETRIEVED, status=status)
        for n, t in enumerate(told)
    ]
    statements = [Statement(text=e.text, origin=e.origin, citations=(cite(e, 0, len(e.text)),)) for e in evidence]
    language = more.pop("language", "en")
    return Answer(
        question=question, kind=kind, language=language, **{"statements": statements, "evidence": evidence, **more}
    )


def codes(answer: Answer, case: str = "") -> list[Risk]:
    return [r.code for r in review_reasons(answer, case)]


PARAMETRIC = Statement(text="It is so.", origin=Origin.PARAMETRIC)
FLAG = RedFlag(code="stroke", seen="face droops", advice="Call.")


@pytest.mark.parametrize(
    ("answer", "case", "risk"),
    [
        (answer_of("Rest.", kind="case", emergency=[FLAG]), ADULT, Risk.EMERGENCY),
        (answer_of(kind="out_of_scope", emergency=[FLAG]), "", Risk.EMERGENCY),
        (answer_of("Give chewed aspirin 300 mg.", kind="case"), ADULT, Risk.MEDICINE),
        (answer_of("Paracetamol 1 g four times a day helps."), ADULT, Risk.MEDICINE),  # asked of the leading diagnosis
        (answer_of("Salbutamol, 2 puffs, may be repeated.", kind="case"), ADULT, Risk.MEDICINE),
        (answer_of("Stop the warfarin at once.", kind="case"), ADULT, Risk.MEDICINE),
        (answer_of("Metformin should be withheld.", kind="case"), ADULT, Risk.MEDICINE),
        (answer_of("Start treatment with colchicine.", kind="explain"), ADULT, Risk.MEDICINE),
        (answer_of("口服阿司匹林300毫克。", kind="case", language="zh"), "女，45岁，右膝痛。", Risk.MEDICINE),
        (answer_of("It is 300 mg.", question="What is the dose of aspirin in stroke?"), "", Risk.MEDICINE),
        (answer_of("It is taken daily.", question="How often is metformin taken?"), "", Risk.MEDICINE),
        (answer_of("See a doctor.", kind="explain", question="What dose of colchicine?"), ADULT, Risk.MEDICINE),
        (answer_of("应立即停药。", kind="case", language="zh"), "女，45岁，右膝痛。", Risk.MEDICINE),
        (answer_of(statements=[PARAMETRIC]), "", Risk.UNSUPPORTED),
        (
            answer_of(choice=Choice(label="A", text="Gout", reason="", parametric=True)),
            "",
            Risk.UNSUPPORTED,
        ),
        (answer_of("It helps.", status=Status.CONCERN), "", Risk.CONCERN),
        (answer_of("It helps.", kind="case"), "A 30-year-old woman, 20 weeks pregnant, with a cough.", Risk.PREGNANCY),
        (answer_of("It helps.", question="Is ibuprofen safe in pregnancy?"), "", Risk.PREGNANCY),
        (answer_of("It helps.", kind="case", language="zh"), "女，30岁，怀孕20周，咳嗽。", Risk.PREGNANCY),
        (answer_of("It helps.", kind="case"), "A 6-month-old boy with a barking cough.", Risk.CHILD),
        (answer_of("It helps.", kind="case"), "My son has had a barking cough since last night.", Risk.CHILD),
        (answer_of("It helps.", kind="case"), "My mother noticed that my son limps.", Risk.CHILD),
        (answer_of("It helps.", kind="case"), "Hello, our little girl has had a rash since Monday.", Risk.CHILD),
        (answer_of("It helps.", kind="case"), "Hello doctor, my wife is pregnant and has a cough.", Risk.PREGNANCY),
        (answer_of("It helps.", question="Does dexamethasone help children with croup?"), "", Risk.CHILD),
        (answer_of("It helps.", question="For how long is amoxicillin taken in tonsillitis?"), "", Risk.MEDICINE),
        (answer_of("It helps.", kind="case", language="zh"), "男孩，3岁，咳嗽两天。", Risk.CHILD),
    ],
)
def test_each_risk_asks_and_says_which(answer: Answer, case: str, risk: Risk) -> None:
    assert codes(answer, case) == [risk]


@pytest.mark.parametrize(
    ("answer", "case"),
    [
        (answer_of("It helps."), ""),
        (answer_of("Rest.", kind="case"), "I am 30 and had my baby 9 days ago, my breast is sore."),
        (answer_of("Rest and ice help.", kind="case"), ADULT),
        (answer_of("Aspirin 300 mg lowers the risk of stroke.", question="Does aspirin help in stroke?"), ""),
        (answer_of("Stop smoking and start walking.", kind="case"), ADULT),
        (answer_of("Aspirin stops bleeding no sooner.", kind="case"), ADULT),
        (answer_of("Glucose was 126 mg/dl, haemoglobin 12 g/dl, creatinine 90 ml/min.", kind="case"), ADULT),
        (answer_of("It helps.", kind="case"), "A 45-year-old man with a cough. His wife is pregnant. No children."),
        (answer_of("Rest.", kind="case"), "An old lady has been confused since yesterday, her daughter reports."),
        (answer_of("Rest.", kind="case"), "Seventy-nine years old woman, daughter reports confusion."),
        (answer_of("Rest.", kind="case"), "My period is late. I did a pregnancy test and it was negative."),
        (answer_of("It helps.", status=Status.CORRECTED), ""),
        (answer_of("Once a year.", question="How often should blood pressure be measured?"), ""),
        (answer_of("Rest.", kind="case", question=f"{ADULT} She takes a low dose of aspirin."), ADULT),
        (answer_of("It helps.", question="Does childbirth pain respond to gas?"), ""),
        (answer_of(abstained=True, question="What dose of aspirin for a child?"), ""),
        (answer_of(kind="small_talk", question="hello, my son"), ADULT),
    ],
)
def test_what_is_no_risk_asks_nothing(answer: Answer, case: str) -> None:
    assert codes(answer, case) == []
    assert with_review(answer, case) == answer


def test_a_severe_leading_diagnosis_of_a_case_asks() -> None:
    ranking = list(differential().ranking)
    severe = ranking[0].model_copy(update={"severity": "urgent"})
    mild = ranking[0].model_copy(update={"severity": "routine"})
    assert codes(answer_of("Rest.", kind="case", differential=[severe, *ranking[1:]]), ADULT) == [Risk.EMERGENCY]
    assert codes(answer_of("Rest.", kind="case", differential=[mild, severe]), ADULT) == []


def test_evidence_under_concern_that_nothing_cites_asks_nothing() -> None:
    beside = Evidence(id="pubmed:1@0-2", text="No", kind="abstract", origin=Origin.RETRIEVED, status=Status.CONCERN)
    answer = answer_of("It helps.")
    assert codes(answer.model_copy(update={"evidence": [*answer.evidence, beside]})) == []


@pytest.mark.parametrize(("language", "words"), [("en", "a child"), ("zh", "儿童")])
def test_the_notice_names_every_reason_in_the_answers_language(language: str, words: str) -> None:
    answer = answer_of("It helps.", "Give 5 mg.", kind="case", language=language, emergency=[FLAG])
    asked = with_review(answer, "A 3-year-old girl with a cough.")
    (notice,) = asked.notices
    assert notice.code == "clinician_review"
    assert words in notice.text
    assert [r.code for r in asked.review_reasons] == [Risk.EMERGENCY, Risk.MEDICINE, Risk.CHILD]
    assert all(r.text in notice.text for r in asked.review_reasons)


def test_what_the_documents_are_said_to_lack_asks_for_no_review() -> None:
    lack = Statement(text="None of these documents compares the two creams.", origin=Origin.PARAMETRIC)
    assert review_reasons(answer_of(statements=[lack])) == []
    assert review_reasons(answer_of(statements=[lack, PARAMETRIC])) != []
