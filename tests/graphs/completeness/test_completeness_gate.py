"""The gate: labels, both scores, thresholds, missing information, and decisions on real and made-up cases."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pydantic import ValidationError

from graphs.completeness.contract import Decision, GateDecision, Label
from graphs.completeness.labels import KINDS, coverage, units
from graphs.completeness.local import CompletenessGateLocal
from graphs.completeness.score import GateSettings, decide, information_score
from prompts.errors import DataError
from support.ranked import ranked
from tools.contract import Differential, Finding
from tools.encoders import Encoder
from tools.knowledge_graph.lookup import KnowledgeGraph

RICH = (
    "22M, sudden stabbing pain on the right side of the chest yesterday evening while sitting, worse on breathing in, "
    "and short of breath since. No fever, no cough, no leg swelling. Smokes ten a day, no past illness. "
    "O/E: RR 22, SpO2 94%, reduced air entry on the right."
)
VAGUE = "I don't feel well. My stomach is sore."


def differential(margin: float, entropy: float, *findings: Finding) -> Differential:
    first = ranked("gerd", 0.5 + margin / 2, name="Acid reflux", findings_for=("heartburn",))
    return Differential(findings=findings, ranking=(first,), margin=margin, entropy=entropy)


UNCLEAR = differential(0.02, 5.5)
CLUSTER = (
    "38M, nightly severe left sided head pain for 12 days, boring in behind the left eye, 45 to 90 minutes, then gone. "
    "During attacks the left eye waters and goes red, the nostril blocks and the eyelid droops. He paces the room. "
    "No fever, no neck stiffness."
)


def assess(
    text: str, look: Differential | None, kind: str = "case", settings: GateSettings | None = None
) -> GateDecision:
    return asyncio.run(CompletenessGateLocal(settings).assess(text, kind, look))


@pytest.fixture(scope="module")
def graph(encoder: Encoder, built_home: Path) -> KnowledgeGraph:
    return KnowledgeGraph(encoder, built_home / "indexes")


def judged(
    graph: KnowledgeGraph, text: str, language: str = "en", settings: GateSettings | None = None
) -> GateDecision:
    return assess(text, graph.look_up(text, language), settings=settings)


def test_a_complete_case_with_a_clear_lead_goes_direct_and_says_on_what_it_rests(graph: KnowledgeGraph) -> None:
    decision = judged(graph, CLUSTER)
    assert decision.decision is Decision.DIRECT
    assert decision.score > decision.theta1
    assert "Cluster headache is right (it was in " in decision.reason


def test_what_two_diseases_may_be_retrieves(graph: KnowledgeGraph) -> None:
    """Myocardial infarction and unstable angina share what is told here."""
    text = "58M, crushing central chest pain spreading to his left arm for 40 minutes, sweating. High blood pressure."
    assert judged(graph, text).decision is not Decision.DIRECT


def test_without_a_leading_diagnosis_nothing_goes_direct() -> None:
    for look in (None, Differential()):
        decision = assess(RICH, look)
        assert (decision.decision, decision.score) == (Decision.RETRIEVE_WITH_WARNING, 0)
        assert "no diagnosis leads" in decision.reason


@pytest.mark.parametrize("text", [VAGUE, "头痛两天。", "I have a cough.", "胸口不舒服。"])
def test_a_few_vague_words_retrieve_with_a_warning_and_a_question(graph: KnowledgeGraph, text: str) -> None:
    decision = judged(graph, text, "zh" if text[0] > "z" else "en")
    assert decision.decision is Decision.RETRIEVE_WITH_WARNING
    assert decision.missing
    assert decision.question.endswith(("?", "？", "）", ")"))


def test_a_lower_risk_asks_for_a_higher_probability() -> None:
    thresholds = [GateSettings(risk=risk).thresholds[0] for risk in (0.2, 0.1, 0.05, 0.03)]
    assert thresholds == sorted(thresholds)
    assert thresholds[0] < thresholds[-1] < 1
    assert GateSettings(risk=1e-6).thresholds[0] == 1  # no calibration case can show so little
    assert GateSettings(risk=1e-6, theta1=0.7).thresholds == (0.7, 0.4)


def test_a_damaged_calibration_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"names": []}', encoding="utf-8")
    for name in ("bad.json", "none.json"):
        with pytest.raises(DataError, match=name):
            CompletenessGateLocal(GateSettings(calibration=tmp_path / name))


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


def test_letters_within_a_word_are_no_test_and_characters_of_a_unit_no_course() -> None:
    assert units("My doctor lives nearby. I actually like football.", None)[0].label is Label.C
    assert coverage("She had a CT of the chest.", 0, 0).stated["tests"] == 1
    stated = coverage("胸痛3小时，心前区，程度一般", 1, 0).stated
    assert (stated["course"], stated["onset"], stated["tests"]) == (0, 0, 0)
    assert coverage("三天前开始，走路时加重，体温38度", 1, 0).stated["tests"] == 1


def test_a_denied_finding_against_the_leader_decides_and_is_told_as_denied() -> None:
    denied = Finding(id="fever", name="fever", clause="no fever", present=False, score=0.3, start=0, end=8)
    look = differential(0.5, 1, denied)
    against = look.ranking[0].model_copy(update={"findings_for": (), "findings_against": ("no fever",)})
    labelled = units("No fever.", look.model_copy(update={"ranking": (against,)}))[0]
    assert (labelled.label, labelled.reason) == (Label.A, "denies fever")


def test_nothing_is_answered_directly_where_a_warning_is_due() -> None:
    theta1, theta2 = GateSettings(risk=0.3).thresholds
    assert theta1 >= theta2 == 0.4


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
    with pytest.raises(ValidationError, match="risk"):
        GateSettings(risk=0)
    with pytest.raises(ValidationError, match="method"):
        GateSettings(method="mine")  # type: ignore[arg-type]


def test_no_text_raises() -> None:
    assert assess("", None).decision is Decision.RETRIEVE_WITH_WARNING
    assert assess("？？？", None).units
