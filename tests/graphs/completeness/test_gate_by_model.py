"""One contract for both gates, by rules and by a model over a real socket; its labels, its verdict, its limits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator

import pytest

from graphs.completeness.by_model import THRESHOLDS, CompletenessGateByModel
from graphs.completeness.contract import CompletenessGate, Decision, GateDecision, Label
from graphs.completeness.local import CompletenessGateLocal
from graphs.completeness.score import GateSettings, decide, information_score
from prompts.metering import Meter, metered
from support.planning_tools import model_at
from support.scripted_model import Scripted, ScriptedModel, serving

CASE = "46M with burning behind the breastbone after meals for months. No weight loss. His cat is called Tom."
VAGUE = "I don't feel well."
QUESTION = "Does dexamethasone help in croup?"
LABELS = [{"number": 1, "label": "A"}, {"number": 2, "label": "B"}, {"number": 3, "label": "C"}]


def said(verdict: str = "more", **more: object) -> Scripted:
    return Scripted(json.dumps({"labels": LABELS, "verdict": verdict, "missing": ["the age"], "reason": "so", **more}))


@pytest.fixture
def server() -> Iterator[ScriptedModel]:
    with serving(said()) as running:
        yield running


Make = Callable[[GateSettings], CompletenessGate]


@pytest.fixture(params=["local", "model", "pure", "strange model", "model fails"])
def make(request: pytest.FixtureRequest, server: ScriptedModel) -> Make:
    server.script[:] = {
        "strange model": [said("enough", labels=[{"number": 77, "label": "a."}, {"number": -1, "label": "B"}])],
        "model fails": [Scripted(status=500, body="oops")],
    }.get(request.param, [said()])

    def gate(settings: GateSettings) -> CompletenessGate:
        local = CompletenessGateLocal(settings)
        if request.param == "local":
            return local
        model = model_at(server.url, "gate")
        return CompletenessGateByModel(model, local, settings, pure=request.param == "pure")

    return gate


def assess(gate: CompletenessGate, text: str = CASE, kind: str = "case") -> GateDecision:
    return asyncio.run(gate.assess(text, kind, None))


def by_model(
    server: ScriptedModel, answer: Scripted, *, pure: bool = False, **settings: object
) -> CompletenessGateByModel:
    server.script[:] = [answer]
    made = GateSettings(**settings)  # type: ignore[arg-type]
    return CompletenessGateByModel(model_at(server.url, "gate"), CompletenessGateLocal(made), made, pure=pure)


@pytest.mark.parametrize("method", ["ours", "published"])
@pytest.mark.parametrize("text", [CASE, VAGUE, "男,45岁,咳嗽三天。没有发烧。", "?!", "x " * 5000])
def test_a_decision_follows_from_its_score_and_its_units_are_slices(make: Make, method: str, text: str) -> None:
    settings = GateSettings(method=method)
    decision = assess(make(settings), text)
    due = THRESHOLDS if "verdict" in decision.parts else settings.thresholds
    assert (decision.theta1, decision.theta2) == due
    assert 0.0 <= decision.score <= 1.0
    assert decision.decision is decide(decision.score, decision.theta1, decision.theta2)
    assert all(text[u.start : u.end] == u.text for u in decision.units)
    assert decision.reason
    if "i_norm" in decision.parts:
        assert decision.parts["i_norm"] == information_score([u.label for u in decision.units], settings)


def test_a_question_about_no_patient_retrieves_without_asking(server: ScriptedModel) -> None:
    gate = by_model(server, said("enough"))
    assert assess(gate, QUESTION, "evidence") == assess(CompletenessGateLocal(), QUESTION, "evidence")
    assert server.requests == []


def test_the_model_labels_the_sentences_and_its_verdict_decides(server: ScriptedModel) -> None:
    decision = assess(by_model(server, said("enough", missing=["the weight", " "] + ["x" * 200] * 9)))
    assert [u.label for u in decision.units] == [Label.A, Label.B, Label.C]
    assert decision.decision is Decision.DIRECT
    assert decision.missing[0] == "the weight"
    assert len(decision.missing) == 5
    assert max(map(len, decision.missing)) <= 80
    shown = server.requests[0]["messages"][1]["content"]
    assert "\n3. His cat is called Tom.\n" in shown


def test_by_the_published_score_its_labels_decide(server: ScriptedModel) -> None:
    gate = by_model(server, said("sparse", labels=LABELS[:1]), method="published")
    rules = [u.label for u in CompletenessGateLocal().assess_now(CASE, "case", None).units]
    decision = assess(gate)
    assert [u.label for u in decision.units] == [Label.A, *rules[1:]]
    assert decision.score == information_score([u.label for u in decision.units], GateSettings())
    assert decision.decision is not Decision.RETRIEVE_WITH_WARNING


def test_two_vague_words_are_never_enough_except_for_the_bare_comparator(server: ScriptedModel) -> None:
    assert assess(by_model(server, said("enough")), VAGUE).decision is Decision.RETRIEVE


@pytest.mark.parametrize(
    ("verdict", "decision"), [("enough", "direct"), ("more", "retrieve"), ("sparse", "retrieve_with_warning")]
)
def test_the_self_judging_prompt_alone(server: ScriptedModel, verdict: str, decision: str) -> None:
    judged = assess(by_model(server, said(verdict), pure=True), QUESTION, "evidence")
    assert judged.decision == decision
    system, user = (m["content"] for m in server.requests[0]["messages"])
    assert "label" not in system
    assert QUESTION in user


@pytest.mark.parametrize("settings", [{"risk": 0.001}, {"theta1": 1.0}, {"theta1": 0.1, "theta2": 0.0}])
@pytest.mark.parametrize(
    ("verdict", "decision"), [("enough", "direct"), ("more", "retrieve"), ("sparse", "retrieve_with_warning")]
)
def test_no_calibration_binds_a_verdict(
    server: ScriptedModel, settings: dict[str, float], verdict: str, decision: str
) -> None:
    assert assess(by_model(server, said(verdict), **settings)).decision == decision


def test_a_chinese_case_is_judged_in_chinese(server: ScriptedModel) -> None:
    text = "男，45岁，胸骨后烧灼感三个月。无体重下降。家里有一只猫。"
    for made in ({}, {"pure": True}, {"method": "published"}):
        decision = assess(by_model(server, said("enough", reason="已经足够"), **made), text)  # type: ignore[arg-type]
        told = [decision.reason, *(u.reason for u in decision.units)]
        assert all("\u4e00" <= one[0] <= "\u9fff" or one[:6] == "I_norm" for one in told), told
        assert "model" not in " ".join(told)
    vague = assess(by_model(server, said("enough")), "我不舒服。")
    assert vague.decision is Decision.RETRIEVE
    assert vague.reason.startswith("模型判断：按规则")


def test_a_failure_leaves_the_rules_and_one_note(server: ScriptedModel) -> None:
    meter = Meter()
    with metered(meter):
        decision = assess(by_model(server, Scripted('{"verdict": "perhaps"}')))
    assert decision == assess(CompletenessGateLocal())
    assert [note.role for note in meter.fallen_back] == ["gate"]
