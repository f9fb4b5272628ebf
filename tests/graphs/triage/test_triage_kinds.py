"""Kinds of turn, against the collections and by hand."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from graphs.triage.contract import Kind, SessionView, TriageDecision
from graphs.triage.local import TriageLocal
from support.written import rows
from tools.knowledge_graph.loader import STARTER, read_graph
from tools.knowledge_graph.names import Names

TRIAGE = TriageLocal()


def decide(text: str, **session: Any) -> TriageDecision:
    return asyncio.run(TRIAGE.decide(text, SessionView(**session)))


def asked(row: dict[str, Any]) -> str:
    return str(row["text"]) + "".join(f"\n{k}) {v}" for k, v in row.get("options", {}).items())


def test_kinds_of_the_question_collection() -> None:
    wrong = [(r["id"], k) for r in rows("questions") if (k := decide(asked(r)).kind) != r["kind"]]
    assert len(wrong) <= 1, wrong


def test_options_and_stems_of_the_collection_come_back_whole() -> None:
    for row in rows("questions"):
        if row["kind"] == "multiple_choice":
            decision = decide(asked(row))
            assert decision.options == row["options"]
            assert decision.question == row["text"]


def test_every_case_of_the_collection_is_a_case_and_stands_whole() -> None:
    for row in rows("differential"):
        decision = decide(row["text"])
        assert decision.kind is Kind.CASE, row["id"]
        assert decision.question == decision.case == row["text"].strip()


def test_what_to_decline_is_told_from_questions_without_evidence() -> None:
    for row in rows("decline"):
        wanted = "evidence" if row["kind"] == "no_evidence" else row["kind"]
        assert decide(row["text"]).kind == wanted, row["id"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("fever, cough and sore throat for three days", Kind.CASE),
        ("45F with a swollen right knee", Kind.CASE),
        ("Why do I have chest pain when I breathe in?", Kind.CASE),
        ("我有点头痛，昨晚没睡好", Kind.CASE),
        ("64M, on rivaroxaban, black stools since this morning, BP 108/60, HR 104, Hb 95. What now?", Kind.CASE),
        ("My mum has breast cancer. What are the options?", Kind.EVIDENCE),
        ("How do I know if I am having a stroke?", Kind.EVIDENCE),
        ("Who made you, and are you a doctor?", Kind.ASSISTANT),
        ("What rare disease could a 4-year-old girl have: fits, a small head, hand-wringing?", Kind.CASE),
        ("Which rare disease causes fits, a small head and hand-wringing?", Kind.EVIDENCE),
        ("What causes chest pain on breathing in?", Kind.EVIDENCE),
        ("treatment of migraine in pregnancy", Kind.EVIDENCE),
        ("Is it safe to take ibuprofen with blood pressure tablets?", Kind.EVIDENCE),
        ("My grandfather had a stroke. How often should I have my cholesterol checked?", Kind.EVIDENCE),
        ("如何预防中风？", Kind.EVIDENCE),
        ("Does zintrol reduce relapses better than placebo?", Kind.EVIDENCE),
        ("ok great, thank you so much!", Kind.SMALL_TALK),
        ("Who are you?", Kind.ASSISTANT),
        ("早上好", Kind.SMALL_TALK),
        ("Write a poem about asthma", Kind.OUT_OF_SCOPE),
        ("What is the capital? A. Paris B. London", Kind.OUT_OF_SCOPE),
        ("Translate this contract into French", Kind.OUT_OF_SCOPE),
        ("明天的天气怎么样？", Kind.OUT_OF_SCOPE),
        ("sacubitril", Kind.EVIDENCE),  # a bare name is searched
        ("Where do your sources come from?", Kind.ASSISTANT),
        ("你的资料可靠吗，从哪里来的？", Kind.ASSISTANT),
    ],
)
def test_kinds_by_hand(text: str, kind: Kind) -> None:
    assert decide(text).kind is kind


@pytest.mark.parametrize(
    "text", ["", "   ", "?", "🙂", "\x00\n\t", "A)", "((((", "no", "是" * 5000, "{" * 2000, "a) b) c)"]
)
def test_no_text_raises(text: str) -> None:
    decision = decide(text)
    assert decision.reason
    assert decision.language in ("en", "zh")


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("Do antibiotics help in bronchitis?", True),
        ("In a COPD exacerbation, is a five-day course as good as a longer course?", True),
        ("普通感冒需要使用抗生素吗?", True),
        ("高流量吸氧能否终止丛集性头痛?", True),
        ("Pink eye from a virus - will antibiotic drops speed it up?", True),
        ("Is it true that statins help when they are taken at night?", True),
        ("So children with croup need not stay in hospital, right?", True),
        ("Any role for antibiotics in bronchitis?", True),
        ("Sumatriptan is approved for which disease?", False),
        ("A statin for a man of 80, and which one?", False),
        ("How effective is dexamethasone in croup?", False),
        ("Does PSA screening lower mortality, and what are the harms?", False),
        ("Is warfarin or apixaban better for atrial fibrillation?", False),
        ("如何治疗丛集性头痛?", False),
    ],
)
def test_closed_questions(text: str, closed: bool) -> None:
    assert decide(text).closed is closed


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("Which drug? A) aspirin B) warfarin C) heparin", {"A": "aspirin", "B": "warfarin", "C": "heparin"}),
        ("Which drug?\n(A) aspirin\n(B) warfarin", {"A": "aspirin", "B": "warfarin"}),
        ("Which drug? a) aspirin b) warfarin", {"A": "aspirin", "B": "warfarin"}),
        ("哪种药首选?A、阿司匹林 B、华法林", {"A": "阿司匹林", "B": "华法林"}),
        ('Which drug? {"A": "aspirin", "B": "warfarin"}', {"A": "aspirin", "B": "warfarin"}),
        ("Which drug? {'A': 'aspirin', 'B': 'warfarin'}", {"A": "aspirin", "B": "warfarin"}),
        ("Which drug?\nA: aspirin\nB: warfarin", {"A": "aspirin", "B": "warfarin"}),
    ],
)
def test_forms_of_options(text: str, options: dict[str, str]) -> None:
    decision = decide(text)
    assert decision.kind is Kind.MULTIPLE_CHOICE
    assert decision.options == options
    assert "aspirin" not in decision.question
    assert "阿司匹林" not in decision.question


def test_letters_in_prose_are_no_options() -> None:
    assert decide("Hepatitis A. My B cells are low and I have had a fever for 2 days").options == {}


@pytest.mark.parametrize(
    "text",
    [
        "8 days blocked nose with an aching face, no complications. Do I have to have my sinuses X-rayed?",
        "On carbimazole, woke with a sore throat and a temperature. Do I really need a blood test today?",
        "Mammogram clear three months ago, now I feel a lump. Do I still need to get it checked?",
    ],
)
def test_a_closed_question_about_a_patient_is_one_of_evidence_asked_as_written(text: str) -> None:
    decision = decide(text)
    assert decision.kind is Kind.EVIDENCE
    assert decision.question == text
    assert decision.closed


def test_an_emergency_is_told_whatever_is_asked_of_it() -> None:
    decision = decide("My husband's face has dropped on one side and he cannot lift his arm. Does he need a scan?")
    assert decision.kind is Kind.CASE
    assert [f.code for f in decision.red_flags] == ["stroke"]


def test_an_emergency_without_other_words_is_a_case() -> None:
    decision = decide("please help, she is choking on a grape")
    assert decision.kind is Kind.CASE
    assert [f.code for f in decision.red_flags] == ["airway"]


def test_an_examinations_patient_is_nobody_where_the_options_are_given_beside_the_question() -> None:
    text = "A 19-year-old girl has hives all over, is wheezing and feels faint minutes after a bee sting. What now?"
    exam = decide(text, options=True)
    assert (exam.kind, exam.red_flags, exam.facts) == (Kind.MULTIPLE_CHOICE, (), ())
    assert decide(text).red_flags
    own = decide("I have hives all over, I'm wheezing and feel faint after a bee sting. What now?", options=True)
    assert own.red_flags, "who tells of himself is somebody"


@pytest.mark.parametrize(
    "ends",
    ["What is the most likely diagnosis and which test shows it?", "What is the likeliest cause, and what then?"],
)
def test_a_patient_of_whom_is_asked_what_it_is_is_a_case(ends: str) -> None:
    told = (
        "72-year-old man, muddled and weak for five days since sertraline was added to bendroflumethiazide, no fever."
    )
    assert decide(f"{told} {ends}").kind is Kind.CASE


NAMED = [
    ("A 30-year-old woman with palpitations, weight loss and tremor. Is it an overactive thyroid?", Kind.CASE),
    ("A 33-year-old woman has lost weight, sweats and shakes. Does she have hyperthyroidism?", Kind.CASE),
    ("58M with a painful big toe, red and hot since last night. Does he have gout?", Kind.CASE),
    ("45岁女性，乏力、怕冷、体重增加。是不是甲减？", Kind.CASE),
    ("45岁女性，乏力、怕冷、体重增加。甲减能吃碘盐吗？", Kind.EVIDENCE),
    ("My father is 70 and has a swollen red knee with fever. Can he take ibuprofen for it?", Kind.EVIDENCE),
    ("50M with gout in the toe. Is gout likely to come back?", Kind.EVIDENCE),
    ("She is 28 and 12 weeks pregnant with a cough. Is it dangerous in pneumonia?", Kind.EVIDENCE),
    ("Is chest pain on exertion likely to be angina?", Kind.EVIDENCE),
]


@pytest.mark.parametrize(("text", "kind"), NAMED)
def test_whether_a_patient_has_what_a_question_names_is_a_case_for_a_model(text: str, kind: Kind) -> None:
    diseases = Names(read_graph(STARTER)).diseases_in
    decision = TriageLocal(diseases=diseases, hypotheses=True).decide_now(text, SessionView())
    assert decision.kind is kind
    if "Can he take" in text:
        assert "swollen red knee" in decision.case, "the patient goes along"


def test_without_a_model_it_is_what_it_was() -> None:
    text, _ = NAMED[0]
    assert TriageLocal(diseases=Names(read_graph(STARTER)).diseases_in).decide_now(text, SessionView()).closed
