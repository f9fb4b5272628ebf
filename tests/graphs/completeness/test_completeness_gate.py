"""The gate: labels, both scores, thresholds, missing information, and decisions on real and made-up cases."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from graphs.completeness.contract import Decision, GateDecision, Label
from graphs.completeness.information import KINDS, coverage
from graphs.completeness.labels import units
from graphs.completeness.local import CompletenessGateLocal
from graphs.completeness.score import GateSettings, decide, information_score, margin_part, our_score
from tools.contract import Differential, Finding, RankedDisease

CASES = Path(__file__).parents[2] / "cases"
RICH = (
    "22M, sudden stabbing pain on the right side of the chest yesterday evening while sitting, worse on breathing in, "
    "and short of breath since. No fever, no cough, no leg swelling. Smokes ten a day, no past illness. "
    "O/E: RR 22, SpO2 94%, reduced air entry on the right."
)
VAGUE = "I don't feel well. My stomach is sore."


def differential(margin: float, entropy: float, *findings: Finding) -> Differential:
    first = RankedDisease(
        disease="gerd", name="Acid reflux", icd10="K21.9", l2="a", l1="b", score=0.5 + margin / 2, severity="routine",
        findings_for=("heartburn",), evidence_id="graph:starter/gerd",
    )  # fmt: skip
    return Differential(findings=findings, ranking=(first,), margin=margin, entropy=entropy)


CLEAR, UNCLEAR = differential(0.9, 0.3), differential(0.02, 5.5)


def assess(
    text: str, look: Differential | None, kind: str = "case", settings: GateSettings | None = None
) -> GateDecision:
    return asyncio.run(CompletenessGateLocal(settings).assess(text, kind, look))


def test_a_rich_case_with_a_clear_lead_goes_direct() -> None:
    decision = assess(RICH, CLEAR)
    assert decision.decision is Decision.DIRECT
    assert decision.score > decision.theta1


def test_a_rich_case_without_a_lead_retrieves_without_warning() -> None:
    assert assess(RICH, UNCLEAR).decision is Decision.RETRIEVE
    assert assess(RICH, None).decision is Decision.RETRIEVE


def test_two_vague_sentences_retrieve_with_a_warning_even_with_a_lead() -> None:
    assert assess(VAGUE, UNCLEAR).decision is Decision.RETRIEVE_WITH_WARNING
    assert assess("头痛两天。", UNCLEAR).decision is Decision.RETRIEVE_WITH_WARNING
    assert assess(VAGUE, CLEAR).decision is not Decision.DIRECT


def test_cases_of_the_collection_state_most_of_what_they_should() -> None:
    rows = yaml.safe_load((CASES / "differential.yaml").read_text(encoding="utf-8"))
    low = [(r["id"], p) for r in rows if (p := assess(r["text"], CLEAR).parts["coverage"]) < 0.75]
    assert low == []
    assert all(assess(r["text"], CLEAR).decision is Decision.DIRECT for r in rows)


def test_taking_information_away_never_raises_our_score() -> None:
    sentences = RICH.split(". ")
    scores = [assess(". ".join(sentences[:n]), CLEAR).score for n in range(len(sentences), 0, -1)]
    assert scores == sorted(scores, reverse=True)


def test_the_published_score_rises_when_unimportant_sentences_go() -> None:
    settings = GateSettings(method="published")
    with_chat = assess("I have a headache. My cat is called Tom.", None, settings=settings)
    without = assess("I have a headache.", None, settings=settings)
    assert without.score > with_chat.score  # the trap of dividing by n
    assert with_chat.score == with_chat.parts["i_norm"]


def test_questions_about_no_patient_retrieve_and_say_why() -> None:
    for kind in ("evidence", "multiple_choice"):
        decision = assess("Do antibiotics help in bronchitis?", None, kind)
        assert decision.decision is Decision.RETRIEVE
        assert "no particular patient" in decision.reason
        assert decision.missing == ()


def test_what_is_missing_is_named_most_useful_first_in_the_language() -> None:
    decision = assess("I have a headache. It hurts.", None)
    assert decision.missing[0] == "how long it has lasted"
    assert "the main complaint" not in decision.missing
    assert "symptoms that are absent" in decision.missing
    assert "起病方式" in assess("头痛两天。", None).missing
    assert "持续时间" not in assess("头痛两天。", None).missing


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("for three days", "duration"), ("3/52 of it", "duration"), ("两周", "duration"),
        ("in my left knee", "site"), ("右膝", "site"),
        ("it came on all of a sudden", "onset"), ("突然", "onset"),
        ("worse at night", "course"), ("夜间加重", "course"),
        ("PMH asthma", "history"), ("既往体健", "history"),
        ("BP 120/80", "tests"), ("体温38度", "tests"),
    ],
)  # fmt: skip
def test_kinds_of_information_are_recognised(text: str, name: str) -> None:
    assert coverage(text, 0, 0).stated[name] == 1
    assert coverage("hello there", 0, 0).stated[name] == 0


def test_age_and_sex_count_half_each() -> None:
    assert coverage("45F with a cough", 1, 0).stated["person"] == 1
    assert coverage("I'm 45 and have a cough", 1, 0).stated["person"] == 0.5
    assert coverage("女,45岁,咳嗽", 1, 0).stated["person"] == 1


def test_weights_of_kinds_sum_to_one() -> None:
    assert sum(kind.weight for kind in KINDS) == pytest.approx(1)


def test_answers_to_our_questions_raise_coverage() -> None:
    answers = tuple(Finding(id=f"f{i}", name=f"f{i}", clause="no", present=False) for i in range(2))
    plain = assess(VAGUE, UNCLEAR).parts["states_negatives"]
    assert assess(VAGUE, differential(0.02, 5.5, *answers)).parts["states_negatives"] > plain


def test_labels_and_their_characters() -> None:
    text = "I have a sharp chest pain. It is on the left since Monday. My cat is called Tom."
    labelled = units(text, None)
    assert [u.label for u in labelled] == [Label.A, Label.B, Label.C]
    assert all(text[u.start : u.end] == u.text for u in labelled)
    assert labelled[0].reason == "a complaint: pain"


def test_a_finding_of_the_leading_disease_makes_its_sentence_critical() -> None:
    text = "Something burns after supper."
    finding = Finding(id="heartburn", name="heartburn", clause="burns after supper", score=0.3, start=10, end=28)
    assert units(text, None)[0].label is not Label.A
    labelled = units(text, differential(0.5, 1, finding))[0]
    assert (labelled.label, labelled.reason) == (Label.A, "states heartburn")


def test_the_equation_of_the_paper() -> None:
    settings = GateSettings(alpha=2, beta=1, gamma=0.5)
    labels = [Label.A, Label.B, Label.C, Label.C]
    assert information_score(labels, settings) == pytest.approx((2 + 1 + 0.5 + 0.5) / (2 * 4))
    assert information_score([], settings) == 0


def test_thresholds_equality_retrieves() -> None:
    assert decide(0.81, 0.8, 0.4) is Decision.DIRECT
    assert decide(0.8, 0.8, 0.4) is Decision.RETRIEVE
    assert decide(0.4, 0.8, 0.4) is Decision.RETRIEVE
    assert decide(0.39, 0.8, 0.4) is Decision.RETRIEVE_WITH_WARNING


def test_settings_refuse_what_makes_no_sense() -> None:
    with pytest.raises(ValidationError, match="theta1"):
        GateSettings(theta1=0.3, theta2=0.3)
    with pytest.raises(ValidationError, match="sum to 1"):
        GateSettings(coverage_weight=0.9)


def test_our_score_is_between_zero_and_one() -> None:
    settings = GateSettings()
    assert our_score({"coverage": 1, "margin": 1, "entropy": 1}, settings) == pytest.approx(1)
    assert our_score({"coverage": 0, "margin": 0, "entropy": 0}, settings) == 0
    assert margin_part(None, settings) == 0
    assert margin_part(differential(1.0, 0), settings) == 1


def test_no_text_raises() -> None:
    assert assess("", None).decision is Decision.RETRIEVE_WITH_WARNING
    assert assess("？？？", None).units
