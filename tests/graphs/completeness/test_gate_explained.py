"""A decision in words: every part of it is told, in both languages, and nothing is told that was not decided."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphs.completeness.contract import Decision, GateDecision, Label, Turning, Unit
from graphs.completeness.explained import brief, explained, sparse_warning
from graphs.completeness.labels import units
from graphs.completeness.local import CompletenessGateLocal
from graphs.completeness.score import GateSettings, decide
from tools.contract import Differential, Finding
from tools.text.language import language_of

TEXT = "Crushing chest pain since noon. I am 60. My cat is well."


def decision(score: float = 0.84, **changes: object) -> GateDecision:
    sentences = ["Crushing chest pain since noon.", "I am 60.", "My cat is well."]
    labels, reasons = (Label.A, Label.B, Label.C), ("states chest pain", "age or sex: 60", "nothing medical")
    fields: dict[str, object] = {
        "decision": decide(score, 0.8, 0.4),
        "score": score,
        "theta1": 0.8,
        "theta2": 0.4,
        "units": tuple(
            Unit(text=t, start=TEXT.index(t), end=TEXT.index(t) + len(t), label=label, reason=why)
            for t, label, why in zip(sentences, labels, reasons, strict=True)
        ),
        "parts": {"coverage": 0.9, "margin": 0.7, "states_onset": 1.0, "brand_new_part": 0.3},
        "missing": ("how it has changed",),
        "turning": Turning(unit=0, decision=Decision.RETRIEVE, score=0.55),
        "question": "Does it come and go?",
        "reason": "as the score says",
    }
    return GateDecision.model_validate({**fields, **changes})


def test_the_whole_tells_every_part_of_the_decision() -> None:
    whole = explained(decision(), "en")
    assert [(u.number, u.label, u.reason, u.turning) for u in whole.units] == [
        (1, "A", "states chest pain", True), (2, "B", "age or sex: 60", False), (3, "C", "nothing medical", False),
    ]  # fmt: skip
    for part in (
        "0.84 is above theta1 0.80; theta2 0.40", "3 sentences: 1 A, 1 B, 1 C",
        "Without sentence 1 (“Crushing chest pain since noon.”) it would retrieve (score 0.55).",
        "what such a case should state 0.90, lead of the first diagnosis 0.70, brand_new_part 0.30",
        "Stated: how it began 100%.", "Missing: how it has changed.", "What would supply it: Does it come and go?",
    ):  # fmt: skip
        assert part in whole.text, part
    assert "states_" not in whole.text
    assert whole.warning == ""


@pytest.mark.parametrize(
    ("score", "english", "chinese"),
    [
        (0.84, "is above theta1 0.80", "高于 theta1 0.80"),
        (0.8, "between theta2 0.40 and theta1 0.80", "之间"),
        (0.4, "between theta2 0.40 and theta1 0.80", "之间"),
        (0.2, "is below theta2 0.40", "低于 theta2 0.40"),
    ],
)
def test_the_score_stands_against_both_thresholds(score: float, english: str, chinese: str) -> None:
    assert english in explained(decision(score), "en").verdict
    assert chinese in explained(decision(score), "zh").verdict
    assert ("critical information is sparse" in explained(decision(score), "en").verdict) == (score < 0.4)


def test_below_theta2_misdiagnosis_is_warned_of_in_both_languages() -> None:
    low = decision(0.2, missing=("A", "B"))
    assert sparse_warning(low, "en").text == explained(low, "en").warning
    assert "wrong diagnosis is possible. Missing: A, B." in sparse_warning(low, "en").text
    assert "可能误诊。缺少：A、B。" in explained(low, "zh").warning
    assert explained(decision(0.5), "en").warning == explained(decision(0.9), "zh").warning == ""


def test_brief_is_two_lines_at_most_and_tells_what_the_next_step_needs() -> None:
    direct, more, sparse = (brief(decision(s), "en") for s in (0.84, 0.6, 0.2))
    assert len(direct) == len(more) == len(sparse) == 2
    assert direct[0] == "Enough was told to answer without a search."
    assert direct[1] == "Without “Crushing chest pain since noon” evidence would have been looked up."
    assert "theta" not in " ".join((*direct, *more, *sparse)), "numbers and labels are for who asks for the whole"
    assert more[1] == "Missing: how it has changed. What would supply it: Does it come and go?"
    assert sparse[1] == "What would supply it: Does it come and go?"  # the notice tells what is missing
    assert len(brief(decision(turning=None), "en")) == 1


def test_a_decision_that_no_score_made_tells_its_reason_instead() -> None:
    gate = CompletenessGateLocal()
    evidence = asyncio.run(gate.assess("Do antibiotics help in bronchitis?", "evidence", None))
    assert brief(evidence, "en") == ("A question about no particular patient is answered from evidence.",)
    assert "问题不涉及具体患者" in brief(evidence, "zh")[0]
    off = asyncio.run(CompletenessGateLocal(GateSettings(method="direct")).assess("I cough.", "case", None))
    assert "switched off" in brief(off, "en")[0]
    assert "判断已关闭" in brief(off, "zh")[0]


def test_a_models_own_reason_is_told() -> None:
    judged = decision(0.6, parts={"verdict": 0.6}, reason="the model judges: no duration was told")
    assert "the model judges: no duration was told" in explained(judged, "en").text


def test_a_turning_unit_that_is_not_there_is_left_out() -> None:
    assert explained(decision(turning=Turning(unit=9, decision=Decision.RETRIEVE, score=0.1)), "en").turning == ""


@given(score=st.floats(0, 1), theta1=st.floats(0.41, 0.99), theta2=st.floats(0.01, 0.4))
def test_a_score_beside_a_threshold_is_never_shown_as_the_same_number(
    score: float, theta1: float, theta2: float
) -> None:
    made = decision(score, theta1=theta1, theta2=theta2, decision=decide(score, theta1, theta2))
    told = explained(made, "en").verdict
    for near in (theta1, theta2):
        if abs(score - near) > 2e-4:
            assert not (f"score {near:.2f} " in told and f" {near:.2f};" in told)


def test_reasons_of_labels_speak_the_language_of_the_case() -> None:
    text = "男，41岁。右腹疼痛两天，没有发烧。他喜欢下棋。"
    look = Differential(
        findings=(Finding(id="fever", name="发热", clause="没有发烧", start=14, end=18, present=False, score=0.9),)
    )
    told = [u.reason for u in units(text, look)]
    assert told == ["年龄或性别：男", "否认发热", "与诊断无关"]
    assert all(language_of(r) == "zh" for r in told)
    assert next(u.reason for u in units("I cough. No fever.", None)) == "a complaint: cough"
